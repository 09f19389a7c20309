package dataplane

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Whatever pieces an answer comes in, its beginning is kept, in one piece whenever it is
// asked for.
func TestCapture(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := capture{max: rapid.SampledFrom([]int{0, 1, 1000, 100 << 10}).Draw(t, "max")}
		defer c.free()
		var all []byte
		for i, n := range rapid.SliceOf(rapid.IntRange(0, 5<<10)).Draw(t, "pieces") {
			chunk := bytes.Repeat([]byte{byte(i)}, n)
			all = append(all, chunk...)
			c.take(chunk)
			if rapid.IntRange(0, 9).Draw(t, "asked") == 0 {
				c.bytes()
			}
		}
		if want := all[:min(len(all), c.max)]; !bytes.Equal(c.bytes(), want) || c.size != int64(len(all)) || c.isComplete() != (len(want) == len(all)) {
			t.Fatalf("kept %d bytes of %d, whole: %t; want %d", len(c.bytes()), c.size, c.isComplete(), len(want))
		}
	})
}

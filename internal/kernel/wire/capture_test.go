package wire_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/kernel/wire"
)

// Whatever pieces an answer comes in, its beginning is kept, in one piece whenever it is
// asked for.
func TestCapture_StoresTheBeginning(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := wire.Capture{Max: rapid.SampledFrom([]int{0, 1, 1000, 100 << 10}).Draw(t, "max")}
		defer c.Free()
		var all []byte
		for i, n := range rapid.SliceOf(rapid.IntRange(0, 5<<10)).Draw(t, "pieces") {
			chunk := bytes.Repeat([]byte{byte(i)}, n)
			all = append(all, chunk...)
			c.Add(chunk)
			if rapid.IntRange(0, 9).Draw(t, "asked") == 0 {
				c.Bytes()
			}
		}
		if want := all[:min(len(all), c.Max)]; !bytes.Equal(c.Bytes(), want) || c.Size() != int64(len(all)) || c.IsComplete() != (len(want) == len(all)) {
			t.Fatalf("kept %d bytes of %d, whole: %t; want %d", len(c.Bytes()), c.Size(), c.IsComplete(), len(want))
		}
	})
}

package dialect_test

import (
	"testing"

	"sluice/internal/dialect"
)

func TestExceptionsAreReadBack(t *testing.T) {
	t.Parallel()
	text := dialect.AppendException([]byte("before"), "InternalServerException", []byte(`{"message":"no"}`))
	var r dialect.FrameReader
	n := 0
	err := r.Feed(text[len("before"):], func(f *dialect.Frame) error {
		n++
		if string(f.Type) != "exception" || string(f.Name) != "internalServerException" || string(f.Payload) != `{"message":"no"}` {
			t.Errorf("%s %s %s", f.Type, f.Name, f.Payload)
		}
		return nil
	})
	if err != nil || n != 1 || !r.AtBoundary() {
		t.Errorf("%d frames: %v", n, err)
	}
	if err := r.Feed(text[len("before"):][:20], func(*dialect.Frame) error { return nil }); err != nil || r.AtBoundary() {
		t.Errorf("inside a frame: %v", err)
	}
}

package porttest

import (
	"net"
	"testing"
)

// A port belongs to one test until its end, and is passed over while somebody listens on it
// or above it.
func TestClaim(t *testing.T) {
	t.Parallel()
	var port int
	t.Run("until its end", func(t *testing.T) {
		port = Free(t, count)
		if err := claim(t, port, nil); err == nil {
			t.Error("it was given twice")
		}
	})
	if err := claim(t, port, nil); err != nil {
		t.Errorf("behind the end of its test: %v", err)
	}
	l, err := net.Listen("tcp", address(Free(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	if err := claim(t, taken-1, []int{1}); err == nil {
		t.Error("somebody listens above it")
	}
}

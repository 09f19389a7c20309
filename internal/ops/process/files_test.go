package process

import "testing"

func TestConnectionsUnderALimitOfFiles(t *testing.T) {
	t.Parallel()
	for files, want := range map[uint64]int{0: 16, 128: 16, 256: 64, 1024: 448, 1 << 20: 524224, 1<<20 + 1: 0, 1<<64 - 1: 0} {
		if n := connectionsUnder(files); n != want {
			t.Errorf("%d of %d files", n, files)
		}
	}
}

package app

import (
	"reflect"
	"strings"
	"testing"
)

// Only what cannot have been written is let go of: relocated pages would be lost.
func TestUntouchedPages(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-00500000 r--p 00000000 08:01 12 /usr/bin/sluice
Rss:                1024 kB
Anonymous:             0 kB
VmFlags: rd mr mw me sd
00500000-02500000 r-xp 00100000 08:01 12 /usr/bin/sluice
Anonymous:             0 kB
02500000-02600000 r--p 02100000 08:01 12 /usr/bin/sluice
Anonymous:            64 kB
02600000-02700000 rw-p 02200000 08:01 12 /usr/bin/sluice
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:          4096 kB
7f0000000000-7f0000100000 r-xp 00000000 08:01 13 /usr/lib/libc.so.6
Anonymous:             0 kB
7f0000200000-7f0000300000 rw-s 00000000 08:01 14 /data/journal/0000000000000000.seg
Anonymous:             0 kB
`
	got, err := untouched(strings.NewReader(smaps), "/usr/bin/sluice")
	if want := []pages{{0x400000, 0x500000}, {0x500000, 0x2500000}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%x, %v", got, err)
	}
}

func TestForgettingTheStartHarmsNothing(t *testing.T) {
	t.Parallel()
	if err := dropTextPages(); err != nil {
		t.Fatal(err)
	}
	if got := strings.ToUpper("still here"); got != "STILL HERE" {
		t.Error(got)
	}
}

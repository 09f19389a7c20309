package app

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// dropTextPages releases the program's pages that only the start needed, such as the creation of
// tables and the reading of built-in data. Pages that are needed again come back from the page
// cache. They are more than a third of the 110 MB that an idle gateway has resident.
func dropTextPages() error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find program pages: %w", err)
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("find program pages: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	ranges, err := untouched(f, exe)
	if err != nil {
		return fmt.Errorf("find program pages: %w", err)
	}
	for _, r := range ranges {
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, r.from, r.to-r.from, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("release program pages: %w", errno)
		}
	}
	return nil
}

// pages are addresses of mapped memory.
type pages struct{ from, to uintptr }

// untouched returns the mappings of a file that are read-only and unmodified, relocations
// included, from the content of /proc/self/smaps.
func untouched(smaps io.Reader, file string) ([]pages, error) {
	var found []pages
	var last pages
	isText := false
	for lines := bufio.NewScanner(smaps); ; {
		if !lines.Scan() {
			return found, lines.Err()
		}
		line := lines.Text()
		if region, mode, ok := mapping(line); ok {
			last, isText = region, mode[0] == 'r' && mode[1] == '-' && mode[3] == 'p' && strings.HasSuffix(line, " "+file)
			continue
		}
		if anonymous, ok := strings.CutPrefix(line, "Anonymous:"); ok && isText && strings.TrimSpace(anonymous) == "0 kB" {
			found = append(found, last)
		}
	}
}

// mapping parses the first line of a mapping: "00400000-0340f000 r-xp 00000000 08:01 1234
// /usr/bin/sluice".
func mapping(line string) (region pages, mode string, ok bool) {
	n, err := fmt.Sscanf(line, "%x-%x %4s", &region.from, &region.to, &mode)
	return region, mode, err == nil && n == 3 && len(mode) == 4
}

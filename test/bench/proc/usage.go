package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// tick is the unit of processor time in /proc, the same on every Linux machine.
const tick = 10 * time.Millisecond

var errStat = errors.New("malformed stat file")

// stat is what a process' stat file tells.
type stat struct {
	parent int
	cpu    time.Duration // user and system, all threads, those that ended too
}

// parseStat reads /proc/<pid>/stat. The name in it may hold blanks and brackets.
func parseStat(text []byte) (s stat, err error) {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return s, errStat
	}
	parent, err1 := strconv.Atoi(string(fields[1]))
	user, err2 := strconv.ParseInt(string(fields[11]), 10, 64)
	system, err3 := strconv.ParseInt(string(fields[12]), 10, 64)
	if errors.Join(err1, err2, err3) != nil {
		return s, errStat
	}
	return stat{parent, time.Duration(user+system) * tick}, nil
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(path(pid, "stat"))
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}

func path(pid int, file string) string { return filepath.Join("/proc", strconv.Itoa(pid), file) }

// Family is a process and those that it started: nginx' workers.
type Family []int

// FamilyOf finds them as they are now.
func FamilyOf(pid int) (Family, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	f := Family{pid}
	for _, file := range files {
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		if s, err := readStat(child); err == nil && s.parent == pid {
			f = append(f, child) // what ended meanwhile is none of ours
		}
	}
	return f, nil
}

// CPU is the processor time of all, user and system, to 10 ms.
func (f Family) CPU() (time.Duration, error) {
	var sum time.Duration
	for _, pid := range f {
		s, err := readStat(pid)
		if err != nil {
			return 0, fmt.Errorf("processor time: %w", err)
		}
		sum += s.cpu
	}
	return sum, nil
}

// ResetPeak makes Peak begin anew.
func (f Family) ResetPeak() error {
	for _, pid := range f {
		if err := os.WriteFile(path(pid, "clear_refs"), []byte("5"), 0); err != nil {
			return fmt.Errorf("reset the peak of memory: %w", err)
		}
	}
	return nil
}

// Peak is the most resident memory in bytes since ResetPeak, summed over all.
func (f Family) Peak() (int64, error) {
	var sum int64
	for _, pid := range f {
		text, err := os.ReadFile(path(pid, "status"))
		if err != nil {
			return 0, fmt.Errorf("peak of memory: %w", err)
		}
		kb, err := statusKB(text, "VmHWM:")
		if err != nil {
			return 0, err
		}
		sum += kb << 10
	}
	return sum, nil
}

// statusKB reads a line such as "VmHWM:	   12345 kB".
func statusKB(text []byte, name string) (int64, error) {
	_, rest, found := bytes.Cut(text, []byte(name))
	fields := bytes.Fields(rest[:max(bytes.IndexByte(rest, '\n'), 0)])
	if !found || len(fields) != 2 {
		return 0, fmt.Errorf("no %s in a status file", name)
	}
	return strconv.ParseInt(string(fields[0]), 10, 64)
}

// GeneratorCPU is the processor time of this process: the generator's.
func GeneratorCPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

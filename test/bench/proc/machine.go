package proc

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Machine is where a benchmark ran.
type Machine struct {
	CPU      string `json:"cpu"` // "AMD EPYC"
	Cores    int    `json:"cores"`
	MemoryMB int64  `json:"memory_mb"`
	Kernel   string `json:"kernel"` // "Linux 6.1.0-18-amd64"
	Go       string `json:"go"`     // "go1.26.8"
}

// ThisMachine describes it; what cannot be found out stays empty.
func ThisMachine() Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version()}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.CPU = value(info, "model name")
	}
	if info, err := os.ReadFile("/proc/meminfo"); err == nil {
		kb, _ := statusKB(info, "MemTotal:") // empty when unknown
		m.MemoryMB = kb >> 10
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = "Linux " + strings.TrimSpace(string(release))
	}
	return m
}

// value finds "name : value" in lines.
func value(text []byte, name string) string {
	for line := range bytes.Lines(text) {
		if key, v, ok := bytes.Cut(line, []byte(":")); ok && string(bytes.TrimSpace(key)) == name {
			return string(bytes.TrimSpace(v))
		}
	}
	return ""
}

// Busy is the time that the processors of the machine have worked, for anybody,
// plus what a host took away from them.
func Busy() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseBusy(text)
}

// parseBusy sums the first line but for idle, the wait for disks, and the guests'
// time, which is in the user's already.
func parseBusy(text []byte) (time.Duration, error) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := bytes.Fields(line)
	const idle, wait, guest = 4, 5, 9
	if len(fields) < guest || string(fields[0]) != "cpu" {
		return 0, errStat
	}
	var sum int64
	for i, f := range fields[:guest] {
		if i == 0 || i == idle || i == wait {
			continue
		}
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, errStat
		}
		sum += n
	}
	return time.Duration(sum) * tick, nil
}

// RaiseFiles lets this process and those that it starts open n files, and returns
// how many they may open at least. Only root may go beyond the hard limit.
func RaiseFiles(n uint64) (uint64, error) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, err
	}
	want := syscall.Rlimit{Cur: max(n, l.Cur), Max: max(n, l.Max)}
	err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &want)
	if errors.Is(err, syscall.EPERM) {
		want = syscall.Rlimit{Cur: l.Max, Max: l.Max}
		err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &want)
	}
	return want.Cur, err
}

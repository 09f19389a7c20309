package process

import "syscall"

// reservedFiles is the number of file descriptors that client connections leave for everything
// else: the journal, the request log, the database and Redis.
const reservedFiles = 128

// MaxConnections returns how many client connections may be open at once under the limit of open
// files. Each call in progress needs a second descriptor, for its provider. 0 means no limit: the
// limit of open files is unknown. The soft limit does not matter, because the Go runtime raises
// it to the hard limit when the program starts.
// Source: syscall/rlimit.go of Go 1.26.
func MaxConnections() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return connectionsUnder(limit.Cur)
}

// connectionsUnder returns MaxConnections for a limit of files. A very high limit returns 0, no
// limit.
func connectionsUnder(files uint64) int {
	const minConnections, plenty = 16, 1 << 20
	if files > plenty {
		return 0
	}
	return max(minConnections, (int(files)-reservedFiles)/2)
}

package app

import "syscall"

// filesKept are the descriptors that connections of callers leave to everything else: the
// journal, the request log, the database, Redis.
const filesKept = 128

// mostConnections is how many connections of callers may be open at once under the limit of
// open files: each call under way needs one to its provider besides. 0 means no bound, where
// the limit is not known.
func mostConnections() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return connectionsUnder(limit.Cur)
}

// connectionsUnder is mostConnections under a limit; one that is as good as none bounds
// nothing.
func connectionsUnder(files uint64) int {
	const least, plenty = 16, 1 << 20
	if files > plenty {
		return 0
	}
	return max(least, (int(files)-filesKept)/2)
}

package app

import (
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/dataplane/front/h1"
)

// reservedFiles is the number of file descriptors that client connections leave for everything
// else: the journal, the request log, the database and Redis.
const reservedFiles = 128

// maxConnections returns how many client connections may be open at once under the limit of open
// files. Each call in progress needs a second descriptor, for its provider. 0 means no limit: the
// limit of open files is unknown. The soft limit does not matter, because the Go runtime raises
// it to the hard limit when the program starts.
// Source: syscall/rlimit.go of Go 1.26.
func maxConnections() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return connectionsUnder(limit.Cur)
}

// connectionsUnder returns maxConnections for a limit of files. A very high limit returns 0, no
// limit.
func connectionsUnder(files uint64) int {
	const minConnections, plenty = 16, 1 << 20
	if files > plenty {
		return 0
	}
	return max(minConnections, (int(files)-reservedFiles)/2)
}

// connectionMetrics registers metrics that count evicted client connections.
func (a *App) connectionMetrics(s *h1.Server) {
	for _, reason := range [...]string{h1.EvictedSilent, h1.EvictedIdle, h1.EvictedShare} {
		a.metrics.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "sluice_connections_evicted_total", Help: "Client connections closed to free a slot for others, by reason.", ConstLabels: prometheus.Labels{"reason": reason},
		}, func() float64 { return float64(s.Evicted(reason)) }))
	}
}

package app

import (
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/dataplane/front/h1"
)

// reservedFiles are the descriptors that connections of callers leave to everything else: the
// journal, the request log, the database, Redis.
const reservedFiles = 128

// maxConnections is how many connections of callers may be open at once under the limit of
// open files: each call under way needs one to its provider besides. 0 means no bound, where
// the limit is not known. The soft limit is not in the way: the Go runtime raises it to the
// hard one at the start of the program. Source: syscall/rlimit.go of Go 1.26.
func maxConnections() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return connectionsUnder(limit.Cur)
}

// connectionsUnder is maxConnections under a limit; one that is as good as none bounds
// nothing.
func connectionsUnder(files uint64) int {
	const minConnections, plenty = 16, 1 << 20
	if files > plenty {
		return 0
	}
	return max(minConnections, (int(files)-reservedFiles)/2)
}

// connectionMetrics shows how many connections of callers were evicted.
func (a *App) connectionMetrics(s *h1.Server) {
	for _, reason := range [...]string{h1.EvictedSilent, h1.EvictedIdle, h1.EvictedShare} {
		a.metrics.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "sluice_connections_evicted_total", Help: "Client connections closed to free a slot for others, by reason.", ConstLabels: prometheus.Labels{"reason": reason},
		}, func() float64 { return float64(s.Evicted(reason)) }))
	}
}

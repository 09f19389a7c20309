// Package health reports the state of a running gateway over HTTP, and reads that report. New
// serves it at /health and /v1/health; Check is the client, which commands use.
package health

import (
	"encoding/json"
	"net/http"
)

// body is the response body of /v1/health and /health.
type body struct {
	Status   string `json:"status"` // ok, degraded or draining
	Version  string `json:"version"`
	Database string `json:"database"` // ok, degraded (reads continue) or down
	Journal  string `json:"journal"`
	Limits   string `json:"limits,omitempty"` // only where nodes share limits: ok, refusing, or alone while each node uses its local limits
	Detail   string `json:"detail,omitempty"`
}

// Sources are the parts of a gateway whose state the report contains. The functions are called
// for each request, must not wait, and may be called concurrently.
type Sources struct {
	Version  string                         // "1.0.0"
	Database func() (status, detail string) // status is "ok", "degraded" or "down"
	Log      func() error                   // the error that keeps records out of the request log
	Usage    func() error                   // the error that keeps usage out of the database
	Journal  func() error                   // the error because of which the journal rejects entries
	// Limits returns the error because of which limits cannot be checked together with other
	// nodes. It is nil if nodes do not share limits.
	Limits      func() error
	LocalLimits bool        // while Limits returns an error, this node checks limits alone
	Draining    func() bool // reports whether callers must use other nodes
}

// Report serves the state of a gateway.
type Report struct{ s Sources }

// New returns the report of a gateway.
func New(s Sources) *Report { return &Report{s} }

// ServeHTTP reports the state of the gateway. It returns 200 as long as model traffic can be
// served, degraded included: a load balancer must not remove a gateway that still works.
func (r *Report) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	b := r.body()
	status := http.StatusOK
	if b.Status == "draining" {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(b) // the client may have disconnected
}

func (r *Report) body() body {
	s := &r.s
	b := body{Status: "ok", Version: s.Version, Database: "ok", Journal: "ok"}
	if status, detail := s.Database(); status != "ok" {
		b.Status, b.Database, b.Detail = "degraded", status, detail // model traffic does not need the database
	}
	if s.Log() != nil {
		b.Status, b.Detail = "degraded", "cannot write the request log; records stay in the journal"
	}
	if s.Usage() != nil {
		b.Status, b.Detail = "degraded", "cannot store usage; limits apply, and usage stays in the journal"
	}
	if s.Journal() != nil { // the error contains paths, which callers must not see
		b.Status, b.Journal, b.Detail = "degraded", "refusing", "the journal accepts no entries, so calls are rejected: JOURNAL_MAX_MB is reached, or its disk is full, failing, read-only or unresponsive"
	}
	if s.Limits != nil {
		r.addLimits(&b)
	}
	if s.Draining() {
		b.Status = "draining"
	}
	return b
}

func (r *Report) addLimits(b *body) {
	b.Limits = "ok"
	if r.s.Limits() == nil {
		return
	}
	b.Status, b.Limits, b.Detail = "degraded", "refusing", "cannot check limits without Redis; calls with limits are rejected" // the error contains addresses
	if r.s.LocalLimits {
		b.Limits, b.Detail = "alone", "this node checks limits locally without Redis; limits may be exceeded"
	}
}

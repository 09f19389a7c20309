package server

import (
	"net/http"
	"sync/atomic"
	"time"
)

// second is one second and its text, shared by all responses of that second.
type second struct {
	unix int64
	text string
}

// dates returns the time for Date fields. The zero value is ready. Safe for concurrent use.
type dates struct{ last atomic.Pointer[second] }

// now returns the time in the form of a Date field: "Fri, 20 Nov 2026 12:00:00 GMT".
// Source: RFC 9110 section 5.6.7.
func (d *dates) now() string {
	now := time.Now()
	if s := d.last.Load(); s != nil && s.unix == now.Unix() {
		return s.text
	}
	s := &second{now.Unix(), now.UTC().Format(http.TimeFormat)}
	d.last.Store(s)
	return s.text
}

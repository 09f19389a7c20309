package server

import "time"

// ClientTimeouts limits the time that the server waits for a slow client. Without limits a client
// that does not send or read would hold a request, and a provider call, forever.
type ClientTimeouts struct {
	Idle       time.Duration // for the next bytes of a request body
	Grace      time.Duration // for a complete body, in addition to the time that its size permits
	Rate       int64         // minimum average speed of a body, in bytes a second
	WriteStall time.Duration // for the client to read what was written
}

// UsualTimeouts returns limits that permit the slowest live audio (6 kbit/s) and phones that change
// cells.
func UsualTimeouts() ClientTimeouts {
	return ClientTimeouts{Idle: time.Minute, Grace: 2 * time.Minute, Rate: 64, WriteStall: 2 * time.Minute}
}

// Remaining returns the maximum time to wait for the next bytes of a body, after got bytes were
// received in the time waited. It may be zero or negative.
func (p *ClientTimeouts) Remaining(got int64, waited time.Duration) time.Duration {
	return min(p.Idle, p.Grace+time.Duration(got/p.Rate)*time.Second-waited)
}

// MaxLeftover is the maximum number of unread body bytes that are read after the response. If more
// remain, the connection is closed. It is the limit of net/http.
const MaxLeftover = 256 << 10

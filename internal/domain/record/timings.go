package record

import "time"

// Timings are the phases of an attempt that its Duration and FirstByte do not tell. What
// did not happen took no time. The log store keeps whole microseconds.
// Source: contract/content-and-observability.md 3.1; Queue and Connect are ours.
type Timings struct {
	// Parsing was over when the first attempt of the request began: who calls is known,
	// the body is in, the config read. All attempts of a request share it, and it is no
	// part of their Duration.
	Parsing time.Duration
	// Preparing lasted from the start of the attempt until its call was sent: the target's
	// credentials, the body in its words, limits, the signature. It is all of the Duration
	// when nothing was sent.
	Preparing time.Duration
	// Cache is the part of Preparing in which the cache was asked.
	Cache time.Duration
	// Queue is how long the last call waited for a connection that another one was opening.
	Queue time.Duration
	// Connect is how long the last call took to open a connection, TLS included; 0 on one
	// that was kept.
	Connect time.Duration
	// Decoding lasted from the last byte of the upstream's answer until the client's answer
	// was ready; 0 where the answer is relayed as it comes.
	Decoding time.Duration
}

// Waited is how long the upstream was waited for: from the first call until the last
// byte of its answer, further tries and the pauses before them included.
func (a *Attempt) Waited() time.Duration {
	return max(a.Duration-a.Timings.Preparing-a.Timings.Decoding, 0)
}

// GatewayTime is how long the gateway itself took for the attempt.
func (a *Attempt) GatewayTime() time.Duration { return a.Duration - a.Waited() }

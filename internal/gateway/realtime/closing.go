package realtime

import (
	"errors"
	"time"

	"sluice/internal/kernel/fault"
)

// farewellTime is the timeout for both sides of a conversation to acknowledge its end. It is
// shorter than the second that a call has left after the drain period.
const farewellTime = 500 * time.Millisecond

// farewell closes both sides of a conversation because the gateway is shutting down. It returns
// when both have acknowledged, or after the timeout. Source: RFC 6455 section 7.4.1.
func farewell(down, up Socket) {
	notified := make(chan struct{}, 2)
	for _, side := range [...]Socket{down, up} {
		go func() {
			_ = side.Close(1001, "the gateway is shutting down") // the side may have disconnected
			notified <- struct{}{}
		}()
	}
	late := time.After(farewellTime)
	for range cap(notified) {
		select {
		case <-notified:
		case <-late:
			return
		}
	}
}

// closing returns the close code and reason for the other side: those of err when they may be
// sent. Source: RFC 6455 section 7.4.1.
func closing(err error) (int, string) {
	var c *Closed
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return 1000, ""
	case !errors.As(err, &c):
		return 1011, "connection to the other side lost"
	}
	if c.Code == 1005 || c.Code == 1006 || c.Code == 1015 || c.Code < 1000 {
		return 1000, ""
	}
	return c.Code, c.Reason
}

package h1

import (
	"errors"
	"syscall"

	"sluice/internal/wire/socket"
)

// disconnectPoller finds the clients that have left. It is kept for its room.
type disconnectPoller struct {
	waiting []*conn
	pollSet polls
}

// poll looks at all clients that wait for an answer, cancels the calls of those that have
// left, and returns how many there were.
func (l *disconnectPoller) poll(w *connSet) int {
	l.waiting = l.waiting[:0]
	busy := 0
	w.each(func(c *conn) {
		if c.state.Load() != active {
			return
		}
		busy++
		if c.listens.Load() {
			l.waiting = append(l.waiting, c)
		}
	})
	for _, c := range l.pollSet.left(l.waiting) {
		if c.isClosed() {
			c.listens.Store(false)
			c.cancel()
		}
	}
	clear(l.waiting)
	return busy
}

// hasUnread reports whether bytes have come that were not read yet.
func (c *conn) hasUnread() bool {
	if c.raw == nil {
		return false
	}
	unread := false
	err := c.raw.Control(func(fd uintptr) {
		var b [1]byte
		n, err := socket.Peek(int(fd), b[:])
		unread = err == nil && n > 0
	})
	return err == nil && unread
}

// isClosed reports whether nothing more can be read. Behind further requests the end does
// not show: those are served first, as net/http does. Under TLS the client's farewell may
// still stand before the end.
func (c *conn) isClosed() bool {
	end := false
	err := c.raw.Control(func(fd uintptr) {
		var buf [longestFarewell]byte
		n, err := socket.Peek(int(fd), buf[:])
		if err != nil {
			end = !errors.Is(err, syscall.EAGAIN)
			return
		}
		end = n == 0 || c.tls && isTLSAlert(buf[:n])
	})
	return err == nil && end
}

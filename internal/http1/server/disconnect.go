package server

import (
	"errors"
	"syscall"

	"sluice/internal/http1/socket"
)

// disconnectPoller finds disconnected clients. It is reused for its slices.
type disconnectPoller struct {
	waiting []*conn
	pollSet polls
}

// poll checks all clients that wait for a response, cancels the calls of disconnected ones, and
// returns the number of connections that serve a request.
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

// hasUnread reports whether the socket has unread bytes.
func (cs *clientSocket) hasUnread() bool {
	if cs.raw == nil {
		return false
	}
	unread := false
	err := cs.raw.Control(func(fd uintptr) {
		var b [1]byte
		n, err := socket.Peek(int(fd), b[:])
		unread = err == nil && n > 0
	})
	return err == nil && unread
}

// isClosed reports whether the client closed the connection and everything is read. Unread
// requests hide the end: they are served first, as in net/http. Under TLS a closing alert may
// precede the end.
func (cs *clientSocket) isClosed() bool {
	end := false
	err := cs.raw.Control(func(fd uintptr) {
		var buf [longestFarewell]byte
		n, err := socket.Peek(int(fd), buf[:])
		if err != nil {
			end = !errors.Is(err, syscall.EAGAIN)
			return
		}
		end = n == 0 || cs.tls && isTLSAlert(buf[:n])
	})
	return err == nil && end
}

package h1

import "golang.org/x/sys/unix"

// polls is the room for one question to the system about all connections.
type polls []unix.PollFd

// left returns those whose client closed its side or is gone, in the room of waiting.
// A descriptor whose connection was closed meanwhile may stand for another by now; what
// is said of that harms no connection that is closed.
func (p *polls) left(waiting []*conn) []*conn {
	*p = (*p)[:0]
	for _, c := range waiting {
		*p = append(*p, unix.PollFd{Fd: c.fd, Events: unix.POLLRDHUP})
	}
	n, err := unix.Poll(*p, 0)
	if n <= 0 || err != nil { // interrupted: the next look is soon
		return nil
	}
	gone := waiting[:0]
	for i, q := range *p {
		if q.Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0 {
			gone = append(gone, waiting[i])
		}
	}
	return gone
}

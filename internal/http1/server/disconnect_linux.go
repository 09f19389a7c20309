package server

import "golang.org/x/sys/unix"

// polls is the memory for one poll system call for all connections.
type polls []unix.PollFd

// left returns the connections whose client closed its side or disconnected. It reuses the memory
// of waiting. The descriptor of a connection that was closed in the meantime may already belong
// to another one; a wrong result for a closed connection does no harm.
func (p *polls) left(waiting []*conn) []*conn {
	*p = (*p)[:0]
	for _, c := range waiting {
		*p = append(*p, unix.PollFd{Fd: c.fd, Events: unix.POLLRDHUP})
	}
	n, err := unix.Poll(*p, 0)
	if n <= 0 || err != nil { // interrupted: the next poll is soon
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

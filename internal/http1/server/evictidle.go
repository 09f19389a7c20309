package server

import "time"

// evictIdle is evictOldest for connections that have sent a request and wait for the next one.
func (s *Server) evictIdle(before time.Time) *conn {
	e := &s.evictions
	for range 2 { // first the connections that were found before, then new ones
		for n := len(e.idle); n > 0; n = len(e.idle) {
			last := e.idle[n-1]
			e.idle[n-1] = idleConn{}
			e.idle = e.idle[:n-1]
			if last.c.idleSince.Load() != last.since || last.since > before.UnixNano() {
				continue // it was used in the meantime
			}
			e.mu.Lock()
			marked := e.markEvicted(last.c, time.Now())
			e.mu.Unlock()
			if marked {
				return last.c
			}
		}
		s.findIdle(before.UnixNano())
	}
	return nil
}

// findIdle fills the list of idle connections with those that have been idle longest.
func (s *Server) findIdle(before int64) {
	e := &s.evictions
	consider := func(c *conn) {
		since := c.idleSince.Load()
		if st := c.state.Load(); st != unused && st != reading || since > before {
			return
		}
		i := len(e.idle)
		for i > 0 && e.idle[i-1].since < since {
			i--
		}
		if i == 0 && len(e.idle) == maxEvictionChecks {
			return
		}
		if len(e.idle) == maxEvictionChecks { // replaces the one with the shortest idle time
			copy(e.idle, e.idle[1:i])
			e.idle[i-1] = idleConn{c, since}
			return
		}
		e.idle = append(e.idle, idleConn{})
		copy(e.idle[i+1:], e.idle[i:])
		e.idle[i] = idleConn{c, since}
	}
	s.conns.each(consider)
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.rest {
		consider(c)
	}
}

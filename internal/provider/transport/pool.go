package transport

import (
	"net/http"
	"slices"
	"time"
)

// pop takes the connection used last. The caller holds mu. With fresh it returns none and drops
// all, because one of them has just failed: when a server restarts, all its connections are
// dead.
func (h *host) pop(fresh bool) *conn {
	if fresh {
		for _, cn := range h.idle {
			cn.close()
		}
		h.idle = nil
		return nil
	}
	last := len(h.idle) - 1
	if last < 0 {
		return nil
	}
	cn := h.idle[last]
	h.idle[last] = nil
	h.idle = h.idle[:last]
	return cn
}

// put stores an unused connection, or closes it when the pool is full.
func (h *host) put(cn *conn) {
	cn.since = time.Now()
	h.mu.Lock()
	reuse := !h.gone && len(h.idle) < h.c.opts.MaxIdlePerHost
	if reuse {
		h.idle = append(h.idle, cn)
	}
	h.mu.Unlock()
	if !reuse {
		cn.close()
	}
}

// reserve reserves a stream on an HTTP/2 connection and drops connections that have ended. The
// caller holds mu.
func (h *host) reserve() *http.ClientConn {
	for i := 0; i < len(h.multi); {
		cc := h.multi[i]
		switch {
		case cc.Reserve() == nil:
			return cc
		case cc.Err() != nil:
			h.multi = slices.Delete(h.multi, i, i+1)
		default: // full
			i++
		}
	}
	return nil
}

// add stores a new HTTP/2 connection and reserves a stream on it.
func (h *host) add(cc *http.ClientConn) error {
	if err := cc.Reserve(); err != nil {
		_ = cc.Close()
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.protocol = http2
	if h.gone {
		closeWhenUnused(cc)
		return nil
	}
	h.multi = append(h.multi, cc)
	return nil
}

// drop removes an HTTP/2 connection that accepts no further calls.
func (h *host) drop(cc *http.ClientConn) {
	h.mu.Lock()
	h.multi = slices.DeleteFunc(h.multi, func(other *http.ClientConn) bool { return other == cc })
	h.mu.Unlock()
	closeWhenUnused(cc)
}

// expire closes the connections that were not used since the timeout, except the HTTP/2
// connections that it returns. It reports whether the host may be removed. A removed host
// stores no connections any more.
func (h *host) expire(now time.Time) (multi []*http.ClientConn, forget bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := now.Add(-h.c.opts.IdleConnTimeout)
	h.idle = slices.DeleteFunc(h.idle, func(cn *conn) bool {
		expired := cn.since.Before(old)
		if expired {
			cn.close()
		}
		return expired
	})
	unused := h.used.Before(old)
	h.multi = slices.DeleteFunc(h.multi, func(cc *http.ClientConn) bool {
		expired := cc.Err() != nil || unused && cc.InFlight() == 0
		if expired {
			multi = append(multi, cc)
		}
		return expired
	})
	h.gone = unused && len(h.idle) == 0 && len(h.multi) == 0 && h.dialing == nil
	return multi, h.gone
}

// evictionScore ranks hosts for eviction.
type evictionScore struct {
	reached bool // a connection was opened
	used    time.Time
}

func (h *host) evictionScore() evictionScore {
	h.mu.Lock()
	defer h.mu.Unlock()
	return evictionScore{h.protocol != unknown, h.used}
}

// isLess reports whether u is worth less than o.
func (u evictionScore) isLess(o evictionScore) bool {
	if u.reached != o.reached {
		return o.reached
	}
	return u.used.Before(o.used)
}

// retire closes all unused connections. The host stores none from now on.
func (h *host) retire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = true
	h.pop(true)
	for _, cc := range h.multi {
		closeWhenUnused(cc)
	}
	h.multi = nil
}

// closeWhenUnused closes an HTTP/2 connection now or when its last call ends.
func closeWhenUnused(cc *http.ClientConn) {
	closeIdle := func(cc *http.ClientConn) {
		if cc.InFlight() == 0 {
			_ = cc.Close()
		}
	}
	cc.SetStateHook(closeIdle)
	closeIdle(cc)
}

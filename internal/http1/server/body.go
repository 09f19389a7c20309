package server

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/http1/syntax"
)

// body reads the body of one request. A provider call may still have a Read in another goroutine
// after the response; finish ends it.
type body struct {
	c  *conn
	mu sync.Mutex // held while reading, guards the fields below

	chunked  bool
	expects  bool  // the client waits for 100 Continue before it sends the body
	left     int64 // remaining bytes of a body that is not chunked
	chunks   syntax.Chunks
	got      int64         // bytes received, framing included
	waited   time.Duration // time spent waiting for them
	err      error         // the error that ended the body
	draining bool          // finish itself reads

	finishBegun atomic.Bool // finish has begun
}

// errOver is returned by Read after the response.
var errOver = errors.New("the request already has a response")

// smallRead is the size in bytes below which a read uses the buffer: if the body has more bytes,
// a system call for a few of them costs more than copying them.
const smallRead = 1 << 10

// Read returns received bytes without framing; the last bytes are returned together with io.EOF.
// It waits as long as the server's Patience permits; then it returns the connection's error
// (os.ErrDeadlineExceeded). The first Read sends 100 Continue if the client waits for it.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.finishBegun.Load() {
		return 0, errOver
	}
	return b.read(p)
}

func (b *body) read(p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	n, err := b.next(p)
	if err != nil {
		b.err = err
		if err == io.EOF {
			b.c.watchDisconnect()
		}
	}
	return n, err
}

// next returns the next bytes. Large reads go from the connection directly to p and are decoded
// in place.
func (b *body) next(p []byte) (int, error) {
	c := b.c
	for {
		if c.input != nil {
			n, used, err := b.decode(p, c.input.unread())
			c.consume(used)
			if n > 0 || err != nil {
				return n, err
			}
		}
		if len(p) < smallRead && (b.chunked || b.left > int64(len(p))) {
			if err := b.refill(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := b.wait(b.limitToLength(p))
		if err != nil {
			return 0, err
		}
		n, err = b.direct(p[:n])
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// refill reads into a new buffer. The input must be empty.
func (b *body) refill() error {
	buf := getBuffer()
	n, err := b.wait(buf.b)
	if err != nil {
		buf.release()
		return err
	}
	buf.end, b.c.input = n, buf
	return nil
}

// direct decodes bytes in place. Bytes after the body begin the next request.
func (b *body) direct(p []byte) (int, error) {
	n, used, err := b.decode(p, p)
	if used < len(p) && err == io.EOF {
		b.c.input = getBuffer()
		b.c.input.store(p[used:])
	}
	return n, err
}

// limitToLength returns the part of p that may be read without reading past a body of known
// length.
func (b *body) limitToLength(p []byte) []byte {
	if !b.chunked && b.left < int64(len(p)) {
		return p[:b.left]
	}
	return p
}

// decode removes the framing from src. dst may be src itself.
func (b *body) decode(dst, src []byte) (n, used int, err error) {
	if b.chunked {
		return b.chunks.Decode(dst, src)
	}
	n = int(min(int64(len(src)), int64(len(dst)), b.left))
	if &dst[0] != &src[0] {
		copy(dst[:n], src)
	}
	if b.left -= int64(n); b.left == 0 {
		err = io.EOF
	}
	return n, n, err
}

// wait reads from the connection within the limits of Patience.
func (b *body) wait(p []byte) (int, error) {
	if b.expects {
		b.expects = false
		if err := b.c.out.sendContinue(); err != nil {
			return 0, err
		}
	}
	start, patience := time.Now(), &b.c.s.Patience
	left := patience.Remaining(b.got, b.waited)
	b.c.arm(start.Add(left), max(0, min(time.Second, left/8)))
	if b.finishBegun.Load() && !b.draining { // finish had set another deadline, which this one replaced
		return 0, errOver
	}
	n, err := b.c.nc.Read(p)
	b.got += int64(n)
	b.waited += time.Since(start)
	switch {
	case n > 0:
		return n, nil
	case err == io.EOF:
		return 0, io.ErrUnexpectedEOF
	case err == nil:
		return 0, io.ErrNoProgress
	}
	return 0, err
}

// holdsOnlyBody reports whether the input contains exactly the rest of the body. A gateway that
// does not read the body of a GET never reaches its end. No Read may run at the same time.
func (b *body) holdsOnlyBody() bool {
	return !b.chunked && !b.expects && b.c.input != nil && int64(len(b.c.input.unread())) == b.left
}

// shouldDiscard reports whether the unread rest of the body is too long to read after the
// response. It is false while the body is being read.
func (b *body) shouldDiscard() bool {
	if !b.mu.TryLock() {
		return false
	}
	defer b.mu.Unlock()
	return b.err == nil && (b.expects || b.left > MaxLeftover)
}

// longAgo is a deadline that ends reads at once.
var longAgo = time.Unix(1, 0)

// finish ends the use of the body. If the response is complete, it reads a short rest of the body
// and reports whether the next request can follow.
func (b *body) finish(complete bool) bool {
	b.finishBegun.Store(true)
	left := false
	for !b.mu.TryLock() { // a Read is still running
		left = true
		_ = b.c.nc.SetReadDeadline(longAgo) // fails only on a closed connection, as the read does
		time.Sleep(time.Millisecond)
	}
	defer b.mu.Unlock()
	if left {
		b.c.limit = longAgo
		return false
	}
	return complete && !b.expects && b.drain()
}

// drain discards the rest of the body.
func (b *body) drain() bool {
	if b.err != nil || b.left > MaxLeftover {
		return b.err == io.EOF
	}
	buf := getBuffer()
	defer buf.release()
	b.draining = true
	b.c.idleSince.Store(time.Now().UnixNano())
	b.c.state.CompareAndSwap(active, reading) // its response is sent, so it may be evicted
	for n := 0; n <= MaxLeftover && b.err == nil; {
		k, _ := b.read(buf.b) // b.err stores the error
		n += k
	}
	return b.c.state.CompareAndSwap(reading, active) && b.err == io.EOF
}

package h1

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/dataplane/front"
	"sluice/internal/wire/syntax"
)

// body reads the body of one request. A call of the provider may leave a last Read of it
// behind, in a goroutine of its own, which ends with finish.
type body struct {
	c  *conn
	mu sync.Mutex // held while reading, guards what follows

	chunked  bool
	expects  bool  // the client waits to be asked for the body
	left     int64 // of a body that is not chunked
	chunks   syntax.Chunks
	got      int64         // bytes, framing included
	waited   time.Duration // for them
	err      error         // what ended the body
	draining bool          // finish itself reads

	finishBegun atomic.Bool // finish has begun
}

// errOver is returned by Read after the answer.
var errOver = errors.New("the request already has a response")

// smallRead is the size below which a read goes through the buffer: a system call for a
// few bytes of a body that has more would cost more than copying them.
const smallRead = 1 << 10

// Read returns what has come, without framing; the last bytes come together with io.EOF.
// It waits as front.Patience says; passing that is the connection's error
// (os.ErrDeadlineExceeded). The first Read of a client that waits to be asked asks it.
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

// next delivers the next bytes. Large pieces come from the connection directly to
// where they are wanted, and are decoded there.
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

// refill reads into the buffer, which is empty.
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

// direct decodes bytes where they lie. What comes behind the body begins the next request.
func (b *body) direct(p []byte) (int, error) {
	n, used, err := b.decode(p, p)
	if used < len(p) && err == io.EOF {
		b.c.input = getBuffer()
		b.c.input.store(p[used:])
	}
	return n, err
}

// limitToLength is as much of p as may be read without going beyond a body of known length.
func (b *body) limitToLength(p []byte) []byte {
	if !b.chunked && b.left < int64(len(p)) {
		return p[:b.left]
	}
	return p
}

// decode takes the framing off src. Dst may be src itself.
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

// wait reads from the connection as long as patience lasts.
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
	if b.finishBegun.Load() && !b.draining { // finish has set another limit, which this one has replaced
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

// holdsOnlyBody reports whether the input is the rest of the body and nothing else. A gateway that
// does not read the body of a GET never comes to its end. Nobody reads it at the time.
func (b *body) holdsOnlyBody() bool {
	return !b.chunked && !b.expects && b.c.input != nil && int64(len(b.c.input.unread())) == b.left
}

// shouldDiscard reports whether so much of the body is still to come that nobody will wait
// for it. A body that is being read is wanted.
func (b *body) shouldDiscard() bool {
	if !b.mu.TryLock() {
		return false
	}
	defer b.mu.Unlock()
	return b.err == nil && (b.expects || b.left > front.Leftover)
}

// longAgo is a deadline that ends reads at once.
var longAgo = time.Unix(1, 0)

// finish ends the use of the body. When the answer is whole it takes what is left of
// the body, if that is not much, and reports whether the next request can follow.
func (b *body) finish(complete bool) bool {
	b.finishBegun.Store(true)
	left := false
	for !b.mu.TryLock() { // somebody still reads
		left = true
		_ = b.c.nc.SetReadDeadline(longAgo) // fails only when closed, as the read does
		time.Sleep(time.Millisecond)
	}
	defer b.mu.Unlock()
	if left {
		b.c.limit = longAgo
		return false
	}
	return complete && !b.expects && b.drain()
}

// drain throws away the rest of the body.
func (b *body) drain() bool {
	if b.err != nil || b.left > front.Leftover {
		return b.err == io.EOF
	}
	buf := getBuffer()
	defer buf.release()
	b.draining = true
	b.c.idleSince.Store(time.Now().UnixNano())
	b.c.state.CompareAndSwap(active, reading) // its answer is given, so that it may be evicted
	for n := 0; n <= front.Leftover && b.err == nil; {
		k, _ := b.read(buf.b) // its error is kept
		n += k
	}
	return b.c.state.CompareAndSwap(reading, active) && b.err == io.EOF
}

package transport

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/wire"
)

// inlineBytes is the size up to which a body is sent before the answer is looked
// for. Larger ones are sent beside it, so that an answer which comes early, a
// refusal for example, is read while the rest is under way.
const inlineBytes = 64 << 10

// send writes the request, or its head when the body goes out beside the answer.
// An error does not mean that there is no answer: a peer may have refused the body
// and closed.
func (b *body) send(r *Request) error {
	buf, nc := b.buf, b.cn.nc
	out := r.appendHead(buf.b[:0], b.cn.h)
	size := r.Body.Len()
	switch {
	case !r.Body.Replayable() || size > inlineBytes:
		buf.adopt(out)
		if _, err := nc.Write(out); err != nil {
			return err
		}
		b.up = newUpload(r.Body)
		go b.up.run(r.Body, nc, b.cn.raw)
		return nil
	case size == 0, len(out)+int(size) <= cap(out):
		buf.out.b = out
		if _, err := r.Body.WriteTo(&buf.out); err != nil {
			return err
		}
		_, err := nc.Write(buf.out.b)
		return err
	}
	buf.adopt(out)
	if mem, ok := r.Body.Memory(); ok {
		_, err := (&net.Buffers{out, mem}).WriteTo(nc)
		return err
	}
	if _, err := nc.Write(out); err != nil {
		return err
	}
	_, err := r.Body.WriteTo(nc)
	return err
}

// adopt keeps the room of a slice that has outgrown the buffer.
func (buf *buffer) adopt(b []byte) {
	if cap(b) > len(buf.b) {
		buf.b = b[:cap(b)]
	}
}

// appender is a writer to memory.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// upload is a body on its way in a goroutine of its own, which ends when all is
// sent or the connection is closed. The methods of a nil upload say that
// everything is well.
type upload struct {
	replayable bool
	done       chan struct{}
	failed     atomic.Bool               // set before done is closed
	source     atomic.Pointer[BodyError] // the body itself could not be read
}

func newUpload(p wire.Payload) *upload {
	return &upload{replayable: p.Replayable(), done: make(chan struct{})}
}

// sourceErr is the error of the request's own body, nil when that is well.
func (u *upload) sourceErr() error {
	if u == nil {
		return nil
	}
	if e := u.source.Load(); e != nil {
		return e
	}
	return nil
}

// finishTimeout is how long the end of an upload is waited for when the answer has
// ended. A peer that has read everything makes it end at once.
const finishTimeout = 5 * time.Millisecond

// isSent reports whether everything was sent.
func (u *upload) isSent() bool {
	if u == nil {
		return true
	}
	select {
	case <-u.done:
	case <-time.After(finishTimeout):
		return false
	}
	return !u.failed.Load()
}

// wait returns when the body is not touched any more, after the connection was
// closed. A stream may be stuck in its source and is not waited for.
func (u *upload) wait() {
	if u != nil && u.replayable {
		<-u.done
	}
}

// run sends the body. When the body itself fails the peer would wait for the rest
// for ever, so the connection is closed.
func (u *upload) run(p wire.Payload, nc, raw net.Conn) {
	defer close(u.done)
	var err error
	if p.Replayable() {
		err = sendAll(p, nc)
	} else {
		err = sendStream(p, nc)
	}
	if err == nil {
		return
	}
	u.failed.Store(true)
	if e := (*BodyError)(nil); errors.As(err, &e) {
		u.source.Store(e)
		_ = raw.Close()
	}
}

// sendAll writes a body that lies in memory and files. A bare TCP connection is
// handed over itself, so that files go out without being copied through here.
func sendAll(p wire.Payload, nc net.Conn) error {
	n, err := p.WriteTo(nc)
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return &BodyError{err}
	}
	if err == nil && n < p.Len() {
		return &BodyError{io.ErrUnexpectedEOF}
	}
	return err
}

const (
	streamBytes = 64 << 10
	// chunkSizeBytes is what the size line of a chunk takes: "10000\r\n" for 64 KiB.
	chunkSizeBytes = 7
)

var streamBuffers = sync.Pool{New: func() any { b := make([]byte, chunkSizeBytes+streamBytes+2); return &b }}

// sendStream writes a body as it comes: each read is one write, as a chunk when
// the length is not known. Never more than the announced length is sent.
func sendStream(p wire.Payload, nc net.Conn) error {
	buf := streamBuffers.Get().(*[]byte)
	defer streamBuffers.Put(buf)
	src, left := p.Open(), p.Len()
	for left != 0 {
		data := (*buf)[chunkSizeBytes : chunkSizeBytes+streamBytes]
		if left > 0 {
			data = data[:min(left, streamBytes)]
		}
		n, readErr := src.Read(data)
		if n > 0 {
			if err := sendPart(nc, *buf, n, left < 0); err != nil {
				return err
			}
		}
		if left > 0 {
			left -= int64(n)
		}
		switch {
		case readErr == io.EOF && left < 0:
			_, err := nc.Write([]byte("0\r\n\r\n"))
			return err
		case readErr == io.EOF && left > 0:
			return &BodyError{io.ErrUnexpectedEOF}
		case readErr != nil && readErr != io.EOF:
			return &BodyError{readErr}
		}
	}
	return nil
}

// sendPart writes the n bytes of room that lie behind the place for a size.
func sendPart(nc net.Conn, buf []byte, n int, chunk bool) error {
	part := buf[chunkSizeBytes : chunkSizeBytes+n]
	if chunk {
		var line [chunkSizeBytes]byte
		size := append(strconv.AppendInt(line[:0], int64(n), 16), "\r\n"...)
		start := chunkSizeBytes - len(size)
		copy(buf[start:], size)
		copy(buf[chunkSizeBytes+n:], "\r\n")
		part = buf[start : chunkSizeBytes+n+2]
	}
	_, err := nc.Write(part)
	return err
}

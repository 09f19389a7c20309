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

	"sluice/internal/kernel/wire"
)

// inlineBytes is the maximum size of a body that is sent before reading the response. Larger
// bodies are sent in parallel, so that an early response, for example a refusal, is read while
// the upload continues.
const inlineBytes = 64 << 10

// send writes the request, or only its head when the body is sent in parallel to the response.
// After an error there may still be a response: the peer may have refused the body and closed.
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

// adopt makes b the memory of the buffer when b is larger than the present memory.
func (buf *buffer) adopt(b []byte) {
	if cap(b) > len(buf.b) {
		buf.b = b[:cap(b)]
	}
}

// appender is an io.Writer to memory.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// upload sends a body in a separate goroutine, which ends when all is sent or the connection is
// closed. The methods of a nil upload report success.
type upload struct {
	replayable bool
	done       chan struct{}
	failed     atomic.Bool               // set before done is closed
	source     atomic.Pointer[BodyError] // the request body could not be read
}

func newUpload(p wire.Payload) *upload {
	return &upload{replayable: p.Replayable(), done: make(chan struct{})}
}

// sourceErr returns the error of the request's own body, or nil.
func (u *upload) sourceErr() error {
	if u == nil {
		return nil
	}
	if e := u.source.Load(); e != nil {
		return e
	}
	return nil
}

// finishTimeout is the time to wait for the end of an upload after the end of the response.
// When the peer has read everything, the upload ends immediately.
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

// wait returns when the body is not used any more, after the connection was closed. It does not
// wait for a stream, which may block in its source.
func (u *upload) wait() {
	if u != nil && u.replayable {
		<-u.done
	}
}

// run sends the body. When reading the body fails, it closes the connection, because the peer
// would wait for the rest forever.
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

// sendAll writes a body in memory and files. It passes a plain TCP connection directly, so that
// files are sent without copying them through the process.
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
	// chunkSizeBytes is the length of the size line of a chunk: "10000\r\n" for 64 KiB.
	chunkSizeBytes = 7
)

var streamBuffers = sync.Pool{New: func() any { b := make([]byte, chunkSizeBytes+streamBytes+2); return &b }}

// sendStream writes a body as it arrives: each read is one write, as a chunk when the length is
// unknown. It never sends more than the announced length.
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

// sendPart writes n bytes of buf. They follow the space reserved for a chunk size.
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

package resource

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// Stream writes a response in chunks, so that it may be larger than memory. The operation
// declares its content type. An error before the first byte is sent becomes a normal error
// response. After that the connection is aborted, so that the client does not accept a part as
// complete. Output is buffered; w is a Flusher for output that must be sent at once.
type Stream func(ctx context.Context, w io.Writer) error

// Flusher is the writer of a Stream.
type Flusher interface {
	io.Writer
	// Flush sends what was written so far. It fails if the client reads nothing for half a
	// minute.
	Flush() error
}

// flushLimit is the maximum time that a client may take to read flushed data.
const flushLimit = 30 * time.Second

// streamBuffer is how many bytes of a stream are buffered before they are sent.
const streamBuffer = 32 << 10

func (e *Engine) stream(ctx context.Context, w http.ResponseWriter, c *Call, s Stream) {
	h := w.Header()
	h.Set("Content-Type", c.op.Stream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set(HeaderRequestID, c.RequestID)
	sent := &counter{w: w}
	out := &flusher{Writer: bufio.NewWriterSize(sent, streamBuffer), to: http.NewResponseController(w)}
	defer out.unlimited()
	err := s(ctx, out)
	if err == nil {
		err = out.Writer.Flush()
	}
	switch {
	case err == nil:
	case sent.n == 0:
		e.respond(ctx, w, c, nil, err)
	default:
		c.outcome(ctx, err)
		e.Log.LogAttrs(ctx, slog.LevelWarn, "response stream aborted",
			slog.String("request_id", c.RequestID), slog.String("operation", c.op.ID), slog.String("error", err.Error()))
		panic(http.ErrAbortHandler)
	}
}

// flusher is the Flusher of a response.
type flusher struct {
	*bufio.Writer
	to *http.ResponseController
}

// Flush implements Flusher.
func (f *flusher) Flush() error {
	if err := f.to.SetWriteDeadline(time.Now().Add(flushLimit)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if err := f.Writer.Flush(); err != nil {
		return err
	}
	return f.to.Flush()
}

// unlimited removes the write deadline, so that the next response on the connection has none.
func (f *flusher) unlimited() { _ = f.to.SetWriteDeadline(time.Time{}) } // a writer without deadlines did not set one

// counter counts the bytes written through it.
type counter struct {
	w io.Writer
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}

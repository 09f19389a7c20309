package upstream

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http/httputil"
	"strconv"
	"strings"
	"time"
)

// readStep is the most that is read at once when a reply wants slow reading.
const readStep = 64 << 10

// readBody takes in the request's body and notes it. A caller that waits for
// permission gets it first.
func (c *conn) readBody(seen *Seen, pause time.Duration) error {
	src, err := c.bodyOf(seen)
	if err == nil {
		if strings.EqualFold(seen.Get("Expect"), "100-continue") && seen.Answered.IsZero() {
			_, err = io.WriteString(c.nc, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		if pause > 0 {
			src = &slowReader{src, func() bool { return c.s.sleep(pause, nil) }}
		}
	}
	if err == nil {
		err = c.s.takeBody(seen, src)
	}
	if err == nil && seen.Chunked {
		err = c.skipTrailer()
	}
	if err != nil {
		c.s.seen.update(seen, func(x *Seen) { x.BodyErr = err })
	}
	return err
}

// bodyOf is the reader of the body, by the strict rules: one length, or chunks.
func (c *conn) bodyOf(seen *Seen) (io.Reader, error) {
	coding, length := seen.Get("Transfer-Encoding"), seen.Get("Content-Length")
	switch {
	case coding != "" && length != "":
		return nil, errors.New("both content-length and transfer-encoding")
	case strings.EqualFold(coding, "chunked"):
		c.s.seen.update(seen, func(x *Seen) { x.Chunked = true })
		return httputil.NewChunkedReader(c.br), nil
	case coding != "":
		return nil, fmt.Errorf("transfer-encoding %q", coding)
	case length == "":
		return strings.NewReader(""), nil
	}
	n, err := strconv.ParseUint(length, 10, 62)
	if err != nil {
		return nil, fmt.Errorf("content-length %q", length)
	}
	return &exactReader{c.br, int64(n)}, nil
}

// skipTrailer reads what follows the last chunk up to the empty line.
func (c *conn) skipTrailer() error {
	for {
		line, err := c.br.ReadString('\n')
		if err != nil || line == "\r\n" {
			return err
		}
	}
}

// takeBody reads a body to its end: the first keep bytes into Seen, all of them
// into the count and the sum. A longer one is put to the demo as it passes, since
// it cannot be replayed.
func (s *Server) takeBody(seen *Seen, src io.Reader) error {
	k := &bodyRecorder{limit: s.opts.maxBody, sum: sha256.New()}
	var first bytes.Buffer
	_, err := io.CopyN(io.MultiWriter(&first, k), src, s.opts.maxBody+1)
	var demo *Response
	if err == nil { // there is more than is kept
		rest := &errReader{r: io.TeeReader(src, k)}
		r := s.ask(seen, io.MultiReader(&first, rest))
		demo = &r
		_, _ = io.Copy(io.Discard, rest)
		err = rest.err
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	s.seen.update(seen, func(x *Seen) {
		x.Body, x.BodyBytes, x.demoResponse = k.head, k.n, demo
		k.sum.Sum(x.BodySum[:0])
	})
	return err
}

// bodyRecorder keeps the first bytes and sums all.
type bodyRecorder struct {
	limit int64
	n     int64
	head  []byte
	sum   hash.Hash
}

func (k *bodyRecorder) Write(p []byte) (int, error) {
	if free := k.limit - int64(len(k.head)); free > 0 {
		k.head = append(k.head, p[:min(free, int64(len(p)))]...)
	}
	k.n += int64(len(p))
	return k.sum.Write(p)
}

// errReader remembers how reading ended.
type errReader struct {
	r   io.Reader
	err error
}

func (e *errReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil {
		e.err = err
	}
	return n, err
}

// exactReader reads exactly n bytes: an earlier end is unexpected.
type exactReader struct {
	r io.Reader
	n int64
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.n)])
	e.n -= int64(n)
	if errors.Is(err, io.EOF) && e.n > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// slowReader asks wait before each step.
type slowReader struct {
	r    io.Reader
	wait func() bool
}

func (s *slowReader) Read(p []byte) (int, error) {
	if !s.wait() {
		return 0, errors.New("the server was closed")
	}
	return s.r.Read(p[:min(len(p), readStep)])
}

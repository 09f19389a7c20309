package responder

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http/httputil"
	"slices"
	"strconv"
	"time"
)

const (
	bufferSize = 64 << 10 // of reads; the largest head, too
	maxEcho    = 1 << 20  // longer bodies are swallowed and answered by their length
)

var errMalformed = errors.New("malformed request")

// link is one connection. It belongs to its goroutine and allocates nothing per
// request on the plain paths.
type link struct {
	r        *Responder
	c        net.Conn
	buf      []byte // unread bytes are buf[from:to]
	from, to int
	out      []byte        // answers that are put together
	events   [kinds][]byte // own copies of the streams' first writes, for the times in them
	chunks   *bufio.Reader // made when the first body in chunks comes
}

func (r *Responder) newLink(c net.Conn) *link {
	return &link{r: r, c: c, buf: make([]byte, bufferSize)}
}

func (l *link) run() {
	for {
		again, err := l.one()
		if err != nil && !errors.Is(err, io.EOF) {
			l.r.count.broken.Add(1)
		}
		if err != nil || !again {
			return
		}
	}
}

// one serves a request. The error is io.EOF when the caller ended the connection
// between requests.
func (l *link) one() (again bool, err error) {
	head, err := l.head()
	if err != nil {
		return false, err
	}
	q, ok := parse(head)
	if !ok {
		_, _ = io.WriteString(l.c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return false, errMalformed
	}
	if q.expects {
		if _, err := io.WriteString(l.c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return false, err
		}
	}
	body, size, err := l.body(&q)
	if err != nil {
		return false, err
	}
	return !q.closes, l.respond(&q, body, size)
}

// head returns the next head without its empty line.
func (l *link) head() ([]byte, error) {
	if l.from == l.to {
		l.from, l.to = 0, 0
	}
	searched := l.from
	for {
		if i := bytes.Index(l.buf[searched:l.to], []byte("\r\n\r\n")); i >= 0 {
			head := l.buf[l.from : searched+i]
			l.from = searched + i + 4
			return head, nil
		}
		searched = max(l.from, l.to-3)
		if l.to == len(l.buf) {
			if l.from == 0 {
				return nil, errMalformed
			}
			searched -= l.from
			l.compact()
		}
		started := l.to > l.from
		n, err := l.c.Read(l.buf[l.to:])
		l.to += n
		if err != nil {
			if started {
				return nil, io.ErrUnexpectedEOF
			}
			return nil, io.EOF // whatever ended it, no request is lost
		}
	}
}

// compact moves the unread bytes to the front.
func (l *link) compact() {
	l.to = copy(l.buf, l.buf[l.from:l.to])
	l.from = 0
}

// body reads the body to its end. It returns bodies up to maxEcho whole, save the
// long ones of transcriptions, and no bytes of longer ones; size is the true one.
func (l *link) body(q *request) (body []byte, size int64, err error) {
	switch {
	case q.length < 0:
		return l.chunked(q)
	case q.length <= int64(len(l.buf)-l.from):
		return l.short(int(q.length))
	case q.length <= maxEcho && q.kind(nil) != transcription:
		body = make([]byte, q.length)
		n := copy(body, l.buf[l.from:l.to])
		l.from += n
		_, err = io.ReadFull(l.c, body[n:])
		return body, q.length, err
	}
	return nil, q.length, l.swallow(q)
}

// short reads a body that fits after the head.
func (l *link) short(n int) ([]byte, int64, error) {
	for l.to-l.from < n {
		k, err := l.c.Read(l.buf[l.to:])
		l.to += k
		if err != nil {
			return nil, 0, io.ErrUnexpectedEOF
		}
	}
	body := l.buf[l.from : l.from+n]
	l.from += n
	return body, int64(n), nil
}

// swallow reads a long body over the buffer with the head.
func (l *link) swallow(q *request) error {
	q.detach()
	left := q.length - int64(l.to-l.from)
	l.from, l.to = 0, 0
	for left > 0 {
		n, err := l.c.Read(l.buf[:min(int64(len(l.buf)), left)])
		left -= int64(n)
		if err != nil {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}

// chunked reads a body in chunks; what was read beyond it replaces the head in the
// buffer.
func (l *link) chunked(q *request) ([]byte, int64, error) {
	q.detach()
	src := io.MultiReader(bytes.NewReader(bytes.Clone(l.buf[l.from:l.to])), l.c)
	if l.chunks == nil {
		l.chunks = bufio.NewReaderSize(src, bufferSize)
	}
	l.chunks.Reset(src)
	var body bytes.Buffer
	data := httputil.NewChunkedReader(l.chunks)
	size, err := io.CopyN(&body, data, maxEcho)
	if errors.Is(err, io.EOF) {
		err = nil
	} else if err == nil {
		var more int64
		more, err = io.Copy(io.Discard, data)
		size += more
	}
	if err == nil {
		err = skipTrailer(l.chunks)
	}
	rest, _ := l.chunks.Peek(l.chunks.Buffered()) // never more than bufferSize
	l.from, l.to = 0, copy(l.buf, rest)
	return body.Bytes(), size, err
}

// skipTrailer reads up to the empty line.
func skipTrailer(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil || len(line) <= 2 {
			return err
		}
	}
}

// respond waits the delay and sends what the request asked for.
func (l *link) respond(q *request, body []byte, size int64) error {
	k := q.kind(body)
	if k != stats && l.r.opts.Delay > 0 {
		time.Sleep(l.r.opts.Delay)
	}
	var last []byte // the end of the answer, or all of it
	var sent int64
	switch k {
	case chat, message, converse, embeddings, transcription:
		w := &l.r.made.fixed[k]
		last, sent = w.wire, int64(len(w.body))
	case stream, messageStream, converseStream:
		var err error
		if last, sent, err = l.stream(k, wantsUsage(body)); err != nil {
			return err
		}
	case stats:
		return l.stats()
	default:
		last, sent = l.echo(q, body, size)
	}
	return l.r.finish(l.c, last, counted{k, size, sent})
}

func (l *link) stats() error {
	b, err := json.Marshal(l.r.Stats())
	if err != nil {
		return err
	}
	_, err = l.c.Write(newFixedResponse(string(b)).wire)
	return err
}

// echo is an answer with the body, or of one too long to keep with its length; sent is
// what the answer's body has.
func (l *link) echo(q *request, body []byte, size int64) (out []byte, sent int64) {
	kind := q.contentType
	if int64(len(body)) < size {
		kind, body = []byte("application/json"), strconv.AppendInt([]byte(`{"bytes":`), size, 10)
		body = append(body, '}')
	}
	out = append(l.out[:0], "HTTP/1.1 200 OK\r\n"...)
	if len(kind) > 0 {
		out = append(append(append(out, "Content-Type: "...), kind...), "\r\n"...)
	}
	out = append(out, "Content-Length: "...)
	out = append(strconv.AppendInt(out, int64(len(body)), 10), "\r\n\r\n"...)
	out = append(out, body...)
	if cap(out) <= bufferSize { // one large echo must not stay with the connection
		l.out = out
	}
	return out, int64(len(body))
}

// stream sends the head with what comes first and the first event, and each further
// event by itself at its time from the start. It leaves the end to be sent; sent counts
// that, too.
func (l *link) stream(k kind, usage bool) (last []byte, sent int64, err error) {
	s := &l.r.made.stream[k]
	if l.events[k] == nil {
		l.events[k] = slices.Concat(s.head, s.first, s.event)
	}
	next := l.events[k]
	event := next[len(next)-len(s.event):]
	marked := inside(event)
	begun := time.Now()
	for i := range l.r.opts.Chunks {
		if i > 0 && l.r.opts.Interval > 0 {
			time.Sleep(time.Until(begun.Add(time.Duration(i) * l.r.opts.Interval)))
		}
		s.mark(marked)
		if _, err := l.c.Write(next); err != nil {
			return nil, 0, err
		}
		next = event
	}
	last = s.last
	if usage {
		last = s.usage
	}
	return last, int64(len(s.first) + l.r.opts.Chunks*len(s.event) + len(last)), nil
}

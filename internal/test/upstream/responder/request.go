package responder

import (
	"bytes"
	"strconv"
)

// request contains the fields of the head. Slices lie in the link's buffer and are good
// until the next read.
type request struct {
	path        []byte // without the query
	contentType []byte
	length      int64 // of the body; -1: in chunks
	expects     bool  // the caller waits for 100 Continue
	closes      bool  // the connection ends after the answer
	get         bool
}

// parse reads a head without its empty line; ok is false when it is not HTTP/1.1
// as a gateway must send it.
func parse(head []byte) (q request, ok bool) {
	line, rest, _ := bytes.Cut(head, []byte("\r\n"))
	method, line, _ := bytes.Cut(line, []byte(" "))
	target, version, found := bytes.Cut(line, []byte(" "))
	if !found || len(target) == 0 || !bytes.HasPrefix(version, []byte("HTTP/1.")) {
		return q, false
	}
	q.path, _, _ = bytes.Cut(target, []byte("?"))
	q.get = string(method) == "GET"
	q.closes = string(version) == "HTTP/1.0"
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		if !q.field(line) {
			return q, false
		}
	}
	return q, true
}

// field reads one header line. Most differ by their length alone.
func (q *request) field(line []byte) bool {
	i := bytes.IndexByte(line, ':')
	if i <= 0 {
		return false
	}
	name, value := line[:i], bytes.TrimSpace(line[i+1:])
	switch {
	case is(name, "content-length"):
		n, err := strconv.ParseInt(string(value), 10, 64)
		q.length = n
		return err == nil && n >= 0
	case is(name, "transfer-encoding"):
		q.length = -1
		return is(value, "chunked")
	case is(name, "content-type"):
		q.contentType = value
	case is(name, "expect"):
		q.expects = true
	case is(name, "connection"):
		q.closes = q.closes && !is(value, "keep-alive") || is(value, "close")
	}
	return true
}

// detach keeps what the answer needs past the next read.
func (q *request) detach() {
	q.path, q.contentType = bytes.Clone(q.path), bytes.Clone(q.contentType)
}

func is(b []byte, lower string) bool {
	return len(b) == len(lower) && bytes.EqualFold(b, []byte(lower))
}

// kind returns by path and body what to answer.
func (q *request) kind(body []byte) kind {
	switch {
	case bytes.HasSuffix(q.path, []byte("/chat/completions")):
		if wantsStream(body) {
			return stream
		}
		return chat
	case bytes.HasSuffix(q.path, []byte("/messages")):
		if wantsStream(body) {
			return messageStream
		}
		return message
	case bytes.HasSuffix(q.path, []byte("/converse")):
		return converse
	case bytes.HasSuffix(q.path, []byte("/converse-stream")):
		return converseStream
	case bytes.HasSuffix(q.path, []byte("/embeddings")):
		return embeddings
	case bytes.HasSuffix(q.path, []byte("/audio/transcriptions")):
		return transcription
	case q.get && string(q.path) == "/__stats":
		return stats
	}
	return echo
}

func wantsStream(body []byte) bool {
	return bytes.Contains(body, []byte(`"stream":true`)) || bytes.Contains(body, []byte(`"stream": true`))
}

// wantsUsage reports whether a stream is asked to end with its usage.
func wantsUsage(body []byte) bool {
	return bytes.Contains(body, []byte(`"include_usage":true`)) || bytes.Contains(body, []byte(`"include_usage": true`))
}

package load

import (
	"bytes"
	"errors"
	"strconv"
)

// responseHead is what the head of a response tells.
type responseHead struct {
	status int
	length int64 // of the body; -1: in chunks
	closes bool  // the connection ends after it
}

var (
	errHead  = errors.New("malformed response head")
	errChunk = errors.New("malformed chunk")
)

// parseHead reads a head without its empty line. What tells nothing of the body's
// end is refused: here every answer has a length or comes in chunks.
func parseHead(head []byte) (a responseHead, err error) {
	line, rest, _ := bytes.Cut(head, []byte("\r\n"))
	if len(line) < len("HTTP/1.1 200") || string(line[:7]) != "HTTP/1." || line[7] < '0' || line[7] > '1' || line[8] != ' ' {
		return a, errHead
	}
	if len(line) > 12 && line[12] != ' ' || !plain(line) {
		return a, errHead
	}
	if a.status, err = digits(line[9:12]); err != nil || a.status < 100 {
		return a, errHead
	}
	a.closes = line[7] == '0'
	framed := false
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		framing, err := a.field(line)
		if err != nil || framing && framed {
			return a, errHead
		}
		framed = framed || framing
	}
	if !framed && a.status != 204 {
		return a, errHead
	}
	return a, nil
}

// field takes one header line and reports whether it says how the body ends.
func (a *responseHead) field(line []byte) (framing bool, err error) {
	i := bytes.IndexByte(line, ':')
	if i <= 0 || line[i-1] == ' ' || !plain(line) {
		return false, errHead
	}
	name, value := line[:i], bytes.Trim(line[i+1:], " \t")
	switch {
	case is(name, "content-length"):
		a.length, err = strconv.ParseInt(string(value), 10, 64)
		if err != nil || value[0] < '0' || value[0] > '9' {
			return false, errHead
		}
		return true, nil
	case is(name, "transfer-encoding"):
		a.length = -1
		if !is(value, "chunked") {
			return false, errHead
		}
		return true, nil
	case is(name, "connection"):
		a.closes = is(value, "close")
	}
	return false, nil
}

// plain reports whether a line holds no other end of a line.
func plain(line []byte) bool {
	return bytes.IndexByte(line, '\n') < 0 && bytes.IndexByte(line, '\r') < 0
}

func is(b []byte, lower string) bool {
	return len(b) == len(lower) && bytes.EqualFold(b, []byte(lower))
}

func digits(b []byte) (n int, err error) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, errHead
		}
		n = n*10 + int(c-'0')
	}
	return n, nil
}

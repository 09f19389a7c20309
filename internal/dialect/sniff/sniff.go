// Package sniff finds out what a response body is before it is parsed: JSON, an event stream, frames
// or a web page, and whether it is a response of its endpoint at all.
package sniff

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// BodyKind is the kind of a provider's response body, detected from its first bytes.
type BodyKind int

// The kinds of bodies.
const (
	OtherBody BodyKind = iota // text, audio, an empty body, or anything else
	JSONBody                  // a JSON object: {"
	EventBody                 // server-sent events: a comment, or a line data:, event:, id: or retry:
	FrameBody                 // Amazon's event stream, whose events are frames
	PageBody                  // an HTML document
)

// MaxSniffBytes is the maximum number of bytes that Sniff needs to be sure.
const MaxSniffBytes = 512

// Sniff detects the kind of a body from its first bytes. It ignores leading white space and a
// byte order mark. It reports false if more bytes could change the kind. Then read on until it is
// sure, until MaxSniffBytes bytes are available, or until the body ends. It does not allocate.
// Sources: RFC 8259; the HTML standard, "Server-sent events"; WHATWG MIME Sniffing 7.1;
// Amazon's event stream encoding, docs.aws.amazon.com/lexv2, read 2026-11.
func Sniff(head []byte) (kind BodyKind, sure bool) {
	if len(head) > 0 && head[0] == 0 {
		return sniffFrame(head)
	}
	text := bytes.TrimLeft(TrimByteOrderMark(head), " \t\r\n")
	switch {
	case len(text) == 0 || len(text) < len(mark) && bytes.HasPrefix(mark, text):
		return OtherBody, len(head) >= MaxSniffBytes
	case text[0] == '{':
		return sniffObject(text[1:])
	case text[0] == ':':
		return EventBody, true
	case text[0] == '<':
		return sniffPage(text)
	}
	return sniffField(text)
}

// mark is the byte order mark of UTF-8.
var mark = []byte("\xef\xbb\xbf")

// TrimByteOrderMark removes the byte order mark that some servers send.
func TrimByteOrderMark(b []byte) []byte { return bytes.TrimPrefix(b, mark) }

// sniffObject checks the bytes after an opening brace: the first name of an object, or its
// end.
func sniffObject(rest []byte) (BodyKind, bool) {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	switch {
	case len(rest) == 0:
		return OtherBody, false
	case rest[0] == '"', rest[0] == '}':
		return JSONBody, true
	}
	return OtherBody, true
}

// eventFields are the fields with which an event may begin.
var eventFields = [...]string{"data:", "event:", "id:", "retry:"}

func sniffField(text []byte) (BodyKind, bool) {
	for _, f := range eventFields {
		switch {
		case len(text) >= len(f) && string(text[:len(f)]) == f:
			return EventBody, true
		case len(text) < len(f) && string(text) == f[:len(text)]:
			return OtherBody, false
		}
	}
	return OtherBody, true
}

// pageTags begin an HTML document, or a fragment that a server returns instead.
var pageTags = [...]string{"<!doctype html", "<html", "<head", "<body", "<title", "<meta", "<script", "<center", "<h1"}

func sniffPage(text []byte) (BodyKind, bool) {
	if bytes.HasPrefix(text, []byte("<!--")) {
		_, rest, ended := bytes.Cut(text, []byte("-->"))
		if rest = bytes.TrimLeft(rest, " \t\r\n"); !ended || len(rest) == 0 {
			return OtherBody, false
		}
		text = rest
	}
	for _, tag := range pageTags {
		switch n := min(len(text), len(tag)); {
		case !bytes.EqualFold(text[:n], []byte(tag[:n])):
		case n < len(tag) || len(text) == n:
			return OtherBody, false
		case endsTag(text[n]):
			return PageBody, true
		}
	}
	return OtherBody, true
}

func endsTag(c byte) bool {
	return c == '>' || c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '/'
}

// sniffPrelude is the size in bytes of the start of a frame: its length, the length of its headers,
// and the checksum of both. The first byte is 0, because no frame is longer than 16 MiB.
const sniffPrelude = 12

func sniffFrame(head []byte) (BodyKind, bool) {
	switch {
	case len(head) < sniffPrelude:
		return OtherBody, false
	case crc32.ChecksumIEEE(head[:8]) == binary.BigEndian.Uint32(head[8:sniffPrelude]):
		return FrameBody, true
	}
	return OtherBody, true
}

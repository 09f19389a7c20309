package upstream

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
)

// headFaults spoil the head or the framing.
var headFaults = map[string]fault{
	"garbage": {does: "sends bytes that are not HTTP", make: func(Response, argument) Response {
		return Response{Raw: []byte("SSH-2.0-OpenSSH_9.2p1\r\n\x00\xff\xfe\r\n\r\n"), End: Cut}
	}},
	"bad-status": {does: "sends a status line without a number", make: func(ok Response, _ argument) Response {
		return ok.headless(func(h string) string { return strings.Replace(h, " 200 ", " OK ", 1) })
	}},
	"bad-header": {does: "sends a header with a control byte", make: func(ok Response, _ argument) Response {
		return ok.headless(insert("X-Odd: a\x00b\r\n"))
	}},
	"bare-lf": {does: "ends its head lines with LF alone", make: func(ok Response, _ argument) Response {
		return ok.headless(func(h string) string { return strings.ReplaceAll(h, "\r\n", "\n") })
	}},
	"folded": {does: "sends a folded header line", make: func(ok Response, _ argument) Response {
		return ok.headless(insert("X-Odd: a\r\n b\r\n"))
	}},
	"huge-head": {does: "sends a header of @ KiB (1024)", def: argument{n: 1024}, make: func(ok Response, a argument) Response {
		return ok.headless(insert("X-Odd: " + strings.Repeat("a", a.n<<10) + "\r\n"))
	}},
	"many-headers": {does: "sends @ headers (10000)", def: argument{n: 10000}, make: func(ok Response, a argument) Response {
		return ok.headless(insert(strings.Repeat("X-Odd: a\r\n", a.n)))
	}},
	"two-framings": {does: "sends both content-length and transfer-encoding", make: func(ok Response, _ argument) Response {
		return ok.headless(insert("Transfer-Encoding: chunked\r\n"))
	}},
	"two-lengths": {does: "sends two different lengths", make: func(ok Response, _ argument) Response {
		return ok.headless(insert("Content-Length: 7\r\n"))
	}},
	"bad-chunk": {does: "sends a chunk whose size is no number", make: func(ok Response, _ argument) Response {
		ok.Framing = Chunked
		r := ok.headless(func(h string) string { return h })
		r.Chunks = []Chunk{{Bytes: []byte("5\r\n{\"a\":\r\nzz\r\n1}\r\n0\r\n\r\n")}}
		return r
	}},
	"length-short": {does: "announces one byte less than it sends", make: func(ok Response, _ argument) Response {
		ok.Framing, ok.Claim, ok.End = Length, ok.size()-1, Close
		return ok
	}},
	"length-long": {does: "announces ten bytes more than it sends, then closes", make: func(ok Response, _ argument) Response {
		ok.Framing, ok.Claim, ok.End = Length, ok.size()+10, Cut
		return ok
	}},
	"chunked": {does: "sends the body in chunks of @ bytes (1)", def: argument{n: 1}, make: func(ok Response, a argument) Response {
		ok.Framing, ok.Chunks = Chunked, split(ok.body(), max(a.n, 1), 0)
		return ok
	}},
	"until-close": {does: "ends the body by closing, as HTTP/1.0 servers do", make: func(ok Response, _ argument) Response {
		ok.Framing = UntilClose
		return ok.with(Field{"Connection", "close"})
	}},
	"http10": {does: "answers as HTTP/1.0", make: func(ok Response, _ argument) Response {
		ok.Framing = UntilClose
		return ok.headless(func(h string) string { return strings.Replace(h, "HTTP/1.1", "HTTP/1.0", 1) })
	}},
	"trailers": {does: "sends trailers after a chunked body", make: func(ok Response, _ argument) Response {
		ok.Framing, ok.Trailer = Chunked, []Field{{"X-Sum", "42"}}
		return ok.with(Field{"Trailer", "X-Sum"})
	}},
	"early-hints": {does: "sends @ heads with status 103 (1) before the answer", def: argument{n: 1}, make: func(ok Response, a argument) Response {
		ok.Interim = repeated(a.n, http.StatusEarlyHints)
		return ok
	}},
	"odd-headers": {does: "sends repeated, empty and oddly cased headers", make: func(ok Response, _ argument) Response {
		return ok.with(Field{"X-Twice", "1"}, Field{"x-twice", "2"}, Field{"X-EMPTY", ""}, Field{"sEt-CoOkIe", "a=b; Path=/"}, Field{"X-Powered-By", "Express"})
	}},
}

// headless is the reply with its head as raw bytes that edit has changed. The
// connection ends with the body.
func (r Response) headless(edit func(head string) string) Response {
	h := edit(head(r))
	var b bytes.Buffer
	for _, p := range r.Chunks {
		if r.Framing == Chunked {
			b.WriteString(strconv.FormatInt(int64(len(p.Bytes)), 16) + "\r\n" + string(p.Bytes) + "\r\n")
			continue
		}
		b.Write(p.Bytes)
	}
	if r.Framing == Chunked {
		b.WriteString("0\r\n\r\n")
	}
	return Response{Status: r.Status, Header: r.Header, Raw: []byte(h), Chunks: []Chunk{{Bytes: b.Bytes()}}, End: Cut}
}

// insert puts a header line after the status line.
func insert(line string) func(string) string {
	return func(h string) string {
		status, rest, _ := strings.Cut(h, "\r\n")
		return status + "\r\n" + line + rest
	}
}

func repeated(n, v int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = v
	}
	return out
}

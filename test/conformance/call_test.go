package conformance

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/kernel/wire"
)

// call sends a message to the gateway byte for byte as it is written and returns the
// answer, with its lines in order of their names.
func (r *rig) call(m message) message {
	r.t.Helper()
	if len(m.body) > 0 && !m.header.Has("transfer-encoding") {
		m.header = append(slices.Clone(m.header), wire.Field{Name: "content-length", Value: strconv.Itoa(len(m.body))})
	}
	var b strings.Builder
	b.WriteString(m.first + " HTTP/1.1\r\nhost: gateway.example\r\nconnection: close\r\n")
	for _, f := range m.header {
		b.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	b.WriteString("\r\n" + m.body)
	return r.raw(b.String())
}

// raw sends bytes on a connection of their own and reads the answer.
func (r *rig) raw(request string) message {
	r.t.Helper()
	c, err := net.Dial("tcp", r.server.Addr)
	if err != nil {
		r.t.Fatalf("dial: %v", err)
	}
	defer func() { _ = c.Close() }()
	go func() { _, _ = io.WriteString(c, request) }() // a refusal may come before all of it is taken
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		r.t.Fatalf("no answer: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatalf("the answer of status %d was cut: %v", resp.StatusCode, err)
	}
	out := message{first: strconv.Itoa(resp.StatusCode), body: string(body)}
	for name, values := range resp.Header {
		for _, v := range values {
			out.header.Add(name, v)
		}
	}
	return out.sorted()
}

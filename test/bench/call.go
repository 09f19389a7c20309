package main

import (
	"bytes"
	"fmt"
	"strings"

	"sluice/test/bench/load"
)

// call is a request without what depends on the target.
type call struct {
	path        string
	contentType string
	body        func() []byte // made when it is needed: some are large
}

// chatBody is a conversation of 690 bytes, as small applications send them.
var chatBody = chatText(690, `"temperature":0.2,"max_tokens":256`)

var (
	chat        = call{"/v1/chat/completions", "application/json", func() []byte { return []byte(chatBody) }}
	streamed    = call{"/v1/chat/completions", "application/json", func() []byte { return []byte(chatText(690, `"stream":true,"stream_options":{"include_usage":true}`)) }}
	passThrough = call{"/v1/assistants/preview", "application/json", func() []byte { return []byte(chatBody) }}
)

// chatText is a chat of size bytes with further members.
func chatText(size int, members string) string {
	start := `{"model":"bench","messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":"`
	end := `"}],` + members + `}`
	return start + strings.Repeat("lorem ipsum dolor sit amet ", size/27+1)[:size-len(start)-len(end)] + end
}

// upload is a transcription with size bytes of sound.
func upload(size int) call {
	const boundary = "bench-7d0f3c"
	return call{"/v1/audio/transcriptions", "multipart/form-data; boundary=" + boundary, func() []byte {
		var b bytes.Buffer
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nbench\r\n", boundary)
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"speech.wav\"\r\nContent-Type: audio/wav\r\n\r\n", boundary)
		b.Write(bytes.Repeat([]byte("RIFF\x00\x01\x02\x03"), size/8))
		fmt.Fprintf(&b, "\r\n--%s--\r\n", boundary)
		return b.Bytes()
	}}
}

// wire is the request with the header lines that the target needs.
func (c call) wire(host string, lines ...string) []byte {
	body := c.body()
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n", c.path, host, c.contentType, len(body))
	for _, line := range append(lines, "Accept: application/json", "User-Agent: bench/1") {
		b.WriteString(line + "\r\n")
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

// with completes the scenario's job for a target.
func (s *scenario) with(to *contender, o options) load.Job {
	j := s.job
	j.Addr, j.TLS = to.addr, to.tls
	j.Request = s.call.wire(to.addr, to.lines...)
	if j.Each == 0 {
		j.For = o.length
	} else if o.quick {
		j.Each = 1
	}
	j.Limit = j.For + j.Ramp + roundLimit
	return j
}

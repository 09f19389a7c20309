package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"sync/atomic"

	"sluice/test/bench/load"
	"sluice/test/bench/target"
)

// call is a request without what depends on the target.
type call struct {
	method      string // empty: POST
	path        string
	contentType string
	body        func() []byte // made when it is needed: some are large; nil: none
}

// chatBody is a conversation of 690 bytes, as small applications send them.
var chatBody = chatText("bench", 690, `"temperature":0.2,"max_tokens":256`)

var (
	chat        = call{"", "/v1/chat/completions", "application/json", func() []byte { return []byte(chatBody) }}
	streamed    = call{"", "/v1/chat/completions", "application/json", func() []byte { return []byte(chatText("bench", 690, streamMembers)) }}
	passThrough = call{"", "/v1/vector_stores/vs_bench/search", "application/json", func() []byte { return []byte(searchBody) }}

	// uncounted is a call of a model by a path that is passed through. Its answer does not say
	// what was used.
	uncounted = call{"", "/v1/assistants/preview", "application/json", func() []byte { return []byte(chatBody) }}
)

// searchBody is a question to a collection, as long as chatBody.
var searchBody = searchText(len(chatBody))

func searchText(size int) string {
	const start, end = `{"max_num_results":10,"rewrite_query":false,"query":"`, `"}`
	return start + filler(size-len(start)-len(end)) + end
}

const streamMembers = `"stream":true,"stream_options":{"include_usage":true}`

// pricedChat is a chat with a model that has a price, and further members.
func pricedChat(members string) call {
	return call{"", "/v1/chat/completions", "application/json", func() []byte { return []byte(chatText(target.GovernedModel, 690, members)) }}
}

// chatText is a chat of size bytes with further members.
func chatText(model string, size int, members string) string {
	start := `{"model":"` + model + `","messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":"`
	end := `"}],` + members + `}`
	return start + filler(size-len(start)-len(end)) + end
}

// conversation is a chat of size bytes with two tools and further members, in which
// as many turns as there is room for have called one of them.
func conversation(size int, members string) call {
	return call{"", "/v1/chat/completions", "application/json", func() []byte { return []byte(conversationText(size, members)) }}
}

func conversationText(size int, members string) string {
	const (
		tools = `{"type":"function","function":{"name":"look_up","description":"Looks a word up","parameters":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}}},` +
			`{"type":"function","function":{"name":"add_up","parameters":{"type":"object","properties":{"terms":{"type":"array","items":{"type":"number"}}}}}}`
		asks = `,{"role":"user","content":"`
		turn = asks + `What is lorem ipsum?"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_%[1]d","type":"function","function":{"name":"look_up","arguments":"{\"q\":\"lorem\"}"}}]},` +
			`{"role":"tool","tool_call_id":"call_%[1]d","content":"Words that stand for others."},{"role":"assistant","content":"It stands for other words."}`
	)
	text := `{"model":"bench","max_tokens":256,"temperature":0.2,` + members + `"tools":[` + tools + `],"messages":[{"role":"system","content":"You are a helpful assistant."}`
	end := `"}]}`
	for i := 0; len(text)+len(turn)+len(asks)+len(end) < size; i++ {
		text += fmt.Sprintf(turn, i)
	}
	text += asks
	return text + filler(size-len(text)-len(end)) + end
}

// filler is n bytes of words.
func filler(n int) string { return strings.Repeat("lorem ipsum dolor sit amet ", n/27+1)[:n] }

// upload is a transcription with size bytes of sound.
func upload(size int) call {
	const boundary = "bench-7d0f3c"
	return call{"", "/v1/audio/transcriptions", "multipart/form-data; boundary=" + boundary, func() []byte {
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
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", cmp.Or(c.method, "POST"), c.path, host)
	var body []byte
	if c.body != nil {
		body = c.body()
		fmt.Fprintf(&b, "Content-Type: %s\r\nContent-Length: %d\r\n", c.contentType, len(body))
	}
	for _, line := range append(lines, "Accept: application/json", "User-Agent: bench/1") {
		b.WriteString(line + "\r\n")
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

// inTurn returns the requests of the target's keys one after the other, all made before
// the first is asked for; nil when it has none that take turns.
func (c call) inTurn(to *contender) func() []byte {
	if len(to.keys) == 0 {
		return nil
	}
	all := make([][]byte, len(to.keys))
	for i, key := range to.keys {
		all[i] = c.wire(to.addr, append([]string{keyLine + key}, to.lines...)...)
	}
	var n atomic.Uint64
	return func() []byte { return all[(n.Add(1)-1)%uint64(len(all))] }
}

// with completes the scenario's job for a target.
func (s *scenario) with(to *contender, o options) load.Job {
	j := s.job
	j.Addr, j.TLS = to.addr, to.tls
	j.Request, j.Next = s.call.wire(to.addr, to.lines...), s.call.inTurn(to)
	if to.body > 0 {
		j.Body = to.body
	}
	if j.Each == 0 {
		j.For = o.length
	} else if o.quick {
		j.Each = 1
	}
	j.Limit = j.For + j.Ramp + roundLimit
	return j
}

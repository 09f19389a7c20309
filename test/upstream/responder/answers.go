package responder

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SentField is the member of a stream's events that holds the time of the write,
// in Unix nanoseconds of exactly 19 digits: "sent_ns":1700000000000000000.
const SentField = `"sent_ns":`

// sentDigits is the number of digits of a time in nanoseconds until 2286.
const sentDigits = 19

// answers is what is sent, made once. Whole ones have their head before them.
type answers struct {
	chat          whole
	embeddings    whole
	transcription whole
	stream        streamed
}

// whole is an answer whose length is known.
type whole struct {
	wire []byte // head and body
	body []byte
}

// streamed is the parts of an event stream.
type streamed struct {
	head  []byte
	event []byte // with zeros for the time at stamp
	stamp int    // offset of the digits
	last  []byte // finish reason and [DONE]
	usage []byte // the same with the usage before [DONE]
}

const (
	jsonHead   = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nx-request-id: req_bench\r\nContent-Length: "
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nx-request-id: req_bench\r\nTransfer-Encoding: chunked\r\n\r\n"

	chatStart = `{"id":"chatcmpl-bench","object":"chat.completion","created":1767225600,"model":"bench","choices":[{"index":0,"message":{"role":"assistant","content":"`
	chatEnd   = `","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":120,"completion_tokens":100,"total_tokens":220},"system_fingerprint":"fp_bench"}`

	chunkStart = `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1767225600,"model":"bench","system_fingerprint":"fp_bench",`
)

func makeAnswers(o Options) answers {
	return answers{
		chat:          wholeOf(chatStart + filler(o.ChatBytes-len(chatStart)-len(chatEnd)) + chatEnd),
		embeddings:    wholeOf(embeddingBody()),
		transcription: wholeOf(`{"text":"` + filler(400) + `","usage":{"type":"tokens","input_tokens":14,"output_tokens":45,"total_tokens":59}}`),
		stream:        makeStream(),
	}
}

func wholeOf(body string) whole {
	wire := jsonHead + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	return whole{wire: []byte(wire), body: []byte(wire[len(wire)-len(body):])}
}

// filler is n bytes of words, nothing when n is not positive.
func filler(n int) string {
	if n <= 0 {
		return ""
	}
	return strings.Repeat("lorem ipsum dolor sit amet ", n/27+1)[:n]
}

// embeddingBody has one vector of 1,536 numbers, about 18 KB.
func embeddingBody() string {
	var b strings.Builder
	b.WriteString(`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[`)
	for i := range 1536 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%.8f", float64(i%200-100)/2000)
	}
	b.WriteString(`]}],"model":"bench","usage":{"prompt_tokens":8,"total_tokens":8}}`)
	return b.String()
}

func makeStream() streamed {
	event := framed(chunkStart + SentField + strings.Repeat("0", sentDigits) + `,"choices":[{"index":0,"delta":{"content":"lorem "},"logprobs":null,"finish_reason":null}]}` + "\n\n")
	finish := framed(chunkStart + `"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}` + "\n\n")
	usage := framed(chunkStart + `"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":100,"total_tokens":220}}` + "\n\n")
	done := framed("data: [DONE]\n\n") + "0\r\n\r\n"
	return streamed{
		head: []byte(streamHead), event: []byte(event), stamp: strings.Index(event, SentField) + len(SentField),
		last: []byte(finish + done), usage: []byte(finish + usage + done),
	}
}

// framed is an event as one chunk.
func framed(event string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(event), event) }

// unframed is the events of chunks that framed made.
func unframed(chunks []byte) []byte {
	var out []byte
	for {
		size, rest, _ := bytes.Cut(chunks, []byte("\r\n"))
		n, err := strconv.ParseInt(string(size), 16, 32)
		if err != nil || n == 0 {
			return out
		}
		out, chunks = append(out, rest[:n]...), rest[n+2:]
	}
}

// stampNow writes the time over the digits.
func stampNow(digits []byte) {
	n := time.Now().UnixNano()
	for i := sentDigits - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
}

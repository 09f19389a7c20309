package responder

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The time of the write in a stream's events, in Unix nanoseconds of exactly 19
// digits. Chat completion chunks have a member of their own for it:
// "sent_ns":1700000000000000000. Events that a gateway translates lose such a
// member, so that in those of Anthropic and Bedrock it stands in the text:
// sent_ns=1700000000000000000.
const (
	SentField   = `"sent_ns":`
	SentKeyword = "sent_ns="
)

// sentDigits is the number of digits of a time in nanoseconds until 2286.
const sentDigits = 19

// answers is what is sent, made once. Whole ones have their head before them.
type answers struct {
	fixed  [kinds]fixedResponse
	stream [kinds]streamed
}

// fixedResponse is an answer whose length is known.
type fixedResponse struct {
	wire []byte // head and body
	body []byte
}

// streamed is the parts of an event stream, in chunks.
type streamed struct {
	contentType string
	head        []byte
	first       []byte // what comes before the text
	event       []byte // one chunk, with zeros for the time
	stamp       int    // offset of the digits in the chunk's content
	checksum    bool   // the content is an AWS message, which ends with a checksum
	last        []byte // finish reason and the end
	usage       []byte // the same for those who ask for usage
}

const (
	jsonHead   = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nx-request-id: req_bench\r\nContent-Length: "
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nx-request-id: req_bench\r\nTransfer-Encoding: chunked\r\n\r\n"

	chatStart = `{"id":"chatcmpl-bench","object":"chat.completion","created":1767225600,"model":"bench","choices":[{"index":0,"message":{"role":"assistant","content":"`
	chatEnd   = `","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":120,"completion_tokens":100,"total_tokens":220},"system_fingerprint":"fp_bench"}`

	chunkStart = `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1767225600,"model":"bench","system_fingerprint":"fp_bench",`
)

func makeAnswers(o Options) (a answers) {
	a.fixed[chat] = filledResponse(chatStart, chatEnd, o.ChatBytes)
	a.fixed[message] = filledResponse(messageStart, messageEnd, o.ChatBytes)
	a.fixed[converse] = filledResponse(converseStart, converseEnd, o.ChatBytes)
	a.fixed[embeddings] = newFixedResponse(embeddingBody())
	a.fixed[transcription] = newFixedResponse(`{"text":"` + filler(400) + `","usage":{"type":"tokens","input_tokens":14,"output_tokens":45,"total_tokens":59}}`)
	a.stream[stream] = makeStream()
	a.stream[messageStream] = makeMessageStream()
	a.stream[converseStream] = makeConverseStream()
	return a
}

// filledResponse is an answer of size bytes with as many words as there is room for.
func filledResponse(start, end string, size int) fixedResponse {
	return newFixedResponse(start + filler(size-len(start)-len(end)) + end)
}

func newFixedResponse(body string) fixedResponse {
	wire := jsonHead + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	return fixedResponse{wire: []byte(wire), body: []byte(wire[len(wire)-len(body):])}
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
	event := framed(chunkStart + SentField + zeros + `,"choices":[{"index":0,"delta":{"content":"lorem "},"logprobs":null,"finish_reason":null}]}` + "\n\n")
	finish := framed(chunkStart + `"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}` + "\n\n")
	usage := framed(chunkStart + `"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":100,"total_tokens":220}}` + "\n\n")
	done := framed("data: [DONE]\n\n") + "0\r\n\r\n"
	return streamOf("text/event-stream", streamed{event: []byte(event), last: []byte(finish + done), usage: []byte(finish + usage + done)})
}

// zeros stand where the time will be.
var zeros = strings.Repeat("0", sentDigits)

// streamOf completes s with its head and with the place of the time in its event.
func streamOf(contentType string, s streamed) streamed {
	s.contentType, s.head = contentType, fmt.Appendf(nil, streamHead, contentType)
	s.stamp = bytes.Index(inside(s.event), []byte(zeros))
	return s
}

// framed is an event as one chunk.
func framed(event string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(event), event) }

// inside is the content of one chunk that framed made, in its place.
func inside(chunk []byte) []byte {
	return chunk[bytes.IndexByte(chunk, '\n')+1 : len(chunk)-len("\r\n")]
}

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

// mark writes the time into the content of the stream's event.
func (s *streamed) mark(content []byte) {
	stampNow(content[s.stamp:][:sentDigits])
	if s.checksum {
		writeChecksum(content)
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

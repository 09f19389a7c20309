package scripted

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"net/url"
	"regexp"
	"strings"

	"sluice/internal/test/upstream"
)

// converse is a request of Converse and ConverseStream, as far as the script looks.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, read
// 2026-11.
type converse struct {
	Messages []struct {
		Role    string
		Content []converseBlock
	}
	System     []converseBlock
	ToolConfig struct {
		Tools []struct {
			Spec *struct {
				Name   string
				Schema struct{ JSON object } `json:"inputSchema"`
			} `json:"toolSpec"`
		}
	} `json:"toolConfig"`
}

type converseBlock struct {
	Text  *string
	Image *struct {
		Format string
		Source struct{ Bytes string }
	}
	Use *struct {
		ID string `json:"toolUseId"`
	} `json:"toolUse"`
	Result *struct {
		ID      string `json:"toolUseId"`
		Content []struct {
			Text string
			JSON json.RawMessage
		}
	} `json:"toolResult"`
}

var conversePath = regexp.MustCompile(`/model/([^/]+)/(converse|converse-stream)$`)

// Bedrock is the script of a provider of Converse. Its paths end in /converse and /converse-stream; it
// leaves others to the next script.
func Bedrock(s upstream.Seen) *upstream.Response {
	match := conversePath.FindStringSubmatch(s.Path())
	if match == nil {
		return nil
	}
	model, err := url.PathUnescape(match[1])
	if err != nil {
		return bedrockError(refuse("the path cannot be read: %v", err))
	}
	if r := fault(model); r != nil {
		return bedrockError(r)
	}
	if !strings.HasPrefix(s.Get("authorization"), "AWS4-HMAC-SHA256 ") {
		return bedrockError(&refusal{403, "Missing Authentication Token"})
	}
	var c converse
	if err := json.Unmarshal(s.Body, &c); err != nil {
		return bedrockError(refuse("the body cannot be read: %v", err))
	}
	q, refused := c.question(model)
	switch {
	case refused != nil:
		return bedrockError(refused)
	case match[2] == "converse-stream":
		r := converseEvents(q, q.respond())
		return &r
	}
	r := upstream.JSON(200, converseBody(q, q.respond()))
	return &r
}

func bedrockError(r *refusal) *upstream.Response {
	kind := map[int]string{400: "ValidationException", 403: "AccessDeniedException", 404: "ResourceNotFoundException", 429: "ThrottlingException", 503: "ServiceUnavailableException"}[r.status]
	if kind == "" {
		kind = "InternalServerException"
	}
	response := upstream.JSON(r.status, object{"message": r.message})
	response.Header = append(response.Header, upstream.Field{Name: "x-amzn-ErrorType", Value: kind})
	return &response
}

func (c *converse) question(model string) (*question, *refusal) {
	if len(c.Messages) == 0 {
		return nil, refuse("The messages field is required")
	}
	q := &question{model: model}
	for _, t := range c.ToolConfig.Tools {
		if t.Spec != nil {
			q.tools = append(q.tools, tool{t.Spec.Name, t.Spec.Schema.JSON})
		}
	}
	for _, b := range c.System {
		if b.Text != nil {
			q.words += count(*b.Text)
		}
	}
	var called []string
	for i, m := range c.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			return nil, refuse("messages.%d: roles must alternate, this one must be %s", i, want)
		}
		var turn contents
		for _, b := range m.Content {
			one, refused := b.block()
			if refused != nil {
				return nil, refused
			}
			turn = append(turn, one)
		}
		q.results, q.pictures = nil, nil
		uses, refused := q.turn(m.Role, turn, called)
		if refused != nil {
			return nil, refused
		}
		called = uses
	}
	return q, nil
}

// block returns the same block of a Messages request, which has the same rules.
func (b *converseBlock) block() (block, *refusal) {
	switch {
	case b.Text != nil && *b.Text == "":
		return block{}, refuse("The text field in the ContentBlock object is blank")
	case b.Text != nil:
		return block{Type: "text", Text: *b.Text}, nil
	case b.Use != nil:
		return block{Type: "tool_use", ID: b.Use.ID}, nil
	case b.Image != nil:
		out := block{Type: "image"}
		out.Source.MediaType, out.Source.Data = "image/"+b.Image.Format, b.Image.Source.Bytes
		return out, nil
	case b.Result != nil:
		out := block{Type: "tool_result", ToolUseID: b.Result.ID}
		for _, c := range b.Result.Content {
			out.Content = append(out.Content, block{Type: "text", Text: c.Text + string(c.JSON)})
		}
		return out, nil
	}
	return block{}, refuse("The content block is not known")
}

func converseReason(a modelOutput) string {
	if len(a.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func converseUsage(q *question, a modelOutput) object {
	return object{"inputTokens": q.words, "outputTokens": a.words, "totalTokens": q.words + a.words}
}

func converseBody(q *question, a modelOutput) object {
	var blocks []object
	if a.text != "" {
		blocks = append(blocks, object{"text": a.text})
	}
	for _, c := range a.calls {
		blocks = append(blocks, object{"toolUse": object{"toolUseId": c.id, "name": c.name, "input": json.RawMessage(c.args)}})
	}
	return object{
		"output": object{"message": object{"role": "assistant", "content": blocks}}, "stopReason": converseReason(a),
		"usage": converseUsage(q, a), "metrics": object{"latencyMs": 1},
	}
}

// converseEvents delivers texts and arguments by words.
func converseEvents(q *question, a modelOutput) upstream.Response {
	r := upstream.Response{Header: []upstream.Field{{Name: "Content-Type", Value: "application/vnd.amazon.eventstream"}}, Framing: upstream.Chunked}
	send := func(event string, payload object) {
		r.Chunks = append(r.Chunks, upstream.Chunk{Bytes: amazonMessage(event, text(payload))})
	}
	deltas := func(index int, wrap func(string) object, parts []string) {
		for _, p := range parts {
			send("contentBlockDelta", object{"contentBlockIndex": index, "delta": wrap(p)})
		}
		send("contentBlockStop", object{"contentBlockIndex": index})
	}
	send("messageStart", object{"role": "assistant"})
	index := 0
	if a.text != "" {
		deltas(index, func(p string) object { return object{"text": p} }, textDeltas(a.text))
		index++
	}
	for _, c := range a.calls {
		send("contentBlockStart", object{"contentBlockIndex": index, "start": object{"toolUse": object{"toolUseId": c.id, "name": c.name}}})
		deltas(index, func(p string) object { return object{"toolUse": object{"input": p}} }, textDeltas(c.args))
		index++
	}
	send("messageStop", object{"stopReason": converseReason(a)})
	send("metadata", object{"usage": converseUsage(q, a), "metrics": object{"latencyMs": 1}})
	return r
}

// stringHeader is the type of a header that is a string.
const stringHeader = 7

// amazonMessage is a message of an event stream: its length, the length of its headers, the checksum
// of both, headers, payload, the checksum of all.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html, read 2026-11.
func amazonMessage(event, payload string) []byte {
	var headers []byte
	for _, h := range [][2]string{{":event-type", event}, {":content-type", "application/json"}, {":message-type", "event"}} {
		headers = append(append(headers, byte(len(h[0]))), h[0]...)
		headers = binary.BigEndian.AppendUint16(append(headers, stringHeader), uint16(len(h[1])))
		headers = append(headers, h[1]...)
	}
	const framing = 16 // two lengths and two checksums
	b := binary.BigEndian.AppendUint32(nil, uint32(framing+len(headers)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

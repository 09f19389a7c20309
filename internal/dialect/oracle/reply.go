package oracle

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// DecodeResponse reads {"modelId":…,"chatResponse":{"apiFormat":"GENERIC","choices":[…]}}.
// Cohere's formats replace the choices. The response id is that of the request, which is in the
// header opc-request-id.
func (chat) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	r := &llm.Response{ID: incoming.Header.Get("opc-request-id"), Model: jsonedit.Text(incoming.Body, "modelId")}
	body, _ := jsonedit.Find(incoming.Body, "chatResponse")
	switch jsonedit.Text(body, "apiFormat") {
	case cohere:
		if err := readCohere(body, r); err != nil {
			return nil, err
		}
		return r, nil
	case cohereV2:
		if err := readV2(body, r); err != nil {
			return nil, err
		}
		return r, nil
	}
	for name, val := range jsonedit.Members(body) {
		switch string(name) {
		case `"timeCreated"`:
			r.Created = seconds(val)
		case `"choices"`:
			for c := range jsonedit.Elements(val) {
				r.Choices = append(r.Choices, readChoice(c, len(r.Choices), &r.Usage))
			}
		case `"usage"`:
			readUsage(val, &r.Usage)
		case `"apiFormat"`:
		default:
			r.Extra = extra(r.Extra, name, val)
		}
	}
	if len(r.Choices) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no choices")
	}
	return r, nil
}

// seconds parses "2026-11-20T12:00:00.123Z" into Unix seconds. It returns 0 if raw is not a time.
func seconds(raw []byte) int64 {
	s, _ := jsonedit.Unquote(raw)
	created, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0
	}
	return created.Unix()
}

func extra(list []llm.Param, name, val []byte) []llm.Param {
	if jsonedit.IsNull(val) {
		return list
	}
	s, _ := jsonedit.Unquote(name)
	return append(list, llm.Param{Name: s, Raw: val})
}

func readChoice(raw []byte, i int, u *llm.Usage) llm.Choice {
	c := llm.Choice{Index: i}
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"index"`:
			if n, err := strconv.Atoi(string(val)); err == nil {
				c.Index = n
			}
		case `"message"`:
			c.Parts = readMessage(val, &c)
		case `"finishReason"`:
			c.Raw, _ = jsonedit.Unquote(val)
		case `"logprobs"`:
			c.Logprobs = readLogprobs(val)
		case `"usage"`: // some models report the usage in the choice
			readUsage(val, u)
		case `"apiFormat"`, `"id"`, `"errorMessage"`, `"prompt"`: // a response in Cohere's newer format is one choice
		default:
			c.Extra = extra(c.Extra, name, val)
		}
	}
	c.Finish = finished(c.Raw, c.HasToolCalls())
	return c
}

// finishes maps the finish reasons in lower case. The service uses the spelling of each model's
// maker.
var finishes = map[string]llm.Finish{
	"": llm.FinishNone, "length": llm.FinishLength, "max_tokens": llm.FinishLength,
	"tool_calls": llm.FinishToolCalls, "tool_call": llm.FinishToolCalls, "function_call": llm.FinishToolCalls,
	"content_filter": llm.FinishFilter, "content_filtered": llm.FinishFilter, "error_limit": llm.FinishLength, "safety": llm.FinishFilter, "error_toxic": llm.FinishFilter,
}

// finished returns the finish reason of a response that is known to call tools or not. The tool
// calls decide, because some models report the same reason with and without them.
func finished(reason string, called bool) llm.Finish {
	switch f := finishOf(reason); {
	case f == llm.FinishStop && called:
		return llm.FinishToolCalls
	case f == llm.FinishToolCalls && !called:
		return llm.FinishStop
	default:
		return f
	}
}

func finishOf(reason string) llm.Finish {
	if f, known := finishes[strings.ToLower(reason)]; known {
		return f
	}
	return llm.FinishStop
}

// message contains the raw fields of a response message.
type message struct{ reasoning, plan, content, refusal, calls []byte }

func (m *message) read(raw []byte, other func(name, val []byte)) {
	for name, val := range jsonedit.Members(raw) {
		if jsonedit.IsNull(val) {
			continue
		}
		switch string(name) {
		case `"reasoningContent"`:
			m.reasoning = val
		case `"toolPlan"`: // text of a Cohere model next to its tool calls
			m.plan = val
		case `"content"`:
			m.content = val
		case `"refusal"`:
			m.refusal = val
		case `"toolCalls"`:
			m.calls = val
		case `"role"`, `"name"`:
		default:
			other(name, val)
		}
	}
}

func readMessage(raw []byte, c *llm.Choice) []llm.Part {
	var m message
	m.read(raw, func(name, val []byte) { c.Extra = extra(c.Extra, name, val) })
	var parts []llm.Part
	if s, _ := jsonedit.Unquote(m.reasoning); s != "" {
		parts = append(parts, llm.Part{Kind: llm.ReasoningPart, Text: s})
	}
	for val := range jsonedit.Elements(m.content) {
		kind, raw := contentOf(val)
		if s, _ := jsonedit.Unquote(raw); s != "" {
			parts = append(parts, llm.Part{Kind: kind, Text: s})
		}
	}
	if s, _ := jsonedit.Unquote(m.plan); s != "" {
		parts = append(parts, llm.Part{Kind: llm.TextPart, Text: s})
	}
	if s, _ := jsonedit.Unquote(m.refusal); s != "" {
		parts = append(parts, llm.Part{Kind: llm.RefusalPart, Text: s})
	}
	for val := range jsonedit.Elements(m.calls) {
		fn := function(val)
		call := &llm.ToolCall{ID: cmp.Or(jsonedit.Text(val, "id"), ident.NewObjectID("call_")), Name: jsonedit.Text(fn, "name"), Arguments: jsonedit.Text(fn, "arguments")}
		if call.Name == "" { // a call without a name cannot run
			continue
		}
		parts = append(parts, llm.Part{Kind: llm.CallPart, Call: call})
	}
	return parts
}

// contentOf returns the raw text of a content element and whether it is text or reasoning.
func contentOf(raw []byte) (llm.PartKind, []byte) {
	if reasoning, ok := jsonedit.Find(raw, "thinking"); ok {
		return llm.ReasoningPart, reasoning
	}
	text, _ := jsonedit.Find(raw, "text")
	return llm.TextPart, text
}

// function returns the object with the name and arguments of a call: the call itself, or an inner
// object in Cohere's newer format.
func function(call []byte) []byte {
	if fn, ok := jsonedit.Find(call, "function"); ok {
		return fn
	}
	return call
}

// readUsage reads {"promptTokens":1,"completionTokens":2,"totalTokens":3,…}.
func readUsage(raw []byte, u *llm.Usage) {
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"promptTokens"`:
			count(val, &u.InputTokens)
		case `"completionTokens"`:
			count(val, &u.OutputTokens)
		case `"totalTokens"`:
			count(val, &u.TotalTokens)
		case `"promptTokensDetails"`:
			cached, _ := jsonedit.Find(val, "cachedTokens")
			count(cached, &u.CachedTokens)
		case `"completionTokensDetails"`:
			reasoning, _ := jsonedit.Find(val, "reasoningTokens")
			count(reasoning, &u.ReasoningTokens)
		default:
			continue
		}
		u.Reported = true
	}
	if u.TotalTokens == 0 {
		u.TotalTokens = u.InputTokens + u.OutputTokens
	}
}

func count(raw []byte, to *int64) {
	if n, ok := usage.Count(raw); ok {
		*to = n
	}
}

// readLogprobs converts three parallel lists to chat's format. It returns nil if they are empty.
func readLogprobs(raw []byte) []byte {
	list := logprobEntries(raw)
	if list == nil {
		return nil
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Raw("content", list)
	w.Close('}')
	return w.B
}

// logprobEntries returns the list of entries in chat's format, nil if there are none. It reads
// tokens ["a"], tokenLogprobs [-0.1] and topLogprobs [{"a":-0.1,"b":-2}].
func logprobEntries(raw []byte) []byte {
	tokens, _ := jsonedit.Find(raw, "tokens")
	chosen, _ := jsonedit.Find(raw, "tokenLogprobs")
	tops, _ := jsonedit.Find(raw, "topLogprobs")
	probs, others := elements(chosen), elements(tops)
	var w jsonwriter.Writer
	w.Open('[')
	i := 0
	for token := range jsonedit.Elements(tokens) {
		if i >= len(probs) {
			break
		}
		w.Open('{')
		w.Raw("token", token)
		w.Raw("logprob", probs[i])
		w.Raw("bytes", []byte("null"))
		w.Key("top_logprobs").Open('[')
		if i < len(others) {
			for name, val := range jsonedit.Members(others[i]) {
				w.Open('{')
				w.Raw("token", name)
				w.Raw("logprob", val)
				w.Raw("bytes", []byte("null"))
				w.Close('}')
			}
		}
		w.Close(']')
		w.Close('}')
		i++
	}
	w.Close(']')
	if i == 0 {
		return nil
	}
	return w.B
}

func elements(raw []byte) [][]byte {
	var list [][]byte
	for val := range jsonedit.Elements(raw) {
		list = append(list, val)
	}
	return list
}

package gemini

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/dialect/signatures"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// DecodeResponse reads a response.
// Source: contract/provider-transforms.md 4.4.
func (generate) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	if !jsonedit.Valid(incoming.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a JSON object")
	}
	r := &llm.Response{}
	var feedback []byte
	for name, val := range jsonedit.Members(incoming.Body) {
		switch string(name) {
		case `"candidates"`:
			for c := range jsonedit.Elements(val) {
				r.Choices = append(r.Choices, readCandidate(c, len(r.Choices)))
			}
		case `"modelVersion"`:
			r.Model = plainText(val)
		case `"responseId"`:
			r.ID = plainText(val)
		case `"createTime"`:
			if created, err := time.Parse(time.RFC3339, plainText(val)); err == nil {
				r.Created = created.Unix()
			}
		case `"usageMetadata"`:
			r.Usage = readUsage(val)
		case `"promptFeedback"`:
			feedback = val
			r.Extra = append(r.Extra, llm.Param{Name: "promptFeedback", Raw: val})
		}
	}
	r.Usage.SearchUnits = searches(r.Model, len(r.Choices), func(i int) (n int64) {
		for _, p := range r.Choices[i].Extra {
			if p.Name == grounding {
				n = searchesOf(p.Raw, r.Model)
			}
		}
		return n
	})
	if r.Usage.Tier = cmp.Or(r.Usage.Tier, tierOf(incoming)); r.Usage.Tier != "" {
		r.Extra = append(r.Extra, tierExtra(r.Usage.Tier))
	}
	if err := failedAll(r.Choices); err != nil {
		return nil, err
	}
	if len(r.Choices) > 0 {
		return r, nil
	}
	reason, blocked := jsonedit.Find(feedback, "blockReason")
	if !blocked {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no candidates")
	}
	r.Choices = []llm.Choice{{Finish: llm.FinishFilter, Raw: plainText(reason)}}
	return r, nil
}

// failedAll returns the error of a response that has no usable candidate, otherwise nil.
func failedAll(choices []llm.Choice) error {
	var first *fault.Error
	for i := range choices {
		c := &choices[i]
		var message string
		for _, p := range c.Extra {
			if p.Name == finishMessage {
				message = plainText(p.Raw)
			}
		}
		text, status, failed := failureOf(c.Raw, message)
		switch {
		case !failed:
			return nil
		case first == nil:
			first = asFault(c.Raw, text, status)
		}
	}
	if first == nil {
		return nil
	}
	return first
}

func readCandidate(raw []byte, i int) llm.Choice {
	c := llm.Choice{Index: i}
	called := false
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"index"`:
			if n, err := strconv.Atoi(string(val)); err == nil {
				c.Index = n
			}
		case `"content"`:
			parts, _ := jsonedit.Find(val, "parts")
			c.Parts, called = readParts(parts)
		case `"finishReason"`:
			c.Raw = plainText(val)
		case `"logprobsResult"`:
			if list := logprobs(val); list != nil {
				c.Logprobs = bytes.Join([][]byte{[]byte(`{"content":`), list, {'}'}}, nil)
			}
		default:
			if n, ok := extra(name); ok {
				c.Extra = append(c.Extra, llm.Param{Name: n, Raw: val})
			}
		}
	}
	c.Finish = finishOf(c.Raw, called)
	return c
}

// extra names the other fields of a candidate, for callers that are not strict.
// Source: contract/provider-transforms.md 0.2, 1.1.
func extra(name []byte) (string, bool) {
	switch n := plainText(name); n {
	case "tokenCount":
		return "", false // is in the usage
	case "finishMessage":
		return finishMessage, true
	default:
		return n, true
	}
}

// readParts reads the content. Adjacent texts become one part, unless a signature ends
// the first.
func readParts(list []byte) (parts []llm.Part, called bool) {
	var s candidateContent
	var text strings.Builder // of the last part, when it has several fragments
	join := func() {
		if text.Len() > 0 {
			parts[len(parts)-1].Text = text.String()
			text.Reset()
		}
	}
	for raw := range jsonedit.Elements(list) {
		s.read(raw)
		if s.empty {
			continue
		}
		called = called || s.kind == llm.CallPart
		if n := len(parts); n > 0 && s.continues(parts[n-1].Kind, parts[n-1].Signature != "") {
			if text.Len() == 0 {
				text.WriteString(parts[n-1].Text)
			}
			text.WriteString(plainText(s.text))
			parts[n-1].Signature = plainText(s.signature)
			parts[n-1] = signatures.SignedBy(signerOf(s.kind), parts[n-1])
			continue
		}
		join()
		parts = append(parts, s.part(raw))
	}
	join()
	return parts, called
}

// continues reports whether a text of that kind continues the part.
func (s *candidateContent) continues(kind llm.PartKind, signed bool) bool {
	return s.kind == kind && !signed && (kind == llm.TextPart || kind == llm.ReasoningPart)
}

func (s *candidateContent) part(raw []byte) llm.Part {
	p := llm.Part{Kind: s.kind, Index: -1, Signature: plainText(s.signature)}
	switch s.kind {
	case llm.TextPart, llm.ReasoningPart:
		p.Text = plainText(s.text)
		return signatures.SignedBy(signerOf(s.kind), p)
	case llm.CallPart:
		p.Call = &llm.ToolCall{ID: s.callID(), Name: plainText(s.name), Arguments: s.arguments()}
	case llm.ImagePart, llm.AudioPart, llm.FilePart:
		p.Media = s.media()
	default:
		p.Raw, p.Shape = raw, shapeName
	}
	return p
}

// callID returns the provider's id of a call, or a new one, because most responses have
// no id. The id contains the call's signature, which the caller must send back.
func (s *candidateContent) callID() string {
	id := plainText(s.id)
	if id == "" {
		id = ident.NewObjectID("call_")
	}
	return signatures.SignedID(id, plainText(s.signature))
}

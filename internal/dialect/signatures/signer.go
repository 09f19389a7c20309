package signatures

import (
	"strings"

	"sluice/internal/kernel/llm"
)

// signersMark separates the name of the signing shape from the signature that the caller
// receives. It does not occur in base64.
const signersMark = ":"

// ClaudeSigner is the signer of Claude's reasoning. Its signatures are valid on every host.
// Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking, read 2026-11.
const ClaudeSigner = "anthropic"

// nativeSigner is the shape whose signatures a surface contains unchanged. A signature
// without a name belongs to that shape.
// Source: contract/provider-transforms.md 1.1, content_blocks.
var nativeSigner = map[llm.Endpoint]string{llm.Messages: ClaudeSigner, llm.ChatComplete: ClaudeSigner, llm.CreateModelResponse: "responses"}

// Signer adds the name of the signer to the reasoning of one response, so that
// only that provider receives it back. A provider rejects a conversation with an unknown or
// a missing signature. Callers return "__thought__gemini:CpQB" unchanged, and "__thought__:"
// for unsigned reasoning. A Signer belongs to one goroutine.
type Signer struct {
	surface llm.Endpoint
	signed  map[[2]int]bool // by choice and block of a stream, once text was seen: whether the signature has begun
}

// NewSigner returns the Signer for a response to a caller of that surface.
func NewSigner(surface llm.Endpoint) *Signer {
	return &Signer{surface: surface}
}

// RewriteResponse adds signer names to a complete response.
func (s *Signer) RewriteResponse(r *llm.Response) {
	for i := range r.Choices {
		for k := range r.Choices[i].Parts {
			switch p := &r.Choices[i].Parts[k]; p.Kind {
			case llm.ReasoningPart:
				if p.Signature != "" || p.Text == "" {
					p.Signature = s.name(p.Shape, p.Signature)
				} else {
					p.Signature = s.unsigned()
				}
			case llm.SealedPart:
				p.Text = s.redact(p.Shape, p.Text)
			default: // has no signature, or has it in another form
			}
		}
	}
}

// Event passes a stream event to emit. It adds the name of the signer before the first
// fragment of a signature. Before the end of unsigned reasoning it emits a signature that
// marks it as unsigned.
func (s *Signer) Event(ev *llm.Event, emit func(*llm.Event)) {
	key := [2]int{ev.Choice, ev.Block}
	signed, seen := s.signed[key]
	switch {
	case ev.Kind == llm.EventBlock && ev.Part == llm.SealedPart:
		ev.Text = s.redact(ev.Name, ev.Text)
	case ev.Part != llm.ReasoningPart:
	case ev.Kind == llm.EventText && !seen && ev.Text != "":
		s.note(key, false)
	case ev.Kind == llm.EventSignature && !signed:
		s.note(key, true)
		ev.Text = s.name(ev.Name, ev.Text)
	case ev.Kind == llm.EventBlockEnd && seen && !signed && s.unsigned() != "":
		emit(&llm.Event{Kind: llm.EventSignature, Choice: ev.Choice, Block: ev.Block, Part: ev.Part, Text: s.unsigned()})
	}
	emit(ev)
}

func (s *Signer) note(key [2]int, signed bool) {
	if s.signed == nil {
		s.signed = make(map[[2]int]bool)
	}
	s.signed[key] = signed
}

func (s *Signer) name(shape, signature string) string {
	if signature == "" || shape == "" || shape == nativeSigner[s.surface] {
		return signature
	}
	return signedMark + shape + signersMark + signature
}

// redactedMark follows the signer's name of redacted reasoning in responses. An item there has
// one field both for the signature of reasoning without text and for redacted reasoning. The
// mark distinguishes the two.
const redactedMark = "/redacted"

// redact is name for redacted reasoning: "__thought__anthropic/redacted:EmwK".
func (s *Signer) redact(shape, data string) string {
	if s.surface != llm.CreateModelResponse || data == "" || shape == nativeSigner[s.surface] {
		return s.name(shape, data)
	}
	return signedMark + shape + redactedMark + signersMark + data
}

// unsigned is the marker for reasoning without a signature. It is empty in chat, where callers
// do not return reasoning to providers unchanged.
func (s *Signer) unsigned() string {
	if s.surface == llm.ChatComplete {
		return ""
	}
	return signedMark + signersMark
}

// readSigner splits a signature into the signer's name and the plain signature. A signature
// without a name belongs to the surface's own shape. In responses it may also be Claude's,
// unless it is a Fernet token like OpenAI's, which begins with a version and a time. Redacted
// reports whether the mark of redact is present.
// Source: contract/provider-transforms.md 10.1.
func readSigner(surface llm.Endpoint, signature string) (shape, plain string, redacted bool) {
	if rest, named := strings.CutPrefix(signature, signedMark); named {
		if shape, plain, named = strings.Cut(rest, signersMark); named {
			shape, redacted = strings.CutSuffix(shape, redactedMark)
			return shape, plain, redacted
		}
	}
	switch {
	case signature == "":
		return "", "", false
	case surface == llm.CreateModelResponse && !strings.HasPrefix(signature, "gAAAA"):
		return ClaudeSigner, signature, false
	}
	return nativeSigner[surface], signature, false
}

// SignedBy sets the shape of a reasoning part to the shape that signed it, if it is signed.
func SignedBy(shape string, p llm.Part) llm.Part {
	if p.Kind == llm.SealedPart || p.Signature != "" {
		p.Shape = shape
	}
	return p
}

// Path is the path of a reasoning signature in the caller's body.
func Path(c *llm.Call, m *llm.Message, p *llm.Part) string {
	if c.Surface == llm.CreateModelResponse {
		return c.Path(m, p.Index) + ".encrypted_content"
	}
	return c.Path(m, p.Index) + ".signature"
}

// IsClaude reports whether Claude accepts a reasoning part or a redacted one as its own.
func IsClaude(p *llm.Part) bool {
	return (p.Kind == llm.SealedPart || p.Signature != "") && Knows(ClaudeSigner, p)
}

// Knows reports whether a provider of that shape may receive the signature of a reasoning part,
// or redacted reasoning. It may if that shape signed it or if the signer is unknown.
func Knows(shape string, p *llm.Part) bool { return p.Shape == "" || p.Shape == shape }

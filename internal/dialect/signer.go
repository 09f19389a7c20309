package dialect

import (
	"strings"

	"sluice/internal/llm"
)

// signersMark ends the name of the shape in which thoughts were signed, where the caller
// gets it before their signature. No base64 has it.
const signersMark = ":"

// ClaudeSigner is who signs the thoughts of Claude: its signatures hold wherever it runs.
// Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking, read 2026-11.
const ClaudeSigner = "anthropic"

// nativeSigner is the shape whose signatures a surface has as they are: what stands there
// without a name is its own.
// Source: contract/provider-transforms.md 1.1, content_blocks.
var nativeSigner = map[llm.Endpoint]string{llm.Messages: ClaudeSigner, llm.ChatComplete: ClaudeSigner, llm.CreateModelResponse: "responses"}

// ReasoningSignatures names who signed the thoughts of one answer, so that they go back to nobody else:
// a provider refuses a conversation with a signature that it does not know, or with none.
// Callers give back "__thought__gemini:CpQB" as they got it, and "__thought__:" of a thought
// that nobody signed. A Signer belongs to one goroutine.
type ReasoningSignatures struct {
	surface llm.Endpoint
	signed  map[[2]int]bool // of a stream, that have said something: whether their signature has begun
}

// NewSigner makes the Signer of an answer to a caller of that surface.
func NewSigner(surface llm.Endpoint) *ReasoningSignatures {
	return &ReasoningSignatures{surface: surface}
}

// RewriteResponse names the signers in a whole answer.
func (s *ReasoningSignatures) RewriteResponse(r *llm.Response) {
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
			default: // has none, or one that travels otherwise
			}
		}
	}
}

// Event hands an event of a stream to emit with the name of the signer before the first piece
// of a signature, and the end of a thought that nobody signed behind a signature that says so.
func (s *ReasoningSignatures) Event(ev *llm.Event, emit func(*llm.Event)) {
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

func (s *ReasoningSignatures) note(key [2]int, signed bool) {
	if s.signed == nil {
		s.signed = make(map[[2]int]bool)
	}
	s.signed[key] = signed
}

func (s *ReasoningSignatures) name(shape, signature string) string {
	if signature == "" || shape == "" || shape == nativeSigner[s.surface] {
		return signature
	}
	return signedMark + shape + signersMark + signature
}

// redactedMark follows the name of the signer of thoughts that are sealed, on responses: an item
// there has one field for the signature of a thought without words and for a sealed thought.
// Without the mark the one could not be distinguished from the other.
const redactedMark = "/redacted"

// redact is name for thoughts that are sealed: "__thought__anthropic/redacted:EmwK".
func (s *ReasoningSignatures) redact(shape, data string) string {
	if s.surface != llm.CreateModelResponse || data == "" || shape == nativeSigner[s.surface] {
		return s.name(shape, data)
	}
	return signedMark + shape + redactedMark + signersMark + data
}

// unsigned is the signature of thoughts without one, where callers give them back to providers
// as they are; in chat they do not.
func (s *ReasoningSignatures) unsigned() string {
	if s.surface == llm.ChatComplete {
		return ""
	}
	return signedMark + signersMark
}

// readSigner takes the name of the signer off a signature. One without is of the surface's
// own shape; in responses it may be Claude's, too, unless it is a Fernet token as OpenAI's
// are, whose first bytes are a version and a time. Redacted reports the mark of redact.
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

// SignedBy is a thought of a provider's answer with the shape that signed it, if anybody did.
func SignedBy(shape string, p llm.Part) llm.Part {
	if p.Kind == llm.SealedPart || p.Signature != "" {
		p.Shape = shape
	}
	return p
}

// SignatureAt is where the caller has the signature of a thought.
func SignatureAt(c *llm.Call, m *llm.Message, p *llm.Part) string {
	if c.Surface == llm.CreateModelResponse {
		return c.Path(m, p.Index) + ".encrypted_content"
	}
	return c.Path(m, p.Index) + ".signature"
}

// IsClaudeReasoning reports whether Claude takes a thought, or a sealed one, for its own.
func IsClaudeReasoning(p *llm.Part) bool {
	return (p.Kind == llm.SealedPart || p.Signature != "") && Knows(ClaudeSigner, p)
}

// Knows reports whether a provider of that shape may get the signature of a thought, or
// thoughts that are sealed: it signed them, or nobody knows who did.
func Knows(shape string, p *llm.Part) bool { return p.Shape == "" || p.Shape == shape }

package guardrails

import (
	"context"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/guardedstream"
	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/gateway/guardrails/placeholder"
)

// Restore replaces the placeholders of a vault in a complete response by their values. A response
// whose texts cannot be read stays as it is. Reasoning stays, too: clients send it back, and its
// signature covers each byte. So do the tokens of log probabilities.
func Restore(v *placeholder.Vault, shape string, body []byte) []byte {
	if v.Len() == 0 {
		return body
	}
	texts, err := passage.ResponseShape(shape, body)
	if err != nil {
		return body
	}
	for i, p := range texts.Passages() {
		if p.Signed || p.Kind == passage.Reasoning || p.Kind == passage.Tokens {
			continue
		}
		if out := v.Restore(p.Text); out != p.Text {
			texts.Replace(i, out)
		}
	}
	return texts.Bytes()
}

// RestoreStream returns a judge that denies nothing and replaces the placeholders of a vault in a
// stream by their values. It holds back the length of a placeholder.
func RestoreStream(v *placeholder.Vault) guardedstream.Judge { return &streamRestorer{v} }

// streamRestorer implements guardedstream.Judge.
type streamRestorer struct{ vault *placeholder.Vault }

// Window returns the length of the longest placeholder: a window contains each as a whole.
func (r *streamRestorer) Window() int { return r.vault.MaxLength() }

// Hold returns false.
func (r *streamRestorer) Hold() bool { return false }

// Piece replaces the placeholders. Those in reasoning and in log probabilities stay.
func (r *streamRestorer) Piece(_ context.Context, p guardedstream.Piece) (v guardedstream.Verdict) {
	if p.Channel.Kind == guardedstream.KindReasoning || p.Channel.Kind == guardedstream.KindLogprobs {
		return v
	}
	text := plainText(p.Channel, p.Text)
	for _, at := range r.vault.Find(text.plain) {
		e := check.Edit{Start: at.Start, End: at.End, With: at.Value}
		if out, ok := placed(p.Channel, &text, e, p.Context); ok {
			v.Edits = append(v.Edits, out)
		}
	}
	return v
}

// Finish accepts the answer.
func (r *streamRestorer) Finish(context.Context, *guardedstream.Answer) guardedstream.Final {
	return guardedstream.Final{}
}

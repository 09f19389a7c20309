package gateway

import (
	"slices"

	"sluice/internal/dialect"
	"sluice/internal/gateway/call"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
)

// requestText returns the body that input hooks judge: the JSON of the request with the parameters of the
// target, or for a form its prompt as JSON. It is nil for a body that cannot be read.
func (s *guardrailStep) requestText(a *attempt) ([]byte, error) {
	x := a.x
	switch {
	case x.form != nil:
		return promptOf(a), nil
	case x.doc != nil:
		return s.shaper.withParams(a), nil
	case x.direct != nil, x.spool == nil:
		return nil, nil // a body that is not read
	}
	return x.spool.Bytes()
}

// withParams returns the JSON of the request with the parameters of the target: they may contain text
// that no hook has judged, also if the caller sent the config.
func (sh *shaper) withParams(a *attempt) []byte {
	s := a.shaping()
	if len(s.Default)+len(s.Override)+len(s.Drop) == 0 {
		return a.x.doc.Source()
	}
	edits := sh.dialect.Shape(llm.Proxy, a.x.doc, dialect.Shaping{Default: s.Default, Override: s.Override, Drop: s.Drop}).Edits
	return a.x.doc.Apply(edits)
}

// promptOf returns the prompt of a form as JSON, {"prompt":"…"}: that of the target's parameters if they
// set one. It is nil if hooks cannot read what the provider would: several prompts, a file or a long one.
func promptOf(a *attempt) []byte {
	prompt, sent := a.x.form.Value("prompt")
	count := 0
	for i := range a.x.form.Parts {
		if a.x.form.Parts[i].Name == "prompt" {
			count++
		}
	}
	if count > 1 || count == 1 && !sent {
		return nil
	}
	text := jsonedit.Quote(prompt)
	if raw, set := call.FindParam(a.target.Override, "prompt"); set {
		text = raw
	} else if raw, set := call.FindParam(a.target.Default, "prompt"); set && !sent {
		text = raw
	}
	return slices.Concat([]byte(`{"prompt":`), text, []byte("}"))
}

// formEdits returns the edits of a form after hooks ran: the prompt that they changed is the last word.
func (a *attempt) formEdits(edits []multipartedit.Edit) []multipartedit.Edit {
	if a.formPrompt == nil {
		return edits
	}
	return append(edits, multipartedit.Set("prompt", *a.formPrompt))
}

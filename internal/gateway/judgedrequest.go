package gateway

import (
	"sluice/internal/kernel/llm"
)

// requestText returns the body that input hooks judge: the JSON of the request with the parameters of the
// target, or for a form its fields as JSON. It is nil for a body that cannot be read.
func (s *guardrailStep) requestText(a *attempt) ([]byte, error) {
	x := a.x
	switch {
	case x.form != nil:
		return formBody(formTexts(a)), nil
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
	edits := sh.dialect.Shape(llm.Proxy, a.x.doc, s).Edits
	return a.x.doc.Apply(edits)
}

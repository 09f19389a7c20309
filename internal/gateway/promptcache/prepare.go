package promptcache

import (
	"sluice/internal/dialect/claude"
	"sluice/internal/gateway/promptcache/marks"
	"sluice/internal/kernel/jsonedit"
)

// Options are what the config of a call requests.
type Options struct {
	Auto bool // provider_cache is "auto": place marks
	Hour bool // let them last an hour where the target accepts that
}

// Prepared is a body that is ready for the prompt cache of its target.
type Prepared struct {
	Body    []byte
	Placed  []string // blocks that got a mark: ["system", "messages[2].content[0]"]
	Dropped []string // marks that the target does not accept: ["system[0].cache_control"]
	Hour    bool     // a mark of the body lasts an hour; for Lifetime
}

// MayApply reports whether a caller's body may contain marks, or the line of coding agents, so that
// Prepare without Options.Auto may change it. It is false for most bodies and needs no parsing.
func MayApply(body []byte) bool { return marks.MayContain(body) || claude.HasAttribution(body) }

// Prepare changes the complete upstream body of a call for the prompt cache of the target: it places
// marks where they are requested, removes those that the target does not accept, and removes the line
// that coding agents write before their instructions, which would change the prefix with every call.
// It returns the body itself if nothing has to change. All bytes that it does not have to change stay
// equal, so that a conversation has the same prefix in every call.
//
// Apply it as the last change of a body, after translation and shaping. Do not apply it to bodies of
// other endpoints.
func (s Support) Prepare(body []byte, o Options) Prepared {
	if s.Kind != Unknown && s.Rules.Form == marks.Messages && !s.ReadsAttribution {
		body = withoutAttribution(body)
	}
	switch s.Kind {
	case None, Automatic:
		rest, dropped := marks.Drop(body, s.Rules.Form)
		return Prepared{Body: rest, Dropped: dropped}
	case Marked:
		if o.Auto {
			p := marks.Place(body, s.Rules, o.Hour)
			return Prepared{Body: p.Body, Placed: p.Paths, Hour: p.Hour}
		}
		return Prepared{Body: body, Hour: marks.HasHour(body, s.Rules.Form)}
	default:
		return Prepared{Body: body}
	}
}

// withoutAttribution removes the line from the system prompt of a Messages body.
func withoutAttribution(body []byte) []byte {
	if !claude.HasAttribution(body) {
		return body
	}
	var d jsonedit.Doc
	if jsonedit.Scan(body, &d) != nil {
		return body
	}
	system, ok := d.Raw("system")
	if !ok {
		return body
	}
	if system = claude.WithoutAttribution(system); system == nil {
		return d.Apply([]jsonedit.Edit{jsonedit.Drop("system")})
	}
	return d.Apply([]jsonedit.Edit{jsonedit.Set("system", system)})
}

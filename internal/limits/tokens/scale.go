package tokens

import "sluice/internal/kernel/llm"

// counter gets what the model will read, part by part, in any order. Estimates and maximums
// have one each.
type counter interface {
	text(s string)          // plain text
	sealed(size int)        // reasoning that only the provider can read, in bytes of base64
	turn(role, name string) // a message begins
	tool(t *llm.Tool)       // a tool that may be called
	medium(m *medium)       // an image, a recording, a document
	tokens(n int64)         // text that was sent as tokens
}

// estimate is the counter of a Counter.
type estimate struct {
	family    *family
	meter     meter
	total     int64
	turns     int
	tools     int
	functions int // of the tools, if the family reads them in a special form
	unseen    int
}

func (e *estimate) text(s string) {
	e.total += e.read(s)
}

// read returns the tokens of s in the family's vocabulary, at most its bytes, because
// tokenizers fall back to bytes.
func (e *estimate) read(s string) int64 {
	n := e.meter.count(s)
	if e.family.percent != 100 {
		n = (n*e.family.percent + 50) / 100
	}
	return min(n, int64(len(s)))
}

// sealedBytes is the number of base64 bytes per token of reasoning: 4.5 bytes of text, four
// thirds of which base64 uses.
const sealedBytes = 6

func (e *estimate) sealed(size int) { e.total += int64(size / sealedBytes) }

func (e *estimate) tokens(n int64) { e.total += n }

func (e *estimate) turn(_, name string) {
	e.turns++
	e.total += e.family.turn
	if name != "" {
		e.total += e.read(name) + e.family.name
	}
}

func (e *estimate) tool(t *llm.Tool) {
	e.tools++
	switch {
	case t.Type != llm.Function && len(t.Raw) > 0:
		e.text(string(t.Raw))
	case e.family.function != nil:
		e.functions++
		e.total += e.family.function.count(e, t)
	default:
		e.text(t.Name)
		e.text(t.Description)
		e.text(string(t.Schema))
	}
}

func (e *estimate) medium(m *medium) {
	if m.plain {
		e.text(m.text)
		return
	}
	n, unseen := m.estimate(e.family)
	e.total += n
	if unseen {
		e.unseen++
	}
}

func (e *estimate) count() Count {
	n := e.total
	if e.turns > 0 {
		n += e.family.responseTokens
	}
	if e.tools > 0 {
		n += e.family.toolset
	}
	if e.functions > 0 {
		n += e.family.function.end
	}
	return Count{Tokens: n, Extrapolated: e.meter.extrapolated, Unseen: e.unseen}
}

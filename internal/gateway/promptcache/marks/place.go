package marks

import (
	"slices"
	"strconv"
)

// Placement is the result of Place.
type Placement struct {
	Body  []byte   // the body with the marks; the body itself if none was placed
	Paths []string // blocks that got a mark: ["tools[3]", "system", "messages[8].content[1]"]
	// Hour is set if a mark of the body lasts an hour, whether it was placed or the caller's own.
	Hour bool
	// Marks is the number of marks in the body, the caller's own included.
	Marks int
}

// bytesPerToken is less than the bytes of a token in most languages, so that no prefix is taken for
// too small. An English text has about four.
const bytesPerToken = 3

// Place adds marks to an upstream body: after the tools, after the system prompt, and on the last
// two turns of the user, so that the next call reads what this one wrote. With hour, the marks last
// an hour where that is possible.
//
// The caller's own marks stay as they are. Place adds none to a part of the prompt (tools, system
// prompt, conversation) in which the caller has marks, no more than MaxMarks in all, none to
// prefixes below the minimum size, and none to blocks that cannot have one. A mark of an hour never
// follows one of five minutes, which providers reject. When marks are scarce, the last turn comes
// first, then the system prompt, the turn before, and the tools.
//
// A body that is not a JSON object, or that repeats a part of the prompt, stays unchanged. The cost
// is one pass over the body and one copy. Place is safe for concurrent use.
func Place(body []byte, rules Rules, hour bool) Placement {
	p := scan(body, rules)
	if !p.readable {
		return Placement{Body: body, Marks: len(p.marks), Hour: slices.ContainsFunc(p.marks, isHour)}
	}
	chosen := p.choose(rules, hour)
	slices.SortFunc(chosen, func(a, b choice) int { return a.from - b.from })
	result := Placement{Body: insert(body, chosen, rules.Form), Marks: len(p.marks), Hour: slices.ContainsFunc(p.marks, isHour)}
	for _, c := range chosen {
		result.Paths = append(result.Paths, c.path(rules.Form))
	}
	return result
}

// choose chooses the blocks that get marks, and adds these to the marks of the prompt.
func (p *prompt) choose(rules Rules, hour bool) (chosen []choice) {
	marked := p.markedZones()
	for _, s := range [...]spot{p.turn, p.system, p.previous, p.tools} {
		if s.to == 0 || marked[s.zone] || len(p.marks) >= MaxMarks || p.prefixBytes(s) < rules.MinTokens*bytesPerToken {
			continue
		}
		if lasts, ok := p.lifetime(s, hour, rules.Hour); ok {
			chosen = append(chosen, choice{s, lasts})
			p.marks = append(p.marks, mark{zone: s.zone, at: s.from, hour: lasts})
		}
	}
	return chosen
}

func isHour(m mark) bool { return m.hour }

// markedZones reports which zones contain marks of the caller.
func (p *prompt) markedZones() (marked [zoneCount]bool) {
	for _, m := range p.marks {
		marked[m.zone] = true
	}
	return marked
}

// prefixBytes is the size of the prompt up to the end of a block.
func (p *prompt) prefixBytes(s spot) int {
	n := s.size
	for z := range s.zone {
		n += p.bytes[z]
	}
	return n
}

// lifetime reports whether a new mark lasts an hour. It reports false for ok if no lifetime fits:
// all marks before it must last at least as long, and all after it at most as long.
func (p *prompt) lifetime(s spot, requested, accepted bool) (hour, ok bool) {
	needed, allowed := false, accepted
	for _, m := range p.marks {
		if m.zone > s.zone || m.zone == s.zone && m.at > s.from {
			needed = needed || m.hour
		} else {
			allowed = allowed && m.hour
		}
	}
	if needed && !allowed {
		return false, false
	}
	return needed || requested && allowed, true
}

// choice is a block that gets a mark.
type choice struct {
	spot
	hour bool
}

// path returns the path of the block: "tools[3]", "system", "messages[8].content[1]".
func (c *choice) path(f Form) string {
	path := "system"
	switch {
	case c.zone == toolZone && f == Converse:
		return "toolConfig.tools[" + strconv.Itoa(c.index) + "]"
	case c.zone == toolZone:
		return "tools[" + strconv.Itoa(c.index) + "]"
	case c.index >= 0:
		path = "messages[" + strconv.Itoa(c.index) + "].content"
	}
	if c.block >= 0 {
		path += "[" + strconv.Itoa(c.block) + "]"
	}
	return path
}

// The bytes that are inserted.
const (
	openText     = `[{"type":"text","text":`
	closeText    = `}]`
	control      = `,"cache_control":{"type":"ephemeral"}`
	controlHour  = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	point        = `,{"cachePoint":{"type":"default"}}`
	pointHour    = `,{"cachePoint":{"type":"default","ttl":"1h"}}`
	longestEdits = MaxMarks * (len(openText) + len(controlHour) + len(closeText))
)

// insert returns the body with the marks of the choices, which are in the order of the body.
func insert(body []byte, chosen []choice, f Form) []byte {
	if len(chosen) == 0 {
		return body
	}
	out := make([]byte, 0, len(body)+longestEdits)
	done := 0
	for _, c := range chosen {
		switch {
		case f == Converse:
			out = append(append(out, body[done:c.to]...), pick(c.hour, pointHour, point)...)
			done = c.to
		case c.text:
			out = append(append(out, body[done:c.from]...), openText...)
			out = append(append(out, body[c.from:c.to]...), pick(c.hour, controlHour, control)...)
			out = append(out, closeText...)
			done = c.to
		default:
			end := c.to - len("}")
			out = append(append(out, body[done:end]...), pick(c.hour, controlHour, control)...)
			done = end
		}
	}
	return append(out, body[done:]...)
}

func pick(hour bool, long, short string) string {
	if hour {
		return long
	}
	return short
}

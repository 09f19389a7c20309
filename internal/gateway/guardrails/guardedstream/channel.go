package guardedstream

import (
	"context"
	"slices"
	"strings"
)

// channel is the text of one Channel, as received. It decides which of it is final.
//
// The rule of the window: a character is final when the judge passed it together with at least a
// window of characters after it, or with the end of the channel. An edit that reaches into the last
// window is not final, and neither is the text from its start on. An event is released when all its
// text is final.
//
// A channel ends with an event of its format and at the end of the answer. It is idle, and treated as
// if it ended, when a window of other text of the same choice followed its last character, in at least
// idleEvents events. Chat streams have no event for the end of the reasoning: the text after it would
// wait for the end of the answer.
type channel struct {
	id      Channel
	text    []byte
	edits   []Edit // final, in order; offsets in text
	fixed   int    // the text before is final
	context int    // where the context of the next Piece begins
	// contextLength is the number of characters from context to fixed.
	contextLength int
	inString      bool // of JSON: fixed is inside a string
	judged        int  // length of the text at the last judgement
	judgedLast    bool
	released      int // the text before was released

	ended    bool      // the format or the answer ended it
	idle     bool      // a window of other text followed
	complete bool      // released as one, or dropped with its block: signed reasoning
	clock    clock     // of its choice, after its last text
	pending  *fragment // ends with a high surrogate
	high     rune      // that surrogate
}

// escaped reports whether the text is raw JSON.
func (c *channel) escaped() bool { return c.id.Kind == KindArguments }

func (c *channel) isOver() bool { return c.ended || c.idle }

// isFinal reports whether the text before an offset is final.
func (c *channel) isFinal(offset int) bool {
	if c.complete {
		return c.ended && c.fixed == len(c.text)
	}
	return c.fixed >= offset || c.isOver() && c.fixed == len(c.text)
}

// needsJudge reports whether a judgement may make the text before an offset final.
func (c *channel) needsJudge(offset, window int) bool {
	if c.fixed == len(c.text) || c.complete && !c.ended {
		return false
	}
	if c.isOver() {
		return c.judged < len(c.text) || !c.judgedLast
	}
	if offset > len(c.text) || countCharacters(c.text, offset, len(c.text), c.escaped()) < window {
		return false
	}
	// An edit that grows with the text is judged less and less often, so that the work is linear.
	fresh, open := len(c.text)-c.judged, len(c.text)-c.fixed
	return fresh > 0 && (open < maxOpenWindows*window || fresh >= open/4)
}

// maxContext limits the context of a judgement in bytes: signs that no one sees count in no window.
const maxContext = 64 << 10

// maxOpenWindows is the number of windows of open text that is judged with each event.
const maxOpenWindows = 16

// judgeText passes the text that is not final to the judge. It reports whether the judge denies.
func (c *channel) judgeText(ctx context.Context, j Judge, window int) (denied bool) {
	last := c.isOver()
	v := j.Piece(ctx, Piece{Channel: c.id, Text: string(c.text[c.context:]), Context: c.fixed - c.context, Last: last})
	c.judged, c.judgedLast = len(c.text), last
	if v.Deny {
		return true
	}
	limit := len(c.text)
	if !last {
		open := countCharacters(c.text, c.fixed, len(c.text), c.escaped())
		limit = skipCharacters(c.text, c.fixed, open-window, c.escaped())
	}
	c.apply(c.normal(v.Edits, c.context, c.fixed), limit)
	c.trimContext(2 * window)
	return false
}

// normal returns edits with offsets in the text of the channel, in order and without overlaps. Edits
// before from are cut off.
func (c *channel) normal(edits []Edit, offset, from int) []Edit {
	var out []Edit
	for _, e := range edits {
		valid := 0 <= e.Start && e.Start <= e.End && e.End+offset <= len(c.text)
		e.Start, e.End = e.Start+offset, e.End+offset
		if valid && (e.End > from || e.Start == from) {
			e.Start = max(e.Start, from)
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Edit) int { return a.Start - b.Start })
	merged := out[:0]
	for _, e := range out {
		if n := len(merged); n > 0 && e.Start < merged[n-1].End {
			merged[n-1].End = max(merged[n-1].End, e.End)
			continue
		}
		merged = append(merged, e)
	}
	return merged
}

// apply makes the text before limit final, with its edits. Edits beyond limit move it back.
func (c *channel) apply(edits []Edit, limit int) {
	for _, e := range slices.Backward(edits) {
		if e.Start < limit && e.End > limit {
			limit = e.Start
		}
	}
	limit = max(limit, c.fixed)
	for _, e := range edits {
		if e.End > limit || e.Start == limit && (!c.isOver() || limit != len(c.text)) {
			break
		}
		c.advance(e.Start)
		if c.escaped() {
			c.edits = append(c.edits, argumentEdits(c.text, e, c.inString)...)
		} else {
			c.edits = append(c.edits, e)
		}
		c.advance(e.End)
	}
	c.advance(limit)
}

// advance moves fixed forward.
func (c *channel) advance(to int) {
	for c.fixed < to {
		if c.escaped() && c.text[c.fixed] == '"' {
			c.inString = !c.inString
		}
		next, counted := step(c.text, c.fixed, c.escaped())
		if c.fixed = min(next, to); counted {
			c.contextLength++
		}
	}
}

// trimContext moves context forward, so that the context has at most this many characters.
func (c *channel) trimContext(length int) {
	for (c.contextLength > length || c.fixed-c.context > maxContext) && c.context < c.fixed {
		next, counted := step(c.text, c.context, c.escaped())
		if c.context = min(next, c.fixed); counted {
			c.contextLength--
		}
	}
}

// isEdited reports whether an edit changes the text from start to end.
func (c *channel) isEdited(start, end int) bool {
	for _, e := range c.edits[c.firstEdit(start):] {
		if e.Start > end {
			return false
		}
		if c.belongs(e, start, end) || e.Start < end && e.End > start {
			return true
		}
	}
	return false
}

// belongs reports whether the replacement of an edit is in the fragment from start to end: it begins
// there, or is an insertion at the end of the channel.
func (c *channel) belongs(e Edit, start, end int) bool {
	return e.Start >= start && (e.Start < end || e.Start == end && end == len(c.text) && e.End == end)
}

// firstEdit returns the index of the first edit that does not end before an offset.
func (c *channel) firstEdit(offset int) int {
	i, _ := slices.BinarySearchFunc(c.edits, offset, func(e Edit, offset int) int { return e.End - offset })
	return i
}

// edited returns the text from start to end after the edits. A replacement is part of the text where
// its edit begins.
func (c *channel) edited(start, end int) string {
	var b strings.Builder
	at := start
	for _, e := range c.edits[c.firstEdit(start):] {
		if e.Start > end {
			break
		}
		if e.Start > at {
			b.Write(c.text[at:min(e.Start, end)])
		}
		if c.belongs(e, start, end) {
			b.WriteString(e.With)
		}
		at = max(at, min(e.End, end))
	}
	b.Write(c.text[at:end])
	return b.String()
}

// moved returns where an offset between two fragments is after the edits.
func (c *channel) moved(offset int) int {
	delta := 0
	for _, e := range c.edits {
		if e.Start > offset || e.Start == offset && offset < len(c.text) {
			break
		}
		delta += len(e.With) - (min(e.End, offset) - e.Start)
	}
	return offset + delta
}

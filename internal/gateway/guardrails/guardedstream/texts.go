package guardedstream

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sluice/internal/kernel/jsonedit"
)

// texts is the text of an answer by channel. The readers of the surfaces add to it.
type texts struct {
	window   int
	max      int  // bytes of all channels; 0 for no maximum
	size     int  // bytes of all channels
	partial  bool // text is missing because of max
	list     []*channel
	byID     map[Channel]*channel
	unknown  map[string]int // blocks of texts outside the known members, by path
	clocks   map[int]clock  // of each choice
	clock    clock          // of all choices
	fresh    []*channel     // with text in the current event
	advanced map[int]int    // characters in the current event by choice
	calls    []Call
}

// clock counts the text of a choice.
type clock struct{ characters, events int }

func (c *clock) advance(characters int) {
	c.characters += characters
	c.events++
}

// idleEvents is the minimum number of events after the last text of an idle channel. Providers that
// send two texts in turns have fewer.
const idleEvents = 3

// isIdle reports whether a window of other text followed a channel.
func (c clock) isIdle(last clock, window int) bool {
	return c.characters-last.characters >= window && c.events-last.events >= idleEvents
}

// maxChannels is the maximum number of texts in an answer. Further ones share a channel.
const maxChannels = 2048

func newTexts(window, maxBytes int) texts {
	return texts{window: window, max: maxBytes, byID: map[Channel]*channel{}, unknown: map[string]int{}, clocks: map[int]clock{}, advanced: map[int]int{}}
}

// open returns the channel with this id.
func (t *texts) open(id Channel) *channel {
	if c := t.byID[id]; c != nil {
		return c
	}
	if len(t.list) >= maxChannels {
		id = Channel{KindText, -1, -maxChannels}
		if c := t.byID[id]; c != nil {
			return c
		}
	}
	c := &channel{id: id}
	t.byID[id] = c
	t.list = append(t.list, c)
	return c
}

// add appends the JSON string at s to a channel.
func (t *texts) add(e *event, id Channel, s span) {
	raw := document(e.data).raw(s)
	text, _ := jsonedit.Unquote(raw)
	low, high := splitSurrogates(raw)
	if low != 0 {
		text = strings.TrimPrefix(text, "\uFFFD")
	}
	if high != 0 {
		text = strings.TrimSuffix(text, "\uFFFD")
	}
	c := t.open(id)
	f := &fragment{at: s, channel: c, high: high}
	if c.pending != nil && low != 0 {
		text = string(utf16.DecodeRune(c.high, low)) + text
		f.low = low
		c.pending.until = c.pending.to + utf8.UTFMax
		c.pending = nil
	}
	t.extend(e, f, text)
}

// extend appends text to the channel of a fragment.
func (t *texts) extend(e *event, f *fragment, text string) {
	c := f.channel
	if c.pending != nil && text != "" { // a surrogate without its second part
		c.pending.until, c.pending.high = c.pending.to, 0
		c.pending = nil
	}
	f.from = len(c.text)
	if t.max > 0 && t.size+len(text) > t.max {
		t.partial = true
		text = ""
	}
	t.size += len(text)
	c.text = append(c.text, text...)
	f.to = len(c.text)
	if f.until = f.to; f.high != 0 {
		f.until, c.pending, c.high = f.to+1, f, f.high
	}
	e.fragments = append(e.fragments, f)
	if text != "" && c.id.Kind != KindLogprobs {
		t.advanced[c.id.Choice] += utf8.RuneCountInString(text)
	}
	if text != "" {
		t.fresh = append(t.fresh, c)
	}
}

// addRaw appends a JSON object, or a part of a line, to a channel.
func (t *texts) addRaw(e *event, id Channel, s span, text []byte, f form) {
	t.extend(e, &fragment{at: s, channel: t.open(id), form: f}, string(text))
}

// repeat adds a string that states the complete text of a channel again. A text that differs from
// what arrived is judged as a separate text.
func (t *texts) repeat(e *event, id Channel, s span) {
	text, _ := jsonedit.Unquote(document(e.data).raw(s))
	if text == "" {
		return
	}
	c := t.open(id)
	switch {
	case len(c.text) == 0 && !c.ended:
		t.add(e, id, s)
	case string(c.text) == text:
		e.fragments = append(e.fragments, &fragment{at: s, channel: c, to: len(c.text), until: len(c.text)})
	default:
		t.addUnknown(e, id.Choice, "different "+id.Kind+strconv.Itoa(id.Block), s)
	}
}

// mirror adds a string that repeats the text of a channel in the same event. It reports false if the
// text differs.
func (t *texts) mirror(e *event, id Channel, s span) bool {
	i := slices.IndexFunc(e.fragments, func(f *fragment) bool { return f.channel.id == id })
	if i < 0 {
		return false
	}
	first := *e.fragments[i]
	d := document(e.data)
	if string(d.raw(first.at)) != string(d.raw(s)) {
		return false
	}
	first.at = s
	e.fragments = append(e.fragments, &first)
	return true
}

// sign adds the signature of a text, which is complete.
func (t *texts) sign(e *event, id Channel, s span, f form) {
	c := t.open(id)
	c.ended = true
	e.fragments = append(e.fragments, &fragment{at: s, channel: c, form: f, to: len(c.text), until: len(c.text)})
}

// addLines adds the lines of an event that are not JSON. Each comment is a separate text.
func (t *texts) addLines(e *event) {
	for _, l := range e.lines {
		path := "line"
		if l.comment {
			path = "comment"
		}
		id := Channel{KindText, -1, t.unknownBlock(-1, path)}
		c := t.open(id)
		if text := e.base[l.at.start:l.at.end]; l.comment && len(text) > 0 && bytes.Equal(c.text, text) {
			e.fragments = append(e.fragments, &fragment{at: l.at, channel: c, form: plain, to: len(text), until: len(text)})
			continue
		}
		t.addRaw(e, id, l.at, e.base[l.at.start:l.at.end], plain)
		c.ended = c.ended || l.comment
	}
}

// addCall notes a tool call when its name arrives.
func (t *texts) addCall(c Call) {
	known := slices.ContainsFunc(t.calls, func(other Call) bool { return other.Channel == c.Channel })
	if c.Name != "" && !known && len(t.calls) < maxChannels {
		t.calls = append(t.calls, c)
	}
}

// finishEvent completes an event: channels without text in it become idle when a window of other text
// of their choice followed theirs.
func (t *texts) finishEvent() {
	for choice, n := range t.advanced {
		c := t.clocks[choice]
		c.advance(n)
		t.clocks[choice] = c
		t.clock.advance(n)
	}
	for _, c := range t.fresh {
		c.clock, c.idle = t.clockOf(c), false
	}
	if t.window > 0 && len(t.advanced) > 0 {
		for _, c := range t.list {
			c.idle = c.idle || t.clockOf(c).isIdle(c.clock, t.window)
		}
	}
	t.fresh = t.fresh[:0]
	clear(t.advanced)
}

// clockOf returns the clock of the choice of a channel.
func (t *texts) clockOf(c *channel) clock {
	if c.id.Choice < 0 {
		return t.clock
	}
	return t.clocks[c.id.Choice]
}

// end ends the channels of a choice and block. A negative block means all of a choice; a negative
// choice means all.
func (t *texts) end(choice, block int) {
	for _, c := range t.list {
		if (choice < 0 || c.id.Choice == choice) && (block < 0 || c.id.Block == block) {
			c.ended = true
		}
	}
}

// collect returns the texts after the edits, in the order of their first text.
func (t *texts) collect() []Text {
	out := make([]Text, 0, len(t.list))
	for _, c := range t.list {
		if len(c.text) > 0 {
			out = append(out, Text{c.id, c.edited(0, len(c.text))})
		}
	}
	return out
}

// released returns the text of a channel that the client received.
func (t *texts) released(id Channel) string {
	c := t.byID[id]
	if c == nil {
		return ""
	}
	return c.edited(0, c.released)
}

package guardedstream_test

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/guardrails/guardedstream"
	"sluice/internal/kernel/llm"
)

// editor is a judge with fixed edits of the text, and of the edited text at the end.
type editor struct {
	window       int
	hold         bool
	first, final []guardedstream.Edit
	last         string
	result       string
}

func (e *editor) Window() int { return e.window }
func (e *editor) Hold() bool  { return e.hold }

// Piece returns the edits in the part of the text. The texts of this test have single-byte characters
// that are all different, so that the part has one position.
func (e *editor) Piece(_ context.Context, p guardedstream.Piece) (v guardedstream.Verdict) {
	at := strings.Index(e.last, p.Text)
	for _, edit := range e.first {
		if edit.Start >= at+p.Context && edit.End <= at+len(p.Text) && p.Text != "" {
			v.Edits = append(v.Edits, guardedstream.Edit{Start: edit.Start - at, End: edit.End - at, With: edit.With})
		}
	}
	return v
}

func (e *editor) Finish(_ context.Context, a *guardedstream.Answer) guardedstream.Final {
	c := guardedstream.Channel{Kind: guardedstream.KindText}
	e.result = a.Text(c)
	return guardedstream.Final{Edits: map[guardedstream.Channel][]guardedstream.Edit{c: e.final}}
}

// apply is the model of edits.
func apply(text string, edits []guardedstream.Edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.Start] + e.With)
		at = e.End
	}
	return b.String() + text[at:]
}

// drawEdits draws edits in order, of at most width bytes.
func drawEdits(t *rapid.T, name string, length, width int) (edits []guardedstream.Edit) {
	at := 0
	for at < length && rapid.Bool().Draw(t, name) {
		start := rapid.IntRange(at, length-1).Draw(t, name+" start")
		end := min(start+rapid.IntRange(1, width).Draw(t, name+" width"), length)
		edits = append(edits, guardedstream.Edit{Start: start, End: end, With: rapid.SampledFrom([]string{"", "-", "<\">"}).Draw(t, name+" with")})
		at = end
	}
	return edits
}

func TestEditsAreAppliedAcrossEvents(t *testing.T) {
	t.Parallel()
	const text = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	rapid.Check(t, func(rt *rapid.T) {
		surface := rapid.SampledFrom(surfaces).Draw(rt, "surface")
		window := rapid.IntRange(0, 12).Draw(rt, "window")
		e := &editor{window: window, hold: window == 0 || rapid.Bool().Draw(rt, "hold"), last: text}
		want := text
		if window > 0 {
			e.first = drawEdits(rt, "edit", len(text), window)
			want = apply(text, e.first)
		}
		edited := want
		if e.hold && want != "" {
			e.final = drawEdits(rt, "final edit", len(want), 10)
			want = apply(want, e.final)
		}
		var deltas []string
		for rest := text; rest != ""; {
			n := min(rapid.IntRange(0, 9).Draw(rt, "delta"), len(rest))
			deltas, rest = append(deltas, rest[:n]), rest[n:]
		}
		stream := streamOf(surface, deltas...)
		var cuts []int
		for at := 0; at < len(stream); at += rapid.IntRange(1, 500).Draw(rt, "cut") {
			cuts = append(cuts, at)
		}
		out := run(t, surface, e, stream, cuts...)
		if got := textOf(t, surface, out); got != want || e.result != edited {
			rt.Fatalf("got %q after %q, want %q after %q", got, e.result, want, edited)
		}
		if surface == llm.CreateModelResponse {
			for _, path := range [][]any{{"text"}, {"part", "text"}, {"response", "output", 0, "content", 0, "text"}} {
				if got := members(t, out, path...); got != want {
					rt.Fatalf("%v: got %q, want %q", path, got, want)
				}
			}
		}
	})
}

// chatChannels are texts of a chat, as a member of a delta with %s, and their path.
var chatChannels = []struct {
	choice int
	delta  string
	path   []any
}{
	{0, `"content":%s`, []any{"content"}},
	{0, `"reasoning":%s`, []any{"reasoning"}},
	{1, `"content":%s`, []any{"content"}},
	{0, `"tool_calls":[{"index":0,"function":{"arguments":%s}}]`, []any{"tool_calls", 0, "function", "arguments"}},
	{1, `"refusal":%s`, []any{"refusal"}},
	{1, `"audio":{"transcript":%s}`, []any{"audio", "transcript"}},
}

func TestTextsOfManyChannelsAreEditedInOrder(t *testing.T) {
	t.Parallel()
	const word = "ΩΨΞΔΣ§"
	rapid.Check(t, func(rt *rapid.T) {
		var stream strings.Builder
		want := make([]string, len(chatChannels))
		emit := func(channel int, text string) {
			c := chatChannels[channel]
			stream.WriteString(chatChunk(c.choice, strings.Replace(c.delta, "%s", quote(text), 1), "null"))
		}
		for range rapid.IntRange(1, 60).Draw(rt, "events") {
			channel := rapid.IntRange(0, len(chatChannels)-1).Draw(rt, "channel")
			text := rapid.StringMatching(`[a-z ]{0,12}`).Draw(rt, "text")
			if rapid.IntRange(0, 5).Draw(rt, "kind") > 0 {
				emit(channel, text)
				want[channel] += text
				continue
			}
			cut := rapid.IntRange(0, 6).Draw(rt, "cut") * 2 // each letter has two bytes
			emit(channel, text+word[:cut])
			if other := (channel + 1) % len(chatChannels); rapid.Bool().Draw(rt, "between") {
				emit(other, "between")
				want[other] += "between"
			}
			emit(channel, word[cut:])
			want[channel] += text + "[R]"
		}
		j := &judge{window: 6, hold: rapid.Bool().Draw(rt, "hold"), secret: word, with: "[R]"}
		var cuts []int
		for at := 0; at < stream.Len(); at += rapid.IntRange(1, 900).Draw(rt, "size") {
			cuts = append(cuts, at)
		}
		out := run(t, llm.ChatComplete, j, stream.String()+chatEnd, cuts...)
		got := make([]string, len(chatChannels))
		for _, e := range parse(t, out) {
			choice, _ := at(e.json, "choices", 0, "index").(float64)
			for i, c := range chatChannels {
				if text, ok := at(e.json, append([]any{"choices", 0, "delta"}, c.path...)...).(string); ok && int(choice) == c.choice {
					got[i] += text
				}
			}
		}
		for i := range want {
			if got[i] != want[i] {
				rt.Fatalf("channel %d: got %q, want %q", i, got[i], want[i])
			}
		}
	})
}

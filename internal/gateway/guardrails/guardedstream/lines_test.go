package guardedstream_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/guardrails/guardedstream"
	"sluice/internal/kernel/llm"
)

func TestUnusualLinesAreJudged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, stream, want string }{
		{"text that is not JSON", "data: a hidden text\n\n", "data: a *** text\n\n"},
		{"text in two events", "data: a hid\n\ndata: den text\n\n", "data: a ***\n\ndata:  text\n\n"},
		{"broken JSON", `data: {"choices":[{"delta":{"content":"hidden"` + "\n\n", `data: {"choices":[{"delta":{"content":"***"` + "\n\n"},
		{"a comment", ": a hidden comment\n\n", ": a *** comment\n\n"},
		{"an unknown field", "note: hidden\n\n", "note: ***\n\n"},
		{"a line without a field", "hidden\n\n", "***\n\n"},
		{"an event name", "event: a hidden name\ndata: {}\n\n", "event: a *** name\ndata: {}\n\n"},
		{"CRLF and an id", "id: 7\r\nretry: 10\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"hidden\"}}]}\r\n\r\n", "id: 7\r\nretry: 10\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"***\"}}]}\r\n\r\n"},
		{"JSON in two lines", "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"hidden\"}}]}\n\n", "data: {\"choices\": [{\"delta\":{\"content\":\"***\"}}]}\n\n"},
		{"an error", `data: {"error":{"message":"a hidden cause","type":"server_error"}}` + "\n\n", `data: {"error":{"message":"a *** cause","type":"server_error"}}` + "\n\n"},
		{"an event without its blank line", `data: {"choices":[{"delta":{"content":"hidden"}}]}`, `data: {"choices":[{"delta":{"content":"***"}}]}`},
		{"a list", `data: ["hidden"]` + "\n\n", `data: ["***"]` + "\n\n"},
	} {
		for cut := range len(c.stream) {
			if got := run(t, llm.ChatComplete, &judge{window: 8, secret: "hidden", with: "***"}, c.stream, cut); got != c.want {
				t.Errorf("%s, cut at %d: got %q, want %q", c.name, cut, got, c.want)
			}
		}
	}
}

func TestRepeatedCommentsAreJudgedOnce(t *testing.T) {
	t.Parallel()
	j := &judge{window: 8}
	stream := strings.Repeat(": processing the call\n\n", 5) + chatStream("text")
	s := guardedstream.New(llm.ChatComplete, j, guardedstream.Options{})
	out, _ := s.Append(t.Context(), nil, []byte(stream[:46]))
	if string(out) != stream[:46] {
		t.Errorf("comments are held: %q", out)
	}
	if out, _ := runStream(t, s, stream[46:]); out != stream[46:] {
		t.Errorf("got %q", out)
	}
	if got := j.result.Texts[0].Text; got != "processing the call" {
		t.Errorf("got text %q", got)
	}
}

// TestDamagedStreamsDoNotLeak drops, repeats and damages parts of streams.
func TestDamagedStreamsDoNotLeak(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		surface := rapid.SampledFrom(surfaces).Draw(rt, "surface")
		text := before + secret + after
		stream := streamOf(surface, split(text, rapid.IntRange(1, 30).Draw(rt, "width"))...)
		if rapid.Bool().Draw(rt, "calls") {
			stream = []string{toolStream(), completionStream("text"), toolBlock(0, "a", "b", split(quote(text), 3)...), callsResponse(quote(text))}[slices.Index(surfaces, surface)]
		}
		lines := strings.SplitAfter(stream, "\n")
		for range rapid.IntRange(0, 4).Draw(rt, "damages") {
			i := rapid.IntRange(0, len(lines)-1).Draw(rt, "line")
			switch rapid.IntRange(0, 4).Draw(rt, "damage") {
			case 0:
				lines = slices.Delete(lines, i, i+1)
			case 1:
				lines = slices.Insert(lines, i, lines[i])
			case 2:
				lines[i] = strings.Replace(lines[i], "index", "position", 1)
			case 3:
				lines[i] = strings.ReplaceAll(lines[i], rapid.SampledFrom([]string{"delta", "content", "text", "type", "item", "choices", `"`, "data", "response", "{", "}"}).Draw(rt, "old"), rapid.SampledFrom([]string{"other", "", "[", "content"}).Draw(rt, "new"))
			case 4:
				lines[i] = lines[i][:rapid.IntRange(0, len(lines[i])).Draw(rt, "length")]
			}
			if len(lines) == 0 {
				return
			}
		}
		stream = strings.Join(lines, "")
		cut := rapid.IntRange(0, len(stream)).Draw(rt, "cut")
		j := &judge{window: rapid.IntRange(0, 12).Draw(rt, "window"), hold: rapid.Bool().Draw(rt, "hold")}
		if out := run(t, surface, j, stream, cut); !j.hold && out != stream {
			rt.Fatalf("got %q, want %q", out, stream)
		}
		// A secret in one event is never released: each fragment of it is too short to be a part.
		j = &judge{window: secretLength, hold: j.hold, secret: "Ω", deny: true}
		if out := run(t, surface, j, stream, cut); strings.Contains(out, "Ω") {
			rt.Fatalf("a denied character leaks: %q", out)
		}
		j = &judge{window: secretLength, secret: "Ω", with: "*"}
		if out := run(t, surface, j, stream, cut); strings.Contains(out, "Ω") {
			rt.Fatalf("an edited character leaks: %q", out)
		}
	})
}

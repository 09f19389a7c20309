package guardedstream_test

import (
	"bytes"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/guardedstream"
)

// FuzzStream reads arbitrary bytes as a stream. Nothing panics, a benign stream is byte-equal, and a
// word is never released while it is denied.
func FuzzStream(f *testing.F) {
	for i, surface := range surfaces {
		f.Add(uint8(i), uint8(8), false, 100, []byte(streamOf(surface, "some hidden ", "text\"\\")))
		f.Add(uint8(i), uint8(0), true, 7, []byte(streamOf(surface, "some hid", "den text")))
	}
	f.Add(uint8(0), uint8(5), true, 300, []byte(toolStream()))
	f.Add(uint8(2), uint8(5), false, 300, []byte(toolBlock(0, "a", "b", `{"hidden":1}`)+messagesBlock(1, `{"type":"thinking"}`, "thinking_delta", "thinking", "hidden")))
	f.Add(uint8(3), uint8(9), true, 200, []byte(callsResponse(`{"a":"hidden"}`, `{}`)))
	f.Add(uint8(0), uint8(9), false, 20, []byte(": hidden\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\ude00 hidden\"}}]}\r\rdata: [1]\ndata: x\n\n"))
	f.Fuzz(func(t *testing.T, surface, window uint8, hold bool, cut int, stream []byte) {
		endpoint := surfaces[int(surface)%len(surfaces)]
		cut = min(max(cut, 0), len(stream))
		if out := run(t, endpoint, &judge{window: int(window), hold: hold}, string(stream), cut); window == 0 && !hold && out != string(stream) {
			t.Errorf("got %q, want %q", out, stream)
		}
		all := func(a *guardedstream.Answer) (final guardedstream.Final) {
			final.RemoveCalls = []int{-1, 0, 1, 99}
			final.Edits = map[guardedstream.Channel][]guardedstream.Edit{}
			for _, text := range a.Texts {
				final.Edits[text.Channel] = []guardedstream.Edit{{Start: -1}, {Start: 0, End: len(text.Text), With: "*"}, {Start: 1, End: len(text.Text) + 1}}
			}
			return final
		}
		run(t, endpoint, &judge{window: int(window), hold: hold, secret: "e", with: "\"*", final: all}, string(stream), cut)
		out := run(t, endpoint, &judge{window: max(int(window), 6), secret: "hidden", deny: true}, string(stream), cut)
		if bytes.Contains(stream, []byte(`"content":"hidden`)) && strings.Contains(out, `"content":"hidden`) {
			t.Errorf("a denied text was released: %q", out)
		}
	})
}

package dialect_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// replayLines replays r and puts each event in a line.
func replayLines(r *llm.Response) []string {
	var out []string
	dialect.Replay(r, func(e *llm.Event) {
		line := fmt.Sprintf("%d c%d b%d p%d %s %s %s", e.Kind, e.Choice, e.Block, e.Part, e.ID, e.Name, e.Text)
		if e.Raw != nil {
			line += " " + string(e.Raw)
		}
		if e.Usage != nil {
			line += fmt.Sprint(" ", e.Usage.InputTokens, "+", e.Usage.OutputTokens)
		}
		if e.Media != nil {
			line += " " + e.Media.Data
		}
		out = append(out, strings.Join(strings.Fields(line), " "))
	})
	return out
}

func TestReplayTellsEveryPart(t *testing.T) {
	t.Parallel()
	got := replayLines(&llm.Response{
		ID: "r1", Model: "m",
		Choices: []llm.Choice{
			{
				Finish: llm.FinishToolCalls, Raw: "tool_use",
				Parts: []llm.Part{
					{Kind: llm.ReasoningPart, Text: "hm", Signature: "sig"},
					{Kind: llm.SealedPart, Text: "sealed"},
					{Kind: llm.TextPart, Text: "hi", Citations: json.RawMessage(`[{"a":1},{"a":2}]`), Shape: "x"},
					{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "c1", Name: "f", Arguments: `{"a":1}`}},
				},
			},
			{
				Index: 1, Finish: llm.FinishStop, StopText: "END", Logprobs: []byte(`{"content":[{"token":"p"}]}`),
				Parts: []llm.Part{{Kind: llm.ImagePart, Media: &llm.Media{Data: "aWk="}}},
				Extra: []llm.Param{{Name: "safety", Raw: json.RawMessage(`[]`)}},
			},
		},
		Usage: llm.Usage{InputTokens: 3, OutputTokens: 4, Reported: true},
	})
	want := []string{
		"0 c0 b0 p0 r1 3+4",
		"1 c0 b0 p5", "2 c0 b0 p5 hm", "4 c0 b0 p5 sig", "9 c0 b0 p5",
		"1 c0 b1 p6 sealed", "9 c0 b1 p6",
		"1 c0 b2 p0", "2 c0 b2 p0 hi", `6 c0 b2 p0 x {"a":1}`, `6 c0 b2 p0 x {"a":2}`, "9 c0 b2 p0",
		"1 c0 b3 p7 c1 f", `3 c0 b3 p7 {"a":1}`, "9 c0 b3 p7",
		"10 c0 b0 p0 tool_use",
		"1 c1 b0 p1", "5 c1 b0 p1 aWk=", "9 c1 b0 p1",
		`7 c1 b0 p0 [{"token":"p"}]`, "8 c1 b0 p0 safety []", "10 c1 b0 p0 END",
		"11 c0 b0 p0 3+4", "13 c0 b0 p0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestReplayCutsTextIntoPieces(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", strings.Repeat("ä", 499), strings.Repeat("ä", 500), strings.Repeat("€", 501), strings.Repeat("a", 2500), "\xff" + strings.Repeat("€", 600)} {
		joined := ""
		dialect.Replay(&llm.Response{Choices: []llm.Choice{{Parts: []llm.Part{{Text: text}}}}}, func(e *llm.Event) {
			if e.Kind != llm.EventText {
				return
			}
			if n := len([]rune(e.Text)); n == 0 || n > 500 {
				t.Errorf("a piece of %d characters", n)
			}
			joined += e.Text
		})
		if joined != text {
			t.Errorf("%d bytes came, want %d", len(joined), len(text))
		}
	}
}

func TestReplayCompletion(t *testing.T) {
	t.Parallel()
	body := `{"id":"cmpl-1","object":"text_completion","created":5,"model":"m","choices":[` +
		`{"text":"` + strings.Repeat("x", 501) + `","index":0,"logprobs":null,"finish_reason":"length"},` +
		`{"text":"","index":1,"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`
	const head = `data: {"id":"cmpl-1","object":"text_completion","created":5,"model":"m","choices":[`
	want := head + `{"index":0,"text":"` + strings.Repeat("x", 500) + `","logprobs":null,"finish_reason":null}]}` + "\n\n" +
		head + `{"index":0,"text":"x","logprobs":null,"finish_reason":null}]}` + "\n\n" +
		head + `{"index":0,"text":"","logprobs":null,"finish_reason":"length"}]}` + "\n\n" +
		head + `{"index":1,"text":"","logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}` + "\n\n" +
		"data: [DONE]\n\n"
	if got := string(dialect.ReplayCompletion(nil, []byte(body))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

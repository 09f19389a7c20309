package responses

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

var update = flag.Bool("update", false, "rewrite testdata")

// Whole streams, word for word. The official clients read them in test/e2e.
func TestGoldenStreams(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]llm.Event{
		"answer": {
			{Kind: llm.EventStart, ID: "msg_01", Model: "claude-sonnet-4-5"},
			{Kind: llm.EventBlock, Block: 0, Part: llm.ReasoningPart},
			{Kind: llm.EventText, Block: 0, Part: llm.ReasoningPart, Text: "Two cities, "},
			{Kind: llm.EventText, Block: 0, Part: llm.ReasoningPart, Text: "two calls."},
			{Kind: llm.EventSignature, Block: 0, Part: llm.ReasoningPart, Text: "EqQBCkYIARgC"},
			{Kind: llm.EventBlockEnd, Block: 0, Part: llm.ReasoningPart},
			{Kind: llm.EventBlock, Block: 1},
			{Kind: llm.EventText, Block: 1, Text: "I'll \"look\""},
			{Kind: llm.EventCitation, Block: 1, Name: "openai", Raw: []byte(`{"type":"url_citation","url_citation":{"url":"https://a.example","title":"A","start_index":0,"end_index":4}}`)},
			{Kind: llm.EventText, Block: 1, Text: " — 😀"},
			{Kind: llm.EventBlockEnd, Block: 1},
			{Kind: llm.EventBlock, Block: 2, Part: llm.CallPart, ID: "toolu_1", Name: "weather"},
			{Kind: llm.EventArguments, Block: 2, Part: llm.CallPart, Text: `{"city":`},
			{Kind: llm.EventBlock, Block: 3, Part: llm.CallPart, ID: "toolu_2", Name: "weather"},
			{Kind: llm.EventArguments, Block: 3, Part: llm.CallPart, Text: `{"city":"Oslo"}`},
			{Kind: llm.EventArguments, Block: 2, Part: llm.CallPart, Text: `"Rome"}`},
			{Kind: llm.EventBlockEnd, Block: 2, Part: llm.CallPart},
			{Kind: llm.EventBlockEnd, Block: 3, Part: llm.CallPart},
			{Kind: llm.EventBlock, Block: 4, Part: llm.CallPart, ID: "toolu_3", Name: "sql"},
			{Kind: llm.EventArguments, Block: 4, Part: llm.CallPart, Text: "SELECT 1"},
			{Kind: llm.EventBlockEnd, Block: 4, Part: llm.CallPart},
			{Kind: llm.EventFinish, Finish: llm.FinishToolCalls, Text: "tool_use"},
			{Kind: llm.EventUsage, Usage: &llm.Usage{InputTokens: 30, OutputTokens: 12, TotalTokens: 42, CachedTokens: 20, ReasoningTokens: 5, Reported: true}},
			{Kind: llm.EventEnd},
		},
		"refusal": {
			{Kind: llm.EventStart, Model: "gpt-4o"},
			{Kind: llm.EventBlock, Part: llm.RefusalPart},
			{Kind: llm.EventText, Part: llm.RefusalPart, Text: "I can't "},
			{Kind: llm.EventText, Part: llm.RefusalPart, Text: "do that."},
			{Kind: llm.EventBlockEnd, Part: llm.RefusalPart},
			{Kind: llm.EventFinish, Finish: llm.FinishStop},
			{Kind: llm.EventEnd},
		},
		"cut": {
			{Kind: llm.EventStart, Model: "gpt-4o"},
			{Kind: llm.EventBlock},
			{Kind: llm.EventText, Text: "Once upon a"},
			{Kind: llm.EventLogprobs, Raw: []byte(`[{"token":"Once","logprob":-0.1,"top_logprobs":[]}]`)},
			{Kind: llm.EventBlockEnd},
			{Kind: llm.EventFinish, Finish: llm.FinishLength},
			{Kind: llm.EventEnd},
		},
		"fault": {
			{Kind: llm.EventStart, Model: "claude-sonnet-4-5"},
			{Kind: llm.EventBlock},
			{Kind: llm.EventText, Text: "Once upon a"},
			{Kind: llm.EventFault, Name: "overloaded_error", Text: "Overloaded", Status: 529},
		},
	} {
		enc := client{}.NewEncoder(golden(t))
		var got []byte
		for i := range events {
			got = enc.Append(got, &events[i])
		}
		compare(t, filepath.Join("testdata", name+".sse"), got)
	}
}

func golden(t *testing.T) *dialect.ResponseContext {
	t.Helper()
	c, err := client{}.DecodeCall([]byte(`{"model":"m","input":"Weather in Rome and Oslo?","tools":[{"type":"function","name":"weather","parameters":{"type":"object"}},{"type":"custom","name":"sql"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return &dialect.ResponseContext{Call: c, ID: "0193f3a04c1e7b6f9d2a0c6d8a", Created: 1_700_000_000, Strict: true, Store: true}
}

func compare(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; rewrite it with -update and read the difference:\n%s", path, got)
	}
}

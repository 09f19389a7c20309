package dialecttest_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

var surfaces = []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse}

func TestRandomCallsAreValid(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		for _, surface := range surfaces {
			c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 0)), dialecttest.Options{Surface: surface})
			if again := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 0)), dialecttest.Options{Surface: surface}); len(dialecttest.Diff(c, again)) > 0 {
				t.Fatalf("seed %d: the same seed makes another call", seed)
			}
			waiting := map[string]bool{}
			for _, m := range c.Messages {
				if len(m.Parts) == 0 {
					t.Fatalf("seed %d: an empty message", seed)
				}
				for _, p := range m.Parts {
					switch {
					case p.Call != nil:
						waiting[p.Call.ID] = true
						if !json.Valid([]byte(p.Call.Arguments)) {
							t.Fatalf("seed %d: arguments %q", seed, p.Call.Arguments)
						}
					case p.Result != nil:
						if !waiting[p.Result.ID] || m.Role != llm.RoleTool {
							t.Fatalf("seed %d: a result without its call", seed)
						}
						delete(waiting, p.Result.ID)
					}
				}
				if m.Role == llm.RoleUser && len(waiting) > 0 {
					t.Fatalf("seed %d: the user speaks before the tools", seed)
				}
			}
		}
	}
}

func TestWithoutLeavesFeaturesOut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 1)), dialecttest.Options{
			Surface: llm.Messages, MaxTurns: 8,
			Without: dialecttest.Tools | dialecttest.Images | dialecttest.Files | dialecttest.Marks | dialecttest.Reasoning | dialecttest.Seals,
		})
		if len(c.Messages) > 9 || len(c.Tools) > 0 {
			t.Fatalf("seed %d: %d messages, %d tools", seed, len(c.Messages), len(c.Tools))
		}
		for _, m := range c.Messages {
			for _, p := range m.Parts {
				if p.Kind != llm.TextPart || p.Cache != nil {
					t.Fatalf("seed %d: a part %+v", seed, p)
				}
			}
		}
	}
}

func call() *llm.Call {
	strict := true
	return &llm.Call{
		Surface: llm.ChatComplete, Model: "m", Tools: []llm.Tool{{Type: llm.Function, Name: "f", Strict: &strict, Cache: &llm.Cache{}}},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Parts: []llm.Part{{Text: "a"}, {Text: "b", Index: 1, Cache: &llm.Cache{TTL: "1h"}}}},
			{Role: llm.RoleAssistant, Index: 1, Parts: []llm.Part{{Kind: llm.CallPart, Index: -1, Call: &llm.ToolCall{ID: "1"}}}},
		},
		Params: []llm.Param{{Name: "n", From: "n", Raw: []byte("2")}, {Name: "seed", From: "seed", Raw: []byte("7")}},
	}
}

func TestDiffSeesEverything(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *llm.Call){
		"Model":                        func(c *llm.Call) { c.Model = "x" },
		"Messages[0].Parts[1].Text":    func(c *llm.Call) { c.Messages[0].Parts[1].Text = "x" },
		"Messages[0].Parts[1].Cache":   func(c *llm.Call) { c.Messages[0].Parts[1].Cache = nil },
		"Messages[1].Parts[0].Call.ID": func(c *llm.Call) { c.Messages[1].Parts[0].Call.ID = "x" },
		"Messages[1]":                  func(c *llm.Call) { c.Messages = c.Messages[:1] },
		"Tools[0].Strict":              func(c *llm.Call) { *c.Tools[0].Strict = false },
		"Params[0].Raw":                func(c *llm.Call) { c.Params[0].Raw = []byte("3") },
	} {
		other := call()
		change(other)
		diff := dialecttest.Diff(call(), other)
		if len(diff) != 1 || len(diff[0]) < len(name) || diff[0][:len(name)] != name {
			t.Errorf("%s: %q", name, diff)
		}
	}
	if diff := dialecttest.Diff(call(), call()); diff != nil {
		t.Errorf("equal calls differ: %q", diff)
	}
}

func TestLooseFormsAreEqual(t *testing.T) {
	t.Parallel()
	a, b := call(), call()
	b.Messages[0].Index, b.Params[0], b.Params[1] = 7, a.Params[1], a.Params[0]
	b.Messages[1].Parts[0].Call.Arguments = "{}"
	if diff := dialecttest.Diff(a, b, dialecttest.Positions, dialecttest.Arguments); diff != nil {
		t.Errorf("%q", diff)
	}
	b = call()
	b.Messages = []llm.Message{
		{Role: llm.RoleUser, Parts: a.Messages[0].Parts[:1]}, {Role: llm.RoleUser, Parts: a.Messages[0].Parts[1:]}, a.Messages[1],
	}
	if diff := dialecttest.Diff(a, b, dialecttest.Turns); diff != nil {
		t.Errorf("%q", diff)
	}
}

func TestRestTakesTheLostOut(t *testing.T) {
	t.Parallel()
	rest := dialecttest.Rest(call(), []string{"seed", "messages[0].content[1].cache_control", "messages[1]", "tools[0].cache_control"})
	want := call()
	want.Params, want.Messages, want.Messages[0].Parts[1].Cache, want.Tools[0].Cache = want.Params[:1], want.Messages[:1], nil, nil
	if diff := dialecttest.Diff(rest, want); diff != nil {
		t.Errorf("%q", diff)
	}
}

// lines is a decoder of texts, one for each line; what is no text is refused.
type lines struct {
	events dialect.EventReader
	forget bool // a mistake: what was carried over is lost
}

func (d *lines) Feed(p []byte, emit func(*llm.Event)) error {
	if d.forget {
		d.events = dialect.EventReader{Framing: dialect.Lines}
	}
	return d.events.Feed(p, func(_, data []byte) error {
		if data[0] != '{' {
			return fault.New(fault.UpstreamInvalid, "")
		}
		emit(&llm.Event{Kind: llm.EventText, Text: string(data)})
		return nil
	})
}

func (d *lines) Close(emit func(*llm.Event)) error {
	emit(&llm.Event{Kind: llm.EventEnd})
	return nil
}

func TestSplitEverywhere(t *testing.T) {
	t.Parallel()
	stream := []byte("{\"a\":1}\n{\"b\":2}\n")
	events := dialecttest.SplitEverywhere(t, stream, func() dialect.EventDecoder { return &lines{events: dialect.EventReader{Framing: dialect.Lines}} })
	if len(events) != 3 || events[1].Text != `{"b":2}` {
		t.Errorf("%+v", events)
	}
	full, _ := dialecttest.Read(&lines{events: dialect.EventReader{Framing: dialect.Lines}}, stream)
	cut, _ := dialecttest.Read(&lines{forget: true}, stream[:3], stream[3:])
	if len(dialecttest.Merge(full)) != 2 || dialecttest.Merge(full)[0].Text == dialecttest.Merge(cut)[0].Text {
		t.Error("a decoder that forgets reads the same")
	}
}

func TestReplyOf(t *testing.T) {
	t.Parallel()
	got := dialecttest.ResponseOf([]llm.Event{
		{Kind: llm.EventStart, ID: "id", Model: "m"},
		{Kind: llm.EventBlock, Part: llm.ReasoningPart},
		{Kind: llm.EventText, Part: llm.ReasoningPart, Text: "hm"},
		{Kind: llm.EventSignature, Part: llm.ReasoningPart, Text: "s1"},
		{Kind: llm.EventSignature, Part: llm.ReasoningPart, Text: "s2"},
		{Kind: llm.EventBlockEnd, Part: llm.ReasoningPart},
		{Kind: llm.EventBlock, Block: 1, Part: llm.CallPart, ID: "c", Name: "f"},
		{Kind: llm.EventBlock, Block: 2},
		{Kind: llm.EventArguments, Block: 1, Part: llm.CallPart, Text: "{"},
		{Kind: llm.EventText, Block: 2, Text: "x"},
		{Kind: llm.EventCitation, Block: 2, Raw: []byte("1"), Name: "anthropic"},
		{Kind: llm.EventCitation, Block: 2, Raw: []byte("2"), Name: "anthropic"},
		{Kind: llm.EventArguments, Block: 1, Part: llm.CallPart, Text: "}"},
		{Kind: llm.EventFinish, Finish: llm.FinishStop, Text: "stop_sequence", Name: "x"},
		{Kind: llm.EventUsage, Usage: &llm.Usage{InputTokens: 3, Reported: true}},
		{Kind: llm.EventEnd},
	})
	want := &llm.Response{ID: "id", Model: "m", Usage: llm.Usage{InputTokens: 3, Reported: true}, Choices: []llm.Choice{{
		Finish: llm.FinishStop, Raw: "stop_sequence", StopText: "x",
		Parts: []llm.Part{
			{Kind: llm.ReasoningPart, Text: "hm", Signature: "s1s2"},
			{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "c", Name: "f", Arguments: "{}"}},
			{Text: "x", Citations: []byte("[1,2]"), Shape: "anthropic"},
		},
	}}}
	if diff := dialecttest.DiffResponses(got, want); diff != nil {
		t.Errorf("%q", diff)
	}
}

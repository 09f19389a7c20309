package gemini

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/llm"
)

// What is sent and what Lost names are the whole of a call.
func TestCallsAreCarriedOrNamed(t *testing.T) {
	t.Parallel()
	for _, surface := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse} {
		t.Run(string(surface), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(150) {
				c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 1)), dialecttest.Options{Surface: surface, Without: dialecttest.FileIDs})
				out, err := generate{}.EncodeCall(t.Context(), c, &dialect.Target{Model: "gemini-3-pro-preview"})
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				want := dialecttest.Rest(c, out.Dropped)
				diff := dialecttest.Diff(want, readCall(t, out.Body), dialecttest.Surface, dialecttest.Model, dialecttest.Stream,
					dialecttest.Positions, dialecttest.Sources, dialecttest.SystemFirst, dialecttest.Turns, dialecttest.Texts("\n"),
					dialecttest.Arguments, dialecttest.FileNames, neutral)
				if len(diff) > 0 {
					t.Fatalf("seed %d: %s\nlost %q\nsent %s", seed, strings.Join(diff, "\n"), out.Dropped, out.Body)
				}
			}
		})
	}
}

// neutral leaves out what says nothing to Gemini: parameters that hold anyway, the name
// of a schema, and whether a text was plain or base64.
func neutral(c *llm.Call) {
	c.Params = slices.DeleteFunc(c.Params, func(p llm.Param) bool {
		return p.Name == "n" && string(p.Raw) == "1" || p.Name == "store" && string(p.Raw) == "false"
	})
	if c.Format != nil {
		c.Format.Name = ""
	}
	for i := range c.Messages {
		for k := range c.Messages[i].Parts {
			if m := c.Messages[i].Parts[k].Media; m != nil && m.Plain {
				m.Data, m.Plain = media.Base64([]byte(m.Data)), false
			}
		}
	}
}

// Older models cannot have media in the results of tools: they follow behind all the
// results of the step.
func TestMediaOfResultsFollow(t *testing.T) {
	t.Parallel()
	image := func(data string) llm.Part {
		return llm.Part{Kind: llm.ImagePart, Media: &llm.Media{MIME: "image/png", Data: data}}
	}
	result := func(id, data string) llm.Message {
		return llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.ResultPart, Result: &llm.ToolResult{
			ID: id, Name: "see", Parts: []llm.Part{{Text: id}, image(data)},
		}}}}
	}
	c := &llm.Call{Surface: llm.Messages, Messages: []llm.Message{
		{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "a", Name: "see"}}, {Kind: llm.CallPart, Call: &llm.ToolCall{ID: "b", Name: "see"}},
		}},
		result("a", "QQ=="), result("b", "Qg=="),
		{Role: llm.RoleUser, Parts: []llm.Part{{Text: "well?"}}},
	}}
	want := `{"contents":[{"role":"model","parts":[{"functionCall":{"id":"a","name":"see","args":{}}},{"functionCall":{"id":"b","name":"see","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"a","name":"see","response":{"output":"a"}}},{"functionResponse":{"id":"b","name":"see","response":{"output":"b"}}}]},` +
		`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"QQ=="}},{"inlineData":{"mimeType":"image/png","data":"Qg=="}},{"text":"well?"}]}]}`
	out, err := generate{}.EncodeCall(t.Context(), c, &dialect.Target{Model: "gemini-2.5-flash"})
	if err != nil || string(out.Body) != want {
		t.Errorf("%v\nsent %s\nwant %s", err, out.Body, want)
	}
}

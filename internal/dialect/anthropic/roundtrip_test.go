package anthropic_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/jsonschema"
	"sluice/internal/kernel/llm"
)

var (
	client   = anthropic.Dialect().Clients[llm.Messages]
	upstream = anthropic.Dialect().Upstreams[llm.ChatComplete]
)

func target(model string) *dialect.Target {
	return &dialect.Target{Endpoint: llm.Messages, Provider: "anthropic", Model: model, Value: func(string) string { return "" }}
}

func encode(t testing.TB, c *llm.Call, model string) *dialect.Outgoing {
	t.Helper()
	out, err := upstream.EncodeCall(context.Background(), c, target(model))
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Body) {
		t.Fatalf("no JSON: %s", out.Body)
	}
	return out
}

// TestMessagesComeBack: what is written can be read again and is the same but for what
// is said to be lost.
func TestMessagesComeBack(t *testing.T) {
	t.Parallel()
	loose := []dialecttest.Loose{dialecttest.Positions, dialecttest.Sources, dialecttest.Model, dialecttest.Turns}
	for seed := range uint64(300) {
		c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 9)), dialecttest.Options{Surface: llm.Messages})
		out := encode(t, c, "claude-opus-4-5")
		decoded, err := client.DecodeCall(out.Body)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, out.Body)
		}
		if diff := dialecttest.Diff(dialecttest.Rest(c, out.Dropped), decoded, loose...); diff != nil {
			t.Fatalf("seed %d: lost %q\n%s\n%s", seed, out.Dropped, strings.Join(diff, "\n"), out.Body)
		}
	}
}

// one is the wish for one call at a time, which Anthropic hears in the choice of tools
// alone, and not at all where there is nothing to choose.
func one(c *llm.Call) {
	index := slices.IndexFunc(c.Params, func(p llm.Param) bool { return p.Name == llm.ParallelToolCalls })
	switch {
	case index < 0:
	case c.Choice.Mode == "none":
		c.Params = slices.Delete(c.Params, index, index+1)
	case c.Choice.Mode == "":
		c.Choice.Mode = "auto"
	}
}

// TestChatsComeBack: the same for callers of other surfaces.
func TestChatsComeBack(t *testing.T) {
	t.Parallel()
	loose := []dialecttest.Loose{
		dialecttest.Positions, dialecttest.Sources, dialecttest.Model, dialecttest.Surface, dialecttest.SystemFirst, dialecttest.Turns,
		dialecttest.URLTypes, dialecttest.FormatNames, dialecttest.ToolShapes, dialecttest.Neutrals, one,
	}
	for seed := range uint64(300) {
		for _, surface := range []llm.Endpoint{llm.ChatComplete, llm.CreateModelResponse} {
			c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 8)), dialecttest.Options{Surface: surface, Without: dialecttest.Audio})
			if !slices.ContainsFunc(c.Params, func(p llm.Param) bool { return p.Name == llm.MaxTokens }) {
				c.Params = append(c.Params, llm.Param{Name: llm.MaxTokens, From: "max_tokens", Raw: []byte("8192")})
			}
			if c.Format != nil { // one that Claude takes
				c.Format.Schema = jsonschema.Restrict(c.Format.Schema, "", func(string) {})
			}
			out := encode(t, c, "claude-opus-4-5")
			decoded, err := client.DecodeCall(out.Body)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, out.Body)
			}
			if diff := dialecttest.Diff(dialecttest.Rest(c, out.Dropped), decoded, loose...); diff != nil {
				t.Fatalf("%s, seed %d: lost %q\n%s\n%s", surface, seed, out.Dropped, strings.Join(diff, "\n"), out.Body)
			}
		}
	}
}

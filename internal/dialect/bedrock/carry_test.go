package bedrock_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/jsonschema"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/llm"
)

const fetched = "fetched bytes"

func fetch(context.Context, string) (string, []byte, error) { return "", []byte(fetched), nil }

// What is sent and what Lost names are the whole of a call.
func TestCallsAreCarriedOrNamed(t *testing.T) {
	t.Parallel()
	up := bedrock.Dialect().Upstreams[llm.ChatComplete]
	for _, surface := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse} {
		t.Run(string(surface), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(400) {
				c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 3)), dialecttest.Options{Surface: surface, Without: dialecttest.FileIDs})
				if c.Format != nil { // one that Bedrock takes
					c.Format.Schema = jsonschema.Restrict(c.Format.Schema, "", func(string) {})
				}
				out, err := up.EncodeCall(t.Context(), c, &dialect.Target{Model: sonnet, Fetch: fetch})
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				want := dialecttest.Rest(c, out.Dropped)
				diff := dialecttest.Diff(want, readCall(t, out.Body), unchosen, dialecttest.Surface, dialecttest.Model, dialecttest.Stream,
					dialecttest.Positions, dialecttest.Sources, dialecttest.SystemFirst, dialecttest.Turns, dropDocumentText, dialecttest.FileNames, dialecttest.Texts(""),
					dialecttest.Arguments, dialecttest.ResultNames, neutral)
				if len(diff) > 0 {
					t.Fatalf("seed %d: %s\nlost %q\nsent %s", seed, strings.Join(diff, "\n"), out.Dropped, out.Body)
				}
			}
		})
	}
}

// unchosen leaves tools out that shall not be called, where none was called before.
func unchosen(c *llm.Call) {
	called := slices.ContainsFunc(c.Messages, func(m llm.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p llm.Part) bool { return p.Kind == llm.CallPart })
	})
	if c.Choice.Mode == "none" && !called {
		c.Tools, c.Choice = nil, llm.ToolChoice{}
	}
}

// dropDocumentText leaves out the text that stands beside a document because one must.
func dropDocumentText(c *llm.Call) {
	for i := range c.Messages {
		m := &c.Messages[i]
		if k := slices.IndexFunc(m.Parts, func(p llm.Part) bool { return p.Kind == llm.FilePart }); k >= 0 {
			name := m.Parts[k].Media.Name
			m.Parts = slices.DeleteFunc(m.Parts, func(p llm.Part) bool { return p.Kind == llm.TextPart && p.Text == name })
		}
	}
}

// neutral leaves out what says nothing to Bedrock: parameters that hold anyway, by what
// way a medium came, who defined a tool, and the order of tools.
func neutral(c *llm.Call) {
	c.Params = slices.DeleteFunc(c.Params, func(p llm.Param) bool {
		return p.Name == "n" && string(p.Raw) == "1" || p.Name == "store" && string(p.Raw) == "false"
	})
	for i := range c.Tools {
		c.Tools[i].Shape = ""
	}
	slices.SortStableFunc(c.Tools, func(a, b llm.Tool) int { return cmp.Compare(b.Type, a.Type) })
	for i := range c.Messages {
		atHand(c.Messages[i].Parts)
	}
}

func atHand(parts []llm.Part) {
	for i := range parts {
		if r := parts[i].Result; r != nil {
			atHand(r.Parts)
		}
		m := parts[i].Media
		switch {
		case m == nil:
		case m.URL != "":
			m.URL, m.Data = "", media.Base64([]byte(fetched))
		case m.Plain:
			m.Data, m.Plain = media.Base64([]byte(m.Data)), false
		}
	}
}

// The same call to models of any family is JSON, and says what it lacks.
func TestAnyFamilyIsServed(t *testing.T) {
	t.Parallel()
	up := bedrock.Dialect().Upstreams[llm.Messages]
	for _, model := range []string{opus, nova, "cohere.command-r-v1:0", "ai21.jamba-1-5-mini-v1:0", "meta.llama4-scout-17b-instruct-v1:0", "mistral.mistral-large-2402-v1:0", "deepseek.r1-v1:0"} {
		for seed := range uint64(50) {
			c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 5)), dialecttest.Options{Surface: llm.Messages, Without: dialecttest.FileIDs})
			out, err := up.EncodeCall(t.Context(), c, &dialect.Target{Model: model, Fetch: fetch})
			if err != nil {
				t.Fatalf("%s, seed %d: %v", model, seed, err)
			}
			if got := readSides(out.Body); !alternate(got) {
				t.Fatalf("%s, seed %d: the sides do not take turns: %q", model, seed, got)
			}
		}
	}
}

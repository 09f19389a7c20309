package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
)

// What a basis says comes back from its text.
func TestBasisComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z0-9./-]{0,8}`)
		want := catalog.Basis{Model: text.Draw(t, "model"), Region: text.Draw(t, "region"), Execution: catalog.Execution(text.Draw(t, "execution")), Characters: rapid.Int64Min(0).Draw(t, "characters")}
		if rapid.Bool().Draw(t, "images") {
			want.Images = []catalog.Images{{Quality: text.Draw(t, "quality"), Size: text.Draw(t, "size"), Count: 2}}
		}
		got, err := catalog.ReadBasis(want.Text())
		if err != nil || !cmp.Equal(want, got) || (want.Text() == "") != cmp.Equal(want, catalog.Basis{}) {
			t.Fatalf("%q: %v (-want +got):\n%s", want.Text(), err, cmp.Diff(want, got))
		}
	})
	if b, err := catalog.ReadBasis("{"); err == nil {
		t.Errorf("%+v is read from half an object", b)
	}
}

func TestUnitsOfABasis(t *testing.T) {
	t.Parallel()
	limits := catalog.Limits{Region: "eu", Execution: catalog.Flex, Characters: 40, Images: []catalog.Images{{Size: "1024x1024", Count: 2}}}
	for _, tt := range []struct {
		name string
		ep   llm.Endpoint
		used llm.Usage
		want catalog.Units
	}{
		{"a chat", llm.ChatComplete, llm.Usage{InputTokens: 100, OutputTokens: 20, Reported: true}, catalog.Units{Region: "eu", Execution: catalog.Flex, Input: 100, Output: 20}},
		{"a tier that was not given", llm.ChatComplete, llm.Usage{InputTokens: 1, Tier: llm.UsualTier, Reported: true}, catalog.Units{Region: "eu", Execution: catalog.Standard, Input: 1}},
		{"the provider's tier", llm.ChatComplete, llm.Usage{InputTokens: 1, Tier: "priority", Reported: true}, catalog.Units{Region: "eu", Execution: catalog.Priority, Input: 1}},
		{
			"a cache that is written for an hour", llm.Messages, llm.Usage{InputTokens: 100, CacheWriteTokens: 100, CacheHourTokens: 30, Reported: true},
			catalog.Units{Region: "eu", Execution: catalog.Flex, CacheWrite5m: 70, CacheWrite1h: 30},
		},
		{
			"sound from the cache", llm.ChatComplete, llm.Usage{InputTokens: 100, CachedTokens: 60, InputAudioTokens: 70, CachedAudioTokens: 50, Reported: true},
			catalog.Units{Region: "eu", Execution: catalog.Flex, Input: 20, CacheRead: 10, AudioInput: 20, AudioCacheRead: 50},
		},
		{"what is not billed", llm.ChatComplete, llm.Usage{InputTokens: 965, OutputTokens: 82, FreeInputTokens: 901, FreeOutputTokens: 43, Reported: true}, catalog.Units{Region: "eu", Execution: catalog.Flex, Input: 64, Output: 39}},
		{"where the provider says that it ran", llm.Messages, llm.Usage{InputTokens: 1, Region: "us", Reported: true}, catalog.Units{Region: "us", Execution: catalog.Flex, Input: 1}},
		{
			"advice of another model", llm.Messages, llm.Usage{InputTokens: 1, Units: [llm.UnitCount]int64{llm.AdvisorInput: 8, llm.AdvisorOutput: 5}, Reported: true},
			catalog.Units{Region: "eu", Execution: catalog.Flex, Input: 1, Other: []catalog.Other{{Name: "advisor_input_tokens", Count: 8}, {Name: "advisor_output_tokens", Count: 5}}},
		},
		{
			"code in a large container", llm.CreateModelResponse, llm.Usage{InputTokens: 1, CodeSessions: 2, FileSearches: 1, CodeMemory: "4g", Reported: true},
			catalog.Units{Region: "eu", Execution: catalog.Flex, Input: 1, Other: []catalog.Other{{Name: "file_search", Count: 1}, {Name: "code_execution_4g", Count: 2}}},
		},
		{"images that were counted", llm.ImageGenerate, llm.Usage{InputTokens: 5, OutputTokens: 900, Reported: true}, catalog.Units{Region: "eu", Execution: catalog.Flex, Input: 5, ImageOutput: 900}},
		{"images that were not", llm.ImageEdit, llm.Usage{}, catalog.Units{Region: "eu", Execution: catalog.Flex, Images: limits.Images}},
		{"speech that was not", llm.CreateSpeech, llm.Usage{}, catalog.Units{Region: "eu", Execution: catalog.Flex, Characters: 40}},
		{"speech that was counted", llm.CreateSpeech, llm.Usage{InputTokens: 9, OutputTokens: 101, Reported: true}, catalog.Units{Region: "eu", Execution: catalog.Flex, Input: 9, AudioOutput: 101}},
	} {
		b := catalog.NewBasis(tt.ep, "gpt", "gpt", &limits, &tt.used)
		stored, err := catalog.ReadBasis(b.Text())
		tt.want.Requests = 1
		if got := stored.Units(tt.ep, &tt.used); err != nil || !cmp.Equal(tt.want, got) {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, cmp.Diff(tt.want, got))
		}
	}
	if b := catalog.NewBasis(llm.ChatComplete, "profile-of", "arn", &catalog.Limits{Execution: catalog.Standard}, &llm.Usage{Reported: true}); b.Text() != `{"model":"profile-of"}` {
		t.Errorf("basis %s", b.Text())
	}
}

package claude_test

import (
	"testing"

	"sluice/internal/dialect/claude"
)

// The names of Claude at Anthropic, Vertex AI, Bedrock, Databricks and Azure.
func TestClaudeOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]claude.Model{
		"claude-opus-4-6":                          {Family: "opus", Major: 4, Minor: 6},
		"claude-opus-5-5":                          {Family: "opus", Major: 5, Minor: 5},
		"claude-fable-5":                           {Family: "fable", Major: 5},
		"claude-sonnet-4-5-20250929":               {Family: "sonnet", Major: 4, Minor: 5},
		"claude-sonnet-4-5@20250929":               {Family: "sonnet", Major: 4, Minor: 5},
		"anthropic.claude-sonnet-4-5@20250929":     {Family: "sonnet", Major: 4, Minor: 5},
		"claude-opus-4@20250514":                   {Family: "opus", Major: 4},
		"claude-opus-4-20250514":                   {Family: "opus", Major: 4},
		"claude-3-5-sonnet-v2@20241022":            {Family: "sonnet", Major: 3, Minor: 5},
		"claude-3-7-sonnet-latest":                 {Family: "sonnet", Major: 3, Minor: 7},
		"claude-3-haiku-20240307":                  {Family: "haiku", Major: 3},
		"claude-2.1":                               {Major: 2, Minor: 1},
		"claude-instant-1.2":                       {Family: "instant", Major: 1, Minor: 2},
		"databricks-claude-sonnet-4-6":             {Family: "sonnet", Major: 4, Minor: 6},
		"anthropic/claude-opus-4.7":                {Family: "opus", Major: 4, Minor: 7},
		"Claude-Opus-4-8":                          {Family: "opus", Major: 4, Minor: 8},
		"anthropic.claude-v2:1":                    {Major: 2, Minor: 1},
		"anthropic.claude-instant-v1":              {Family: "instant", Major: 1},
		"anthropic.claude-opus-4-6-v1":             {Family: "opus", Major: 4, Minor: 6},
		"us.anthropic.claude-opus-4-6-v1:0":        {Family: "opus", Major: 4, Minor: 6},
		"anthropic.claude-sonnet-4-20250514-v1:0":  {Family: "sonnet", Major: 4},
		"anthropic.claude-3-5-haiku-20241022-v1:0": {Family: "haiku", Major: 3, Minor: 5},
		"arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.anthropic.claude-sonnet-4-5-20250929-v1:0": {Family: "sonnet", Major: 4, Minor: 5},
		"arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.anthropic.claude-opus-4-7-v1%3A0":             {Family: "opus", Major: 4, Minor: 7},
		"projects/p/locations/us-east5/publishers/anthropic/models/claude-haiku-4-5@20251001":                       {Family: "haiku", Major: 4, Minor: 5},
		"projects/claude-2-tests/locations/us-east5/publishers/anthropic/models/claude-haiku-4-5":                   {Family: "haiku", Major: 4, Minor: 5},
		"arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2":                                 {},
		"claude-for-our-team-2": {Family: "team"},
		"my-deployment-4":       {},
		"claude":                {},
		"":                      {},
	} {
		if got := claude.ParseModel(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestClaudeKnowsEfforts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model, effort string
		weighs, knows bool
	}{
		{"claude-opus-4-5", "high", true, true},
		{"claude-opus-4-5", "max", true, false},
		{"claude-opus-4-6", "max", true, true},
		{"claude-opus-4-6", "xhigh", true, false},
		{"claude-opus-4-7", "xhigh", true, true},
		{"claude-sonnet-5", "xhigh", true, true},
		{"claude-sonnet-4-5@20250929", "high", false, true},
	} {
		m := claude.ParseModel(c.model)
		if m.SupportsEffort() != c.weighs || m.SupportsEffortLevel(c.effort) != c.knows {
			t.Errorf("%s, %s: weighs %v, knows %v", c.model, c.effort, m.SupportsEffort(), m.SupportsEffortLevel(c.effort))
		}
	}
}

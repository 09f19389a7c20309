package bedrock_test

import (
	"net/url"
	"testing"

	"sluice/internal/dialect/bedrock"
)

func TestProfiles(t *testing.T) {
	t.Parallel()
	const account = "arn:aws:bedrock:us-east-1:123456789012:"
	p := bedrock.Dialect().Profiles
	cases := []struct{ model, path string }{
		{account + "application-inference-profile/a1b2", "/inference-profiles/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2"},
		{url.QueryEscape(account + "application-inference-profile/a1b2"), "/inference-profiles/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2"},
		{account + "provisioned-model/x9", "/provisioned-model-throughput/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aprovisioned-model%2Fx9"},
		{account + "inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0", ""},
		{"arn:aws:bedrock:us-east-1::foundation-model/cohere.rerank-v3-5:0", ""},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", ""},
		{":application-inference-profile/a1b2", ""},
		{"", ""},
	}
	for _, c := range cases {
		if next, ok := p.Lookup(c.model); next.Path != c.path || ok != (c.path != "") {
			t.Errorf("%s: %q %v", c.model, next.Path, ok)
		}
	}
	answers := map[string]string{
		`{"models":[{"modelArn":"arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0"},{"modelArn":"x"}]}`: "anthropic.claude-sonnet-4-5-20250929-v1:0",
		`{"foundationModelArn":"arn:aws:bedrock:us-east-1::foundation-model/meta.llama3-8b-instruct-v1:0"}`:                                  "meta.llama3-8b-instruct-v1:0",
		`{"models":[]}`: "", `{"models":7}`: "", `{}`: "", `<html>`: "", ``: "",
	}
	for response, want := range answers {
		if got := p.Underlying([]byte(response)); got != want {
			t.Errorf("%s: %q, want %q", response, got, want)
		}
	}
}

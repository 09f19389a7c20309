package llm_test

import (
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
)

func TestLocate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, path     string
		rest, deployment string
		known            bool
	}{
		{"POST", "/v1/chat/completions", "/chat/completions", "", true},
		{"POST", "/v1/proxy/chat/completions", "/chat/completions", "", true},
		{"POST", "/proxy/rerank", "/rerank", "", true},
		{"POST", "/v1", "", "", true},
		{"POST", "/v10/chat/completions", "/v10/chat/completions", "", false},
		{"POST", "/openai/v1/chat/completions", "/chat/completions", "", true},
		{"GET", "/openai/v1/models", "/models", "", true},
		{"POST", "/openai/responses", "/responses", "", true},
		{"POST", "/openai/deployments/gpt-4o/chat/completions", "/chat/completions", "gpt-4o", true},
		{"POST", "/openai/deployments/@main/meta/llama/embeddings", "/embeddings", "@main/meta/llama", true},
		{"POST", "/openai/deployments/%40main%2Fgpt-4o/images/generations", "/images/generations", "@main/gpt-4o", true},
		{"POST", "/openai/deployments/x%/embeddings", "/deployments/x%/embeddings", "", true},
		{"GET", "/openai/deployments/gpt-4o/chat/completions", "/deployments/gpt-4o/chat/completions", "", true},
		{"POST", "/openai/deployments/chat/completions", "/completions", "chat", true},
		{"POST", "/openai/deployments//chat/completions", "/deployments//chat/completions", "", true},
		{"POST", "/openai/deployments/" + strings.Repeat("a/", 50) + "embeddings", "/deployments/" + strings.Repeat("a/", 50) + "embeddings", "", true},
		{"POST", "/v1/openai/v1/chat/completions", "/openai/v1/chat/completions", "", true}, // a path of the provider's own
		{"POST", "/v1/deployments/gpt-4o/chat/completions", "/deployments/gpt-4o/chat/completions", "", true},
		{"POST", "/v1beta/models/gemini:generateContent", "/v1beta/models/gemini:generateContent", "", true},
		{"POST", "/upload/v1beta/files", "/upload/v1beta/files", "", true},
		{"POST", "/v1beta1/publishers/google/models/m:generateContent", "/v1beta1/publishers/google/models/m:generateContent", "", true},
		{"POST", "/v2/chat", "/v2/chat", "", true},
		{"GET", "/v2/configs", "/v2/configs", "", false},
		{"POST", "/model/a%3Ab/converse", "/model/a%3Ab/converse", "", true},
		{"GET", "/models", "/models", "", false},
		{"GET", "/", "/", "", false},
		{"GET", "", "", "", false},
	} {
		addr := llm.Locate(c.method, c.path)
		if addr.Rest != c.rest || addr.Deployment != c.deployment || (addr.Alias != nil) != c.known {
			t.Errorf("%s %s: %+v, want %q and %q", c.method, c.path, addr, c.rest, c.deployment)
		}
	}
}

// What is below a prefix is never longer than the path, and no prefix hides another.
func TestAliasesAreReached(t *testing.T) {
	t.Parallel()
	for i := range llm.Aliases {
		a := &llm.Aliases[i]
		if addr := llm.Locate("POST", a.Prefix+"/x"); addr.Alias != a || addr.Rest != a.RestPrefix+"/x" {
			t.Errorf("%s: %+v", a.Prefix, addr)
		}
	}
}

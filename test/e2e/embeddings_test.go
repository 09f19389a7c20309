package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/test/upstream"
)

// embeddingProvider is a provider of embeddings with its settings, and the request that it publishes.
type embeddingProvider struct {
	settings []string // without SEMANTIC_CACHE_EMBEDDING_
	base     string   // path of its address; "-" for a saved provider
	path     string   // of the request, with its query
	header   string   // "name: value"
	body     string   // %s is the text
	response string   // %s is the vector
}

// The response of OpenAI and Azure. Source: https://learn.microsoft.com/azure/ai-foundry/openai/reference.
const openAIVector = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":%s}],"model":"text-embedding-3-small","usage":{"prompt_tokens":6,"total_tokens":6}}`

// The response of Vertex AI. Source:
// https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api.
const vertexVector = `{"predictions":[{"embeddings":{"statistics":{"truncated":false,"token_count":6},"values":%s}}]}`

var embeddingProviders = map[string]embeddingProvider{
	"Azure": {
		settings: []string{"PROVIDER=azure-openai", "DEPLOYMENT=small-eu", "API_VERSION=2024-10-21", "API_KEY=k-embed", "DIMENSIONS=3"},
		base:     "/openai", path: "/openai/deployments/small-eu/embeddings?api-version=2024-10-21", header: "api-key: k-embed",
		body: `{"model":"text-embedding-3-small","input":"%s","dimensions":3}`, response: openAIVector,
	},
	"Azure, version v1": {
		settings: []string{"PROVIDER=azure-openai", "DEPLOYMENT=small-eu", "API_VERSION=v1", "API_KEY=k-embed", "DIMENSIONS=3"},
		base:     "/openai", path: "/openai/v1/embeddings", header: "api-key: k-embed",
		body: `{"model":"small-eu","input":"%s","dimensions":3}`, response: openAIVector,
	},
	"Vertex AI": {
		settings: []string{"PROVIDER=vertex-ai", "REGION=europe-west4", "PROJECT=team-1", "MODEL=text-embedding-005", "API_KEY=k-embed", "DIMENSIONS=3"},
		path:     "/v1/projects/team-1/locations/europe-west4/publishers/google/models/text-embedding-005:predict", header: "authorization: Bearer k-embed",
		body: `{"instances":[{"content":"%s"}],"parameters":{"outputDimensionality":3}}`, response: vertexVector,
	},
	"a saved provider": {
		settings: []string{"PROVIDER=@embedder", "DIMENSIONS=3"},
		base:     "-", path: "/v1/embeddings", header: "authorization: Bearer sk-upstream-secret-of-embedder",
		body: `{"model":"text-embedding-3-small","input":"%s","dimensions":3}`, response: openAIVector,
	},
}

// Each kind of embedding provider receives its published request, and its vectors find the question that
// means the same.
func TestSemanticCacheEmbeddings(t *testing.T) {
	t.Parallel()
	for name, p := range embeddingProviders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.check(t)
		})
	}
}

func (p *embeddingProvider) check(t *testing.T) {
	up, embedder := upstream.Start(t), upstream.Start(t)
	path, _, _ := strings.Cut(p.path, "?")
	embedder.Handle(path, func(s upstream.Seen) *upstream.Response {
		vector := "[1,0,0]"
		if strings.Contains(string(s.Body), "France") {
			vector = "[0,1,0]"
		}
		r := upstream.JSON(200, []byte(fmt.Sprintf(p.response, vector)))
		return &r
	})
	var env []string
	for _, setting := range p.settings {
		env = append(env, "SEMANTIC_CACHE_EMBEDDING_"+setting)
	}
	if p.base != "-" {
		env = append(env, "SEMANTIC_CACHE_EMBEDDINGS_URL="+embedder.URL()+p.base)
	}
	g := start(t, with(env...), with("RESPONSE_CACHE_STORE=memory"))
	if p.base == "-" {
		g.saveProvider("embedder", embedder)
	}
	status := func(text string) string {
		body := strings.Replace(hello, "Hello there", text, 1)
		return g.call("POST", "/v1/chat/completions", body, append(custom(up), `x-gateway-config: {"cache":{"mode":"semantic"}}`)...).want(t, 200).Header.Get(cacheStatus)
	}
	const first, same, other = "How do I reset my password?", "How can I reset my password", "What is the capital of France?"
	if got := status(first); got != "SEMANTIC MISS" {
		t.Errorf("the first call: %s", got)
	}
	tries := 0
	eventually(t, logLimit, "the same question in other words is a hit", func() bool {
		tries++ // a text that was missed once is an exact hit afterwards
		return status(same+strings.Repeat("?", tries)) == "SEMANTIC HIT"
	})
	if got := status(other); got != "SEMANTIC MISS" {
		t.Errorf("another question: %s", got)
	}
	p.compare(t, embedder.Seen()[0], first)
}

// compare compares a request with the published form.
func (p *embeddingProvider) compare(t *testing.T, s upstream.Seen, text string) {
	t.Helper()
	if s.Target != p.path {
		t.Errorf("target %s, want %s", s.Target, p.path)
	}
	if name, want, _ := strings.Cut(p.header, ": "); s.Get(name) != want {
		t.Errorf("header %s: %q", name, s.Get(name))
	}
	if want := fmt.Sprintf(p.body, text); gjson.GetBytes(s.Body, "@ugly").Raw != want {
		t.Errorf("body %s, want %s", s.Body, want)
	}
}

package app

import (
	"fmt"
	"testing"

	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/config"
)

// The header of a call for embeddings has the credentials and settings of its provider, and no others.
func TestEmbeddingHeader_SelectsTheProvider(t *testing.T) {
	t.Parallel()
	all := config.Caching{
		EmbeddingURL: "https://e.example", EmbeddingResource: "res", EmbeddingDeployment: "dep", EmbeddingAPIVersion: "v1", EmbeddingProject: "p", EmbeddingRegion: "eu",
	}
	for _, c := range []struct{ provider, key, want string }{
		{"openai", "k", "[[x-gateway-provider openai] [authorization Bearer k] [x-gateway-custom-host https://e.example]]"},
		{"azure-openai", "k", "[[x-gateway-provider azure-openai] [authorization Bearer k] [x-gateway-azure-resource-name res] [x-gateway-azure-deployment-id dep] [x-gateway-azure-api-version v1] [x-gateway-custom-host https://e.example]]"},
		{"vertex-ai", "token", "[[x-gateway-provider vertex-ai] [authorization Bearer token] [x-gateway-vertex-region eu] [x-gateway-vertex-project-id p] [x-gateway-custom-host https://e.example]]"},
		{"vertex-ai", "{\n \"project_id\": \"p\"\n}", `[[x-gateway-provider vertex-ai] [x-gateway-vertex-service-account-json {"project_id":"p"}] [x-gateway-vertex-region eu] [x-gateway-vertex-project-id p] [x-gateway-custom-host https://e.example]]`},
		{"@saved", "k", "[[x-gateway-provider @saved]]"},
	} {
		set := all
		set.EmbeddingProvider, set.EmbeddingKey = c.provider, sealed.New(c.key)
		if got := fmt.Sprint(embeddingHeader(&set)); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.provider, got, c.want)
		}
	}
}

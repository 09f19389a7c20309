package config_test

import (
	"strings"
	"testing"

	"sluice/internal/ops/config"
)

// Settings of the cache that need another one are rejected without it, by its name.
func TestCaching_NamesTheMissingSetting(t *testing.T) {
	t.Parallel()
	for missing, environment := range map[string][]string{
		"SEMANTIC_CACHE_EMBEDDINGS_URL":    {"SEMANTIC_CACHE_EMBEDDING_PROVIDER=azure-openai", "SEMANTIC_CACHE_EMBEDDING_API_KEY=k"},
		"SEMANTIC_CACHE_EMBEDDING_API_KEY": {"SEMANTIC_CACHE_EMBEDDING_PROVIDER=openai"},
		"VECTOR_STORE_ADDRESS":             {"VECTOR_STORE=milvus"},
		"REDIS_HOST":                       {"RESPONSE_CACHE_STORE=redis"},
	} {
		if _, err := config.Load(config.Sources{Environ: environment}); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("%q: %v, want %s", environment, err, missing)
		}
	}
}

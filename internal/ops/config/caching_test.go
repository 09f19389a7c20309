package config_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/ops/config"
)

// Settings of the cache that need another one are rejected without it, by its name.
func TestCaching_NamesTheMissingSetting(t *testing.T) {
	t.Parallel()
	const provider = "SEMANTIC_CACHE_EMBEDDING_"
	for missing, environment := range map[string][]string{
		provider + "API_KEY":    {provider + "PROVIDER=openai"},
		provider + "RESOURCE":   {provider + "PROVIDER=azure-openai", provider + "API_KEY=k", provider + "DEPLOYMENT=d"},
		provider + "DEPLOYMENT": {provider + "PROVIDER=azure-openai", provider + "API_KEY=k", provider + "RESOURCE=r"},
		provider + "REGION":     {provider + "PROVIDER=vertex-ai", provider + "API_KEY=k", provider + "PROJECT=p", provider + "MODEL=gemini-embedding-001"},
		provider + "PROJECT":    {provider + "PROVIDER=vertex-ai", provider + "API_KEY=k", provider + "REGION=global", provider + "MODEL=gemini-embedding-001"},
		provider + "MODEL":      {provider + "PROVIDER=google", provider + "API_KEY=k"},
		"VECTOR_STORE_ADDRESS":  {"VECTOR_STORE=milvus"},
		"REDIS_HOST":            {"RESPONSE_CACHE_STORE=redis"},
	} {
		if _, err := config.Load(config.Sources{Environ: environment}); err == nil || !strings.Contains(err.Error(), missing+": is required") {
			t.Errorf("%q: %v, want %s", environment, err, missing)
		}
	}
}

// Settings of an embedding provider that suffice are accepted, and values of another form are rejected by
// the name of their setting.
func TestCaching_EmbeddingProviders(t *testing.T) {
	t.Parallel()
	const provider = "SEMANTIC_CACHE_EMBEDDING_"
	for environment, rejected := range map[string]string{
		"PROVIDER=openai API_KEY=k":                                                           "",
		"PROVIDER=azure-openai API_KEY=k RESOURCE=team-eu DEPLOYMENT=small":                   "",
		"PROVIDER=google API_KEY=k MODEL=gemini-embedding-001":                                "",
		"PROVIDER=vertex-ai API_KEY=k MODEL=text-embedding-005 REGION=europe-west4 PROJECT=p": "",
		`PROVIDER=vertex-ai API_KEY={"project_id":"p"} MODEL=text-embedding-005 REGION=eu`:    "",
		"PROVIDER=@embeddings": "",
		"PROVIDER=cohere":      "PROVIDER",
		"PROVIDER=@":           "PROVIDER",
		"PROVIDER=@a/b":        "PROVIDER",
		"RESOURCE=a.b":         "RESOURCE",
		"DEPLOYMENT=a/b":       "DEPLOYMENT",
		"API_VERSION=2024?x":   "API_VERSION",
		"REGION=eu/x":          "REGION",
		"PROJECT=../p":         "PROJECT",
	} {
		var list []string
		for setting := range strings.FieldsSeq(environment) {
			list = append(list, provider+setting)
		}
		_, err := config.Load(config.Sources{Environ: list})
		if (err == nil) != (rejected == "") || err != nil && !strings.Contains(err.Error(), provider+rejected) {
			t.Errorf("%s: %v, want %q", environment, err, rejected)
		}
	}
}

// A threshold of 0 is not the same as none.
func TestCaching_ThresholdOfZero(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"": "none", "0": "0", "0.0": "0", "0.9": "0.9", "1": "1"} {
		set, err := config.Load(config.Sources{Environ: []string{"SEMANTIC_CACHE_SIMILARITY_THRESHOLD=" + value}})
		if err != nil {
			t.Errorf("%q: %v", value, err)
			continue
		}
		got := "none"
		if n := set.Settings.Caching.MinCosine(); n != nil {
			got = fmt.Sprint(*n)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
	for _, value := range []string{"-0.1", "1.1", "NaN", "high"} {
		if _, err := config.Load(config.Sources{Environ: []string{"SEMANTIC_CACHE_SIMILARITY_THRESHOLD=" + value}}); err == nil || !strings.Contains(err.Error(), "SEMANTIC_CACHE_SIMILARITY_THRESHOLD") {
			t.Errorf("%q: %v", value, err)
		}
	}
}

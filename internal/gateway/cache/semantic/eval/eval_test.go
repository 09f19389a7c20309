// Package eval measures the embeddings of a provider on the pairs of the semantic cache, with a key:
//
//	SEMANTIC_CACHE_EMBEDDING_API_KEY=… go test ./internal/gateway/cache/semantic/eval -run TestProvider -count=1 -v
//
// It calls an endpoint of OpenAI's form. SEMANTIC_CACHE_EMBEDDINGS_URL (default
// https://api.openai.com/v1/embeddings) and SEMANTIC_CACHE_EMBEDDING_MODEL (default
// text-embedding-3-small) select another one. A run embeds 766 texts, about 8,000 tokens.
package eval

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"sluice/internal/gateway/cache/semantic/pairstest"
	"sluice/internal/kernel/embedding"
)

const (
	maxBatch    = 100
	maxResponse = 32 << 20
)

// provider is an embeddings endpoint.
type provider struct{ url, model, key string }

func TestProvider_PrintsItsFigures(t *testing.T) {
	p := provider{
		url:   cmp.Or(os.Getenv("SEMANTIC_CACHE_EMBEDDINGS_URL"), "https://api.openai.com/v1/embeddings"),
		model: cmp.Or(os.Getenv("SEMANTIC_CACHE_EMBEDDING_MODEL"), "text-embedding-3-small"),
		key:   os.Getenv("SEMANTIC_CACHE_EMBEDDING_API_KEY"),
	}
	if p.key == "" {
		t.Skip("SEMANTIC_CACHE_EMBEDDING_API_KEY is not set")
	}
	for _, set := range []pairstest.Set{pairstest.Known(t), pairstest.New(t), pairstest.Fresh(t)} {
		vectors, err := p.embed(t.Context(), set.Texts())
		if err != nil {
			t.Fatal(err)
		}
		set.SetCosines(vectors)
		set.Name = p.model + ", " + set.Name
		t.Log("\n" + strings.Join(set.Rows(), "\n"))
	}
}

// embed returns the vectors of texts, in their order.
func (p provider) embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	for batch := range slices.Chunk(texts, maxBatch) {
		got, err := p.embedBatch(ctx, batch)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, got...)
	}
	return vectors, nil
}

// embedBatch makes one call. The provider may return the vectors in any order, with their index.
func (p provider) embedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": p.model, "input": texts})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+p.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s returned status %d: %.300s", p.url, response.StatusCode, raw)
	}
	return order(raw, len(texts))
}

// order returns the vectors of a response at their index.
func order(raw []byte, count int) ([][]float32, error) {
	var out struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("decode embeddings: %w", err)
	}
	vectors := make([][]float32, count)
	for _, d := range out.Data {
		if d.Index < 0 || d.Index >= count || len(d.Embedding) == 0 {
			return nil, fmt.Errorf("the provider returned an embedding with the index %d for %d texts", d.Index, count)
		}
		vectors[d.Index] = d.Embedding
	}
	if i := slices.IndexFunc(vectors, func(v []float32) bool { return v == nil }); i >= 0 {
		return nil, fmt.Errorf("the provider returned no embedding for text %d of %d", i, count)
	}
	return vectors, nil
}

// TestEmbed_ReadsVectorsInAnyOrder embeds all texts through a server that returns vectors of the
// built-in embedding backwards.
func TestEmbed_ReadsVectorsInAnyOrder(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model string   `json:"model"`
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Model != "m" || r.Header.Get("Authorization") != "Bearer k" {
			t.Errorf("unexpected request %+v, %v", body, err)
		}
		var data []map[string]any
		for i, text := range slices.Backward(body.Input) {
			v, _ := embedding.Load().Embed(text)
			data = append(data, map[string]any{"index": i, "embedding": v[:]})
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"data": data}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	set := pairstest.Known(t)
	vectors, err := provider{url: server.URL, model: "m", key: "k"}.embed(t.Context(), set.Texts())
	if err != nil {
		t.Fatal(err)
	}
	set.SetCosines(vectors)
	if right, falseHits := set.Count(0.95, false); right != 9 || falseHits != 26 {
		t.Errorf("got %d right and %d false hits, want 9 and 26 as in FIGURES.md", right, falseHits)
	}
}

func TestOrder_RejectsIncompleteResponses(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{}`, `{"data":[{"index":0,"embedding":[1]}]}`, `{"data":[{"index":2,"embedding":[1]}]}`, `{"data":[{"index":0}]}`, `x`} {
		if _, err := order([]byte(raw), 2); err == nil {
			t.Errorf("%s: accepted", raw)
		}
	}
}

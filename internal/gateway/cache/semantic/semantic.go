// Package semantic finds a stored response for a question that means the same as an earlier one. It
// joins its parts: query takes the question out of a call, an embedding turns it into a vector, a
// vector store finds similar questions of the same partition, and wordguard compares the words,
// because no cosine separates "is it safe" from "is it not safe" (FIGURES.md).
//
// The package stores no responses. A Hit names the cache key of a response; the response cache loads
// it, checks whether the caller may have it, and serves it. Begin at Finder.
package semantic

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/gateway/cache/semantic/wordguard"
	"sluice/internal/kernel/embedding"
)

// BuiltInModel is the name of the built-in embedding, which needs no provider.
const BuiltInModel = "built-in/all-MiniLM-L6-v2-128"

// Default thresholds: the smallest cosine of a hit.
const (
	BuiltInThreshold  = 0.85 // measured, see FIGURES.md
	ProviderThreshold = 0.95 // source: contract, data plane 4.7
)

// DefaultThreshold returns the threshold of an embedding model without a configured one.
func DefaultThreshold(model string) float32 {
	if model == BuiltInModel {
		return BuiltInThreshold
	}
	return ProviderThreshold
}

// EmbedBuiltIn returns the vector of a text by the built-in embedding. It reports false for a text
// without words. It does no I/O and takes microseconds.
func EmbedBuiltIn(text string) ([]float32, bool) {
	v, ok := embedding.Load().Embed(text)
	return v[:], ok
}

// Partition returns the partition of a call. rest is the cache key of the call with query.Query.Rest
// as its body, so it covers tenant, model, config, headers and every other part of the call.
// embeddingModel is BuiltInModel or "openai/text-embedding-3-small", and dimensions the length of
// its vectors.
func Partition(rest [32]byte, embeddingModel string, dimensions int) vectorstore.Partition {
	h := sha256.New()
	h.Write([]byte("semantic cache partition 1\x00")) // writes to a hash never fail
	h.Write(rest[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(dimensions)))
	h.Write([]byte(embeddingModel))
	return vectorstore.Partition(h.Sum(nil))
}

// Lookup is a question of a caller.
type Lookup struct {
	Partition vectorstore.Partition
	Vector    []float32 // of Text
	Text      string    // query.Query.Text
	Threshold float32   // 0 to 1; see DefaultThreshold
	Unguarded bool      // cache.guard is false: the cosine decides alone
}

// Hit is the best stored question, and what the guard returned for it. Log all of it.
type Hit struct {
	Key    vectorstore.Key  // cache key of the response
	Text   string           // the stored question
	Cosine float32          // 0.97
	Guard  wordguard.Result // wordguard.Equal for a hit; empty without the guard
}

// maxCandidates is how many stored questions the guard compares.
const maxCandidates = 8

// Finder finds stored questions. It is safe for concurrent use.
type Finder struct{ Store vectorstore.Store }

// Find returns the most similar stored question that passes the guard, and true. If none passes, it
// returns the most similar one and false: its Guard is the reason of the miss. Without a similar
// question, Hit is zero. Treat an error as a miss; the store counts it.
func (f Finder) Find(ctx context.Context, l Lookup) (Hit, bool, error) {
	matches, err := f.Store.Search(ctx, vectorstore.Search{
		Partition: l.Partition, Vector: l.Vector, Threshold: l.Threshold, Limit: maxCandidates,
	})
	if err != nil {
		return Hit{}, false, err
	}
	var best Hit
	for i, m := range matches {
		hit := Hit{Key: m.Key, Text: m.Text, Cosine: m.Cosine}
		if l.Unguarded {
			return hit, true, nil
		}
		hit.Guard = wordguard.Compare(m.Text, l.Text)
		if hit.Guard == wordguard.Equal {
			return hit, true, nil
		}
		if i == 0 {
			best = hit
		}
	}
	return best, false, nil
}

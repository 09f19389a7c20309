package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sluice/internal/domain/routing"
	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/semantic"
	"sluice/internal/gateway/cache/semantic/query"
	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// The values of x-gateway-cache-status in the semantic mode.
const (
	semanticHit  = "SEMANTIC HIT"
	semanticMiss = "SEMANTIC MISS"
)

// Semantic finds stored responses to questions in other words.
type Semantic struct {
	Finder    semantic.Finder
	Embedding *Embedding // nil: the built-in one
	Threshold *float64   // smallest cosine of a hit for configs without one; nil means that of the model
}

// Embedding is an embedding model that is called through the gateway itself.
type Embedding struct {
	Header     [][2]string // that selects the provider and its credentials
	Provider   string      // "openai"
	Model      string      // "text-embedding-3-small"
	Dimensions int         // 1536
}

// name returns the name of the embedding model for partitions and thresholds.
func (s *Semantic) name() string {
	if s.Embedding == nil {
		return semantic.BuiltInModel
	}
	return s.Embedding.Provider + "/" + s.Embedding.Model
}

// semanticLookup is what the semantic mode decided about an attempt.
type semanticLookup struct {
	text      string // of the last user message; empty if the mode does not apply
	partition vectorstore.Partition
	vector    []float32
	best      semantic.Hit
	err       error
	costNano  int64 // of the embedding
}

// findSemantic looks up a response to a question that means the same. It reports whether there is one.
func (c *responseCache) findSemantic(ctx context.Context, a *attempt, in *cachekey.Input) bool {
	if !c.prepareSemantic(ctx, a, in) {
		return false
	}
	a.cacheStatus = semanticMiss
	s := &a.semantic
	best, ok, err := c.Semantic.Finder.Find(ctx, c.semanticQuery(a))
	s.best = best
	if err != nil {
		s.err = err
		return false
	}
	if !ok {
		return false
	}
	e, found := c.Store.Get(ctx, cachekey.Key(best.Key))
	if !found {
		c.inBackground(ctx, func(ctx context.Context) { c.removeUnanswered(ctx, best.Key) })
		return false
	}
	if a.hasForeignPlaceholders(e.Body) {
		return false
	}
	a.hit, a.cacheStatus = e, semanticHit
	return true
}

func (c *responseCache) semanticQuery(a *attempt) semantic.Lookup {
	setting, s := a.target.Cache, &a.semantic
	return semantic.Lookup{Partition: s.partition, Vector: s.vector, Text: s.text, Threshold: c.Semantic.threshold(setting), Unguarded: setting.Unguarded}
}

// threshold returns the smallest cosine of a hit: that of the config, of the deployment or of the
// embedding model. Zero is a threshold as any other.
func (s *Semantic) threshold(setting *routing.Cache) float32 {
	for _, set := range [...]*float64{setting.Threshold, s.Threshold} {
		if set != nil {
			return float32(*set)
		}
	}
	return semantic.DefaultThreshold(s.name())
}

// prepareSemantic computes the partition and the vector of a call. It reports whether the semantic mode
// applies. A forced refresh removes the questions that mean the same.
func (c *responseCache) prepareSemantic(ctx context.Context, a *attempt, in *cachekey.Input) bool {
	if c.Semantic == nil || a.cacheMode() != routing.CacheSemantic {
		return false
	}
	q, ok := semanticQuestion(a, in.Body)
	if !ok {
		return false
	}
	rest := *in
	rest.Body, rest.Scope = q.Rest, in.Scope+"|"+targetParams(a)
	s := &a.semantic
	var dimensions int
	s.vector, dimensions, s.costNano, s.err = c.embed(ctx, a, q.Text)
	if s.err != nil || s.vector == nil {
		a.cacheStatus = semanticMiss
		return false
	}
	s.text, s.partition = q.Text, semantic.Partition(cachekey.Compute(&rest), c.Semantic.name(), dimensions)
	if a.cacheStatus == cacheRefresh {
		c.removeSimilar(ctx, a)
	}
	return true
}

// semanticQuestion splits the body of a call. A translated call is split in the caller's format.
func semanticQuestion(a *attempt, body []byte) (query.Query, bool) {
	if a.speech.translates() {
		body = a.x.doc.Source()
	}
	switch a.x.match.Endpoint {
	case llm.ChatComplete:
		return query.Chat(body)
	case llm.Complete:
		return query.Completion(body)
	}
	return query.Query{}, false
}

// targetParams identifies the parameters that the target adds to a translated call, whose body in the
// caller's format does not contain them.
func targetParams(a *attempt) string {
	if !a.speech.translates() {
		return ""
	}
	return fmt.Sprint(a.target.Default, a.target.Override, a.target.Drop)
}

// maxRefreshed limits the questions that a forced refresh removes. (ours)
const maxRefreshed = 16

// removeSimilar removes the stored questions that would have answered the call.
func (c *responseCache) removeSimilar(ctx context.Context, a *attempt) {
	for range maxRefreshed {
		best, ok, err := c.Semantic.Finder.Find(ctx, c.semanticQuery(a))
		if err != nil || !ok || c.Semantic.Finder.Store.Delete(ctx, best.Key) != nil {
			return
		}
	}
}

// embeddingTimeout is how long a call waits for the vector of its question; then it is a miss. (ours)
const embeddingTimeout = 2 * time.Second

// embed returns the vector of a text.
func (c *responseCache) embed(ctx context.Context, a *attempt, text string) (vector []float32, dimensions int, costNano int64, err error) {
	m := c.Semantic.Embedding
	if m == nil {
		vector, ok := semantic.EmbedBuiltIn(text)
		if !ok {
			return nil, 0, 0, errNoWords
		}
		return vector, len(vector), 0, nil
	}
	body := append(append(append([]byte(`{"model":`), jsonedit.Quote(m.Model)...), `,"input":`...), jsonedit.Quote(text)...)
	if m.Dimensions > 0 {
		body = fmt.Appendf(body, `,"dimensions":%d`, m.Dimensions)
	}
	ctx, cancel := context.WithTimeout(withCaller(ctx, a), embeddingTimeout)
	defer cancel()
	response, costNano, err := c.inner.call(ctx, &innerRequest{path: "/v1/embeddings", name: "semantic cache embedding", header: m.Header, body: append(body, '}')})
	if err != nil {
		return nil, 0, costNano, err
	}
	var out struct {
		Data []struct {
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(response, &out); err != nil || len(out.Data) != 1 || !vectorstore.IsUsable(out.Data[0].Embedding) {
		return nil, 0, costNano, errors.New("the embedding provider returned no vector")
	}
	return out.Data[0].Embedding, len(out.Data[0].Embedding), costNano, nil
}

var errNoWords = errors.New("the text has no words that the embedding contains")

// Limits of questions that are being stored or removed. (ours)
const (
	maxStoring   = 64
	storeTimeout = 2 * time.Second
)

// storeSemantic stores the question of a response. It does not delay the response.
//
//nolint:contextcheck // the question outlives the request
func (c *responseCache) storeSemantic(a *attempt, e *entry.Entry) {
	s := &a.semantic
	if s.text == "" {
		return
	}
	question := vectorstore.Entry{Key: vectorstore.Key(a.cacheKey), Partition: s.partition, Vector: s.vector, Text: s.text, Expires: e.Expires}
	c.inBackground(context.Background(), func(ctx context.Context) {
		_ = c.Semantic.Finder.Store.Put(ctx, question) // counted by the store; a miss at worst
	})
}

// removeUnanswered removes a question whose response was evicted or removed. While the store of responses
// cannot be used it stays.
func (c *responseCache) removeUnanswered(ctx context.Context, key vectorstore.Key) {
	if c.Store.IsMissing(ctx, cachekey.Key(key)) {
		_ = c.Semantic.Finder.Store.Delete(ctx, key) // counted by the store; the next lookup tries again
	}
}

// inBackground changes the stored questions, also after ctx ended. If too many changes are in progress it
// does nothing: the next equal call tries again.
func (c *responseCache) inBackground(ctx context.Context, change func(ctx context.Context)) {
	select {
	case c.storing <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-c.storing }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
		defer cancel()
		change(ctx)
	}()
}

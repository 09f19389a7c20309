package gateway_test

import (
	"context"
	"fmt"
	"testing"

	"sluice/internal/gateway"
	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/semantic"
	"sluice/internal/gateway/cache/semantic/index"
	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/kernel/ident"
	"sluice/internal/test/listen"
)

// spyVectors reports the keys that are stored and deleted.
type spyVectors struct {
	*index.Index
	stored, deleted chan vectorstore.Key
}

func (s *spyVectors) Put(ctx context.Context, e vectorstore.Entry) error {
	err := s.Index.Put(ctx, e)
	s.stored <- e.Key
	return err
}

func (s *spyVectors) Delete(ctx context.Context, keys ...vectorstore.Key) error {
	for _, key := range keys {
		s.deleted <- key
	}
	return s.Index.Delete(ctx, keys...)
}

// brokenStore has no responses. missing reports whether it can be used.
type brokenStore struct {
	store.Store
	missing bool
}

func (brokenStore) Get(context.Context, cachekey.Key) (*entry.Entry, bool) { return nil, false }

func (s brokenStore) IsMissing(context.Context, cachekey.Key) bool { return s.missing }

// A question whose response is gone is removed when it is found. While the store of responses is down it
// stays: the response may be there.
func TestSemanticCache_RemovesQuestionsWithoutAResponse(t *testing.T) {
	t.Parallel()
	for _, missing := range []bool{true, false} {
		t.Run(fmt.Sprint("missing ", missing), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			const chat = "/v1/chat/completions"
			r.numbered(chat, textSurfaces[0].response)
			vectors := &spyVectors{index.New(ident.System{}, index.Options{}), make(chan vectorstore.Key, 8), make(chan vectorstore.Key, 8)}
			parts := r.parts
			parts.Cache.Store = brokenStore{parts.Cache.Store, missing}
			parts.Cache.Semantic = &gateway.Semantic{Finder: semantic.Finder{Store: vectors}}
			base := listen.Start(t, gateway.New(parts, r.set)).URL
			ask := func(text string) {
				expectStatus(t, r.callAt(base, "POST", chat, fmt.Sprintf(textSurfaces[0].request, text), r.inline(`"cache":{"mode":"semantic","threshold":0.7}`)), "SEMANTIC MISS")
			}
			ask("How do I reset my password?")
			first := <-vectors.stored
			ask("how can I reset my password")
			<-vectors.stored
			if !missing {
				if len(vectors.deleted) > 0 {
					t.Error("the question was removed")
				}
				return
			}
			if got := <-vectors.deleted; got != first {
				t.Errorf("removed %s, want %s", got, first)
			}
		})
	}
}

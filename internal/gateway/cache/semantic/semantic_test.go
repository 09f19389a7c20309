package semantic_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sluice/internal/gateway/cache/semantic"
	"sluice/internal/gateway/cache/semantic/index"
	"sluice/internal/gateway/cache/semantic/query"
	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/gateway/cache/semantic/vectorstore/vectorstoretest"
	"sluice/internal/gateway/cache/semantic/wordguard"
)

// stored returns a finder with questions of one partition. The key of a question is its index.
func stored(t *testing.T, texts ...string) semantic.Finder {
	t.Helper()
	store := index.New(&vectorstoretest.Clock{Time: vectorstoretest.Start}, index.Options{})
	for i, text := range texts {
		vector, _ := semantic.EmbedBuiltIn(text)
		err := store.Put(t.Context(), vectorstore.Entry{
			Key: vectorstoretest.Key(byte(i)), Vector: vector, Text: text, Expires: vectorstoretest.Start.Add(time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return semantic.Finder{Store: store}
}

func lookup(text string) semantic.Lookup {
	vector, _ := semantic.EmbedBuiltIn(text)
	return semantic.Lookup{Vector: vector, Text: text, Threshold: semantic.BuiltInThreshold}
}

func TestFind_SkipsMoreSimilarTraps(t *testing.T) {
	t.Parallel()
	f := stored(t, "Is it not safe to mix bleach and vinegar?", "Is it safe to mix vinegar and ammonia?", "is it safe to mix bleach & vinegar",
		"Please, is it safe to mix bleach and vinegar, thanks")
	hit, ok, err := f.Find(t.Context(), lookup("Is it safe to mix bleach and vinegar?"))
	if err != nil || !ok || hit.Key != vectorstoretest.Key(3) || hit.Guard != wordguard.Equal || hit.Cosine < 0.85 {
		t.Errorf("got %+v, %v, %v, want entry 3", hit, ok, err)
	}
}

func TestFind_ReportsWhyItMissed(t *testing.T) {
	t.Parallel()
	f := stored(t, "Is it not safe to mix bleach and vinegar?")
	hit, ok, err := f.Find(t.Context(), lookup("Is it safe to mix bleach and vinegar?"))
	if err != nil || ok || hit.Guard != wordguard.Negation || hit.Text == "" {
		t.Errorf("got %+v, %v, %v, want a miss because of a negation", hit, ok, err)
	}
	unguarded := lookup("Is it safe to mix bleach and vinegar?")
	unguarded.Unguarded = true
	if hit, ok, _ := f.Find(t.Context(), unguarded); !ok || hit.Guard != "" {
		t.Errorf("got %+v, %v without the guard, want a hit", hit, ok)
	}
	if hit, ok, err := f.Find(t.Context(), lookup("Write a poem about the sea")); ok || err != nil || hit != (semantic.Hit{}) {
		t.Errorf("got %+v, %v, %v for another question, want nothing", hit, ok, err)
	}
}

// down is a store that is not reachable.
type down struct{ vectorstore.Store }

func (down) Search(context.Context, vectorstore.Search) ([]vectorstore.Match, error) {
	return nil, vectorstore.ErrUnavailable
}

func TestFind_AStoreThatIsDownIsAMiss(t *testing.T) {
	t.Parallel()
	hit, ok, err := semantic.Finder{Store: down{}}.Find(t.Context(), lookup("Hi"))
	if ok || hit != (semantic.Hit{}) || !errors.Is(err, vectorstore.ErrUnavailable) {
		t.Errorf("got %+v, %v, %v", hit, ok, err)
	}
}

func TestPartition_DiffersWithEachPart(t *testing.T) {
	t.Parallel()
	seen := map[vectorstore.Partition]string{}
	for name, p := range map[string]vectorstore.Partition{
		"all":        semantic.Partition([32]byte{1}, "a/b", 128),
		"rest":       semantic.Partition([32]byte{2}, "a/b", 128),
		"model":      semantic.Partition([32]byte{1}, "a/c", 128),
		"dimensions": semantic.Partition([32]byte{1}, "a/b", 256),
	} {
		if other, ok := seen[p]; ok {
			t.Errorf("%s and %s have one partition", name, other)
		}
		seen[p] = name
	}
}

func TestDefaultThreshold_DependsOnTheModel(t *testing.T) {
	t.Parallel()
	if semantic.DefaultThreshold(semantic.BuiltInModel) != 0.85 || semantic.DefaultThreshold("openai/text-embedding-3-small") != 0.95 {
		t.Error("got other thresholds than 0.85 and 0.95")
	}
}

// BenchmarkFind is a lookup among 10,000 questions: split, embed, search, compare.
func BenchmarkFind(b *testing.B) {
	store := index.New(&vectorstoretest.Clock{Time: vectorstoretest.Start}, index.Options{})
	verbs, nouns := []string{"reset", "change", "find", "delete", "open"}, []string{"password", "invoice", "router", "account", "ticket"}
	for i := range 10_000 {
		text := "How do I " + verbs[i%5] + " the " + nouns[i/5%5] + " of customer " + time.Duration(i).String() + "?"
		vector, _ := semantic.EmbedBuiltIn(text)
		key := vectorstore.Key{byte(i), byte(i >> 8)}
		if err := store.Put(b.Context(), vectorstore.Entry{Key: key, Vector: vector, Text: text, Expires: vectorstoretest.Start.Add(time.Hour)}); err != nil {
			b.Fatal(err)
		}
	}
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"How can I reset the password of customer 7777ns?"}]}`)
	finder := semantic.Finder{Store: store}
	b.ReportAllocs()
	for b.Loop() {
		q, _ := query.Chat(body)
		if _, _, err := finder.Find(b.Context(), lookup(q.Text)); err != nil {
			b.Fatal(err)
		}
	}
}

package semantic_test

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/gateway/cache/semantic"
	"sluice/internal/gateway/cache/semantic/index"
	"sluice/internal/gateway/cache/semantic/query"
	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/gateway/cache/semantic/vectorstore/vectorstoretest"
)

// A call is stored under its cache key, and found by another call with the same rest.
func Example() {
	ctx := context.Background()
	finder := semantic.Finder{Store: index.New(&vectorstoretest.Clock{Time: vectorstoretest.Start}, index.Options{})}
	cacheKey := func(body []byte) (key [32]byte) { return [32]byte{byte(len(body))} } // stands for cachekey.Compute

	first := []byte(`{"model":"m","messages":[{"role":"user","content":"How do I reset my password?"}]}`)
	q, _ := query.Chat(first)
	vector, _ := semantic.EmbedBuiltIn(q.Text)
	partition := semantic.Partition(cacheKey(q.Rest), semantic.BuiltInModel, len(vector))
	err := finder.Store.Put(ctx, vectorstore.Entry{
		Key: cacheKey(first), Partition: partition, Vector: vector, Text: q.Text, Expires: vectorstoretest.Start.Add(time.Hour),
	})
	if err != nil {
		fmt.Println(err)
	}

	second := []byte(`{"model":"m","messages":[{"role":"user","content":"Hi, how can I reset my password?"}]}`)
	q, _ = query.Chat(second)
	vector, _ = semantic.EmbedBuiltIn(q.Text)
	hit, ok, err := finder.Find(ctx, semantic.Lookup{
		Partition: semantic.Partition(cacheKey(q.Rest), semantic.BuiltInModel, len(vector)),
		Vector:    vector, Text: q.Text, Threshold: semantic.BuiltInThreshold,
	})
	fmt.Printf("%v %q %.2f %s %v\n", ok, hit.Text, hit.Cosine, hit.Guard, err)
	// Output: true "How do I reset my password?" 0.94 equal <nil>
}

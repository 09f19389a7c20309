package cache_test

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/flight"
	"sluice/internal/gateway/cache/replay"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
)

// responder serves calls from a cache.
type responder struct {
	store  store.Store
	flight flight.Group
	call   func(ctx context.Context) (status int, body []byte, err error) // the provider
}

// respond returns the stored response of a call, or that of the provider. hit reports which.
func (r *responder) respond(client context.Context, in *cachekey.Input) (body []byte, hit bool, err error) {
	key := cachekey.Compute(in)
	if e, ok := r.store.Get(client, key); ok {
		return replay.JSON(in.Endpoint, e.Body, replay.Options{Now: time.Now()}), true, nil
	}
	turn, e, err := r.flight.Enter(client, key)
	switch {
	case err != nil:
		return nil, false, err
	case e != nil: // an equal call has just ended
		return replay.JSON(in.Endpoint, e.Body, replay.Options{Now: time.Now()}), true, nil
	}
	defer turn.Fail()                          // does nothing after Share and Release
	if e, ok := r.store.Get(client, key); ok { // another leader ended after the first lookup
		turn.Share(e)
		return replay.JSON(in.Endpoint, e.Body, replay.Options{Now: time.Now()}), true, nil
	}
	ctx, cancel := turn.Context(client)
	defer cancel()
	status, body, err := r.call(ctx)
	if err != nil {
		return nil, false, err
	}
	if entry.Storable(&entry.Candidate{Endpoint: in.Endpoint, Status: status, Body: body}, 1<<20) != "" {
		turn.Release()
		return body, false, nil
	}
	now := time.Now()
	e = &entry.Entry{
		Endpoint: in.Endpoint, Status: status, ContentType: "application/json", Body: body,
		Created: now, Expires: now.Add(store.DefaultMaxAge), Guardrails: in.Guardrails,
		Tags: entry.Tags{Organisation: in.Organisation, Workspace: in.Workspace, Model: in.Model},
	}
	r.store.Put(ctx, key, e)
	turn.Share(e)
	return body, false, nil
}

func Example() {
	r := &responder{store: store.NewMemory(64<<20, ident.System{})}
	r.call = func(context.Context) (int, []byte, error) {
		return 200, []byte(`{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`), nil
	}
	in := &cachekey.Input{Organisation: "org-1", Workspace: "ws-1", Provider: "openai", Endpoint: llm.ChatComplete, Model: "gpt-4o", Body: []byte(`{"messages":[]}`)}
	for range 2 {
		_, hit, err := r.respond(context.Background(), in)
		fmt.Println(hit, err)
	}
	// Output:
	// false <nil>
	// true <nil>
}

package app

import (
	"context"
	"net/http"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/config"
	"sluice/internal/storage/sqlstore/storetest"
)

// running starts a gateway and returns a function that stops it.
func running(t *testing.T, s config.Settings) (a *App, first FirstKeys, stop func()) {
	t.Helper()
	a, first = opened(t, s)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return a, first, stop
}

// putResponse stores a response of a model in the cache of a node.
func (a *App) putResponse(t *testing.T, organisation string, key byte, model string) {
	t.Helper()
	now := time.Now()
	a.cache.Store.Put(t.Context(), cachekey.Key{31: key}, &entry.Entry{
		Endpoint: llm.ChatComplete, Status: 200, ContentType: "application/json", Body: []byte(`{}`), Created: now, Expires: now.Add(time.Hour),
		Tags: entry.Tags{Organisation: organisation, Workspace: "w", Model: model},
	})
}

func (a *App) hasResponse(t *testing.T, key byte) bool {
	t.Helper()
	_, ok := a.cache.Store.Get(t.Context(), cachekey.Key{31: key})
	return ok
}

// A purge at one node reaches another one, which shares the database, and one that was down.
func TestPurgesOfTheCacheReachEveryNode(t *testing.T) {
	t.Parallel()
	server := storetest.StartPostgres(t, nil)
	database := server.Settings(t).Writer
	settings := func() config.Settings {
		s := freshSettings(t)
		s.Database = config.Database{Type: config.Postgres, Host: database.Host, Port: database.Port, User: database.User, Name: database.Name, SSL: "DISABLED", PoolSize: 4}
		s.Caching.Store = config.DiskStore
		s.Security.EncryptionKey = sealed.New("0123456789abcdef0123456789abcdef")
		return s
	}
	first, keys, _ := running(t, settings())
	second, _, _ := running(t, settings())
	absent := settings()
	third, _, stop := running(t, absent)
	organisations, err := first.store.List(t.Context(), resource.Query{Kind: tenant.OrganisationKind})
	if err != nil || len(organisations) != 1 {
		t.Fatalf("%d organisations, %v", len(organisations), err)
	}
	organisation := organisations[0].ID
	for _, a := range []*App{first, second, third} {
		a.putResponse(t, organisation, 1, "gpt-4o")
		a.putResponse(t, organisation, 2, "other")
	}
	stop()

	req, err := http.NewRequestWithContext(t.Context(), "DELETE", "http://"+first.Addr()+"/v1/cache?model=gpt-4o&all=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-gateway-api-key", keys.Admin)
	resp, err := (&http.Client{Transport: &http.Transport{}, Timeout: time.Minute}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Fatalf("status %d", resp.StatusCode)
	}
	if first.hasResponse(t, 1) || !first.hasResponse(t, 2) {
		t.Error("the first node serves the wrong responses")
	}
	for limit := time.Now().Add(30 * time.Second); second.hasResponse(t, 1); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the purge does not reach the second node")
		}
	}
	if !second.hasResponse(t, 2) {
		t.Error("the second node lost another response")
	}
	third, _, _ = running(t, absent)
	if third.hasResponse(t, 1) || !third.hasResponse(t, 2) {
		t.Error("the node that was down serves the wrong responses")
	}
}

package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"sluice/internal/limits/redistest"
	"sluice/internal/test/upstream"
)

// cachedCall is a call whose response is in the cache.
type cachedCall struct {
	name, model string
	headers     []string
}

// purgeWorld is two workspaces with stored responses.
type purgeWorld struct {
	t     *testing.T
	g     *gateway
	up    *upstream.Server
	calls []cachedCall
	key   string // cache key of the first call
	ids   map[string]string
}

const inlineCache = `x-gateway-config: {"cache":{"mode":"simple"}}`

// newPurgeWorld stores a response of each kind that a filter may select.
func newPurgeWorld(t *testing.T, g *gateway, up *upstream.Server) *purgeWorld {
	t.Helper()
	w := &purgeWorld{t: t, g: g, up: up, ids: map[string]string{}}
	second := g.do(g.key, "POST", "/v1/api-keys/workspace/service", object{"name": "second", "scopes": []string{"completions.write", "logs.list"}})
	secondKey := "x-gateway-api-key: " + second.get("key").String()
	eventually(t, inForce, "the second key is known", func() bool { return g.call("GET", "/v1/logs", "", secondKey).Status == 200 })
	w.ids["second"] = second.get("id").String()
	w.ids["config"] = g.saveConfig("cached", `{"cache":{"mode":"simple"}}`)
	other := newDesk(t, []*gateway{g}, "other")
	w.calls = []cachedCall{
		{"plain", "gpt-4o-mini", []string{inlineCache}},
		{"of a model", "gpt-4o", []string{inlineCache}},
		{"in a namespace", "gpt-4o-mini", []string{inlineCache, "x-gateway-cache-namespace: docs"}},
		{"of a config", "gpt-4o-mini", []string{"x-gateway-config: " + w.ids["config"]}},
		{"of the second key", "gpt-4o-mini", []string{inlineCache, secondKey}},
		{"of another workspace", "gpt-4o-mini", []string{inlineCache, other.as()}},
	}
	w.fill()
	w.key = g.awaitLog(w.call(0).Header.Get("x-gateway-request-id")).get("cache.key").String()
	return w
}

// call makes a call whose response differs from those of the others.
func (w *purgeWorld) call(i int) callResult {
	w.t.Helper()
	c := w.calls[i]
	body := jsonText(object{"model": c.model, "messages": []object{{"role": "user", "content": "A response " + c.name}}})
	return w.g.call("POST", "/v1/chat/completions", body, append(custom(w.up), c.headers...)...).want(w.t, 200)
}

// fill stores the responses that are missing and returns the names of their calls.
func (w *purgeWorld) fill() (missing []string) {
	w.t.Helper()
	for i := range w.calls {
		if w.call(i).Header.Get(cacheStatus) != "HIT" {
			missing = append(missing, w.calls[i].name)
			eventually(w.t, logLimit, "the response is stored", func() bool { return w.call(i).Header.Get(cacheStatus) == "HIT" })
		}
	}
	return missing
}

// Each filter of a purge removes the responses that it selects, in every store, and no other. Those of
// another workspace stay, unless an administrator purges the organisation. The audit log has each purge.
func TestCachePurge(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]func() option{
		"memory": func() option { return with("RESPONSE_CACHE_STORE=memory") },
		"disk":   func() option { return with("RESPONSE_CACHE_STORE=disk") },
		"redis": func() option {
			return with("RESPONSE_CACHE_STORE=redis", "CACHE_STORE=memory", "REDIS_URL=redis://"+redistest.Start(t).Address)
		},
	} {
		store := settings()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newPurgeWorld(t, start(t, store), upstream.Start(t))
			w.purgeEach(t)
		})
	}
}

func (w *purgeWorld) purgeEach(t *testing.T) {
	t.Helper()
	inWorkspace := []string{"plain", "of a model", "in a namespace", "of a config", "of the second key"}
	purges := 0
	for _, c := range []struct {
		query url.Values
		key   string // workspaceKey if empty
		want  []string
	}{
		{url.Values{"cache_key": {w.key}}, "", []string{"plain"}},
		{url.Values{"model": {"gpt-4o"}}, "", []string{"of a model"}},
		{url.Values{"namespace": {"docs"}}, "", []string{"in a namespace"}},
		{url.Values{"config": {w.ids["config"]}}, "", []string{"of a config"}},
		{url.Values{"config": {"inline"}}, "", []string{"plain", "of a model", "in a namespace", "of the second key"}},
		{url.Values{"api_key_id": {w.ids["second"]}}, "", []string{"of the second key"}},
		{url.Values{"model": {"gpt-4o-mini"}, "namespace": {"docs"}}, "", []string{"in a namespace"}},
		{url.Values{"model": {"gpt-4o"}, "namespace": {"docs"}}, "", nil},
		{url.Values{"model": {"gpt-4.1"}}, "", nil},
		{url.Values{"older_than": {"3600"}}, "", nil},
		{url.Values{"all": {"true"}}, "", inWorkspace},
		{url.Values{"all": {"true"}}, adminKey, append(slices.Clone(inWorkspace), "of another workspace")},
	} {
		key := c.key
		if key == "" {
			key = workspaceKey
		}
		a := w.g.do(key, "DELETE", "/v1/cache?"+c.query.Encode(), nil)
		purges++
		if n := a.get("purged").Int(); n != int64(len(c.want)) {
			t.Errorf("%v: %s, want %d", c.query, a.Body, len(c.want))
		}
		if got := w.fill(); !slices.Equal(got, c.want) {
			t.Errorf("%v removed %q, want %q", c.query, got, c.want)
		}
	}
	removed := int64(0)
	eventually(t, logLimit, "all responses are older than a second", func() bool {
		removed += w.g.do(workspaceKey, "DELETE", "/v1/cache?older_than=1", nil).get("purged").Int()
		purges++
		return removed >= int64(len(inWorkspace))
	})
	if got := w.fill(); !slices.Equal(got, inWorkspace) {
		t.Errorf("the purge of old responses removed %q, want %q", got, inWorkspace)
	}
	w.refused(t)
	audit := w.g.do(adminKey, "GET", "/v1/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z&page_size=100", nil)
	if n := strings.Count(audit.Body, `"cache"`); n < purges {
		t.Errorf("the audit log has %d of %d purges: %s", n, purges, audit.Body)
	}
}

// refused makes purges that are not permitted. None removes a response.
func (w *purgeWorld) refused(t *testing.T) {
	t.Helper()
	for _, c := range []struct {
		query  string
		header []string
		status int
	}{
		{"", nil, 400},
		{"?cache_key=abc", nil, 400},
		{"?older_than=0", nil, 400},
		{"?all=true", w.calls[4].headers[1:], 403}, // the second key lacks the scope
	} {
		if a := w.g.call("DELETE", "/v1/cache"+c.query, "", c.header...); a.Status != c.status {
			t.Errorf("%q: %d %s, want %d", c.query, a.Status, a.Body, c.status)
		}
	}
	if got := w.fill(); len(got) != 0 {
		t.Errorf("refused purges removed %s", fmt.Sprint(got))
	}
}

package e2e

import (
	"encoding/json"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/test/upstream"
)

// logLimit is how soon an answered call is in the log: within two seconds, but the machine
// may be busy with other packages.
const logLimit = 30 * time.Second

// custom are the headers that send a call to an upstream with a key of its own.
func custom(up *upstream.Server) []string {
	return []string{"x-gateway-provider: openai", "authorization: Bearer sk-upstream-secret", "x-gateway-custom-host: " + up.URL() + "/v1"}
}

// awaitLog waits until a request is in the log and returns its entry.
func (g *gateway) awaitLog(id string) callResult {
	g.t.Helper()
	var a callResult
	eventually(g.t, logLimit, "request "+id+" is in the log", func() bool {
		a = g.call("GET", "/v1/logs/"+id, "")
		return a.Status == 200
	})
	return a
}

// loggedIDs are the ids of all entries of the log, newest first.
func (g *gateway) loggedIDs() []string {
	g.t.Helper()
	return g.listedIDs(url.Values{"page_size": {"100"}})
}

// search returns the ids of the logs one of whose bodies holds a text. A search that takes
// its time, as on a busy machine, ends before it has looked at all and says where to go on.
func (g *gateway) search(text string, headers ...string) []string {
	g.t.Helper()
	return g.listedIDs(url.Values{"search": {text}}, headers...)
}

// listedIDs are the ids of all pages of a list of logs, none of which hides bodies.
func (g *gateway) listedIDs(q url.Values, headers ...string) (ids []string) {
	g.t.Helper()
	for {
		a := g.call("GET", "/v1/logs?"+q.Encode(), "", headers...).want(g.t, 200)
		if n := a.get("unread").Int(); n != 0 {
			g.t.Errorf("%d logs have bodies that cannot be read: %s", n, a.Body)
		}
		for _, id := range a.get("data.#.id").Array() {
			ids = append(ids, id.String())
		}
		next := a.get("next_cursor").String()
		if next == "" {
			return ids
		}
		q.Set("after", next)
	}
}

// do calls the administration with a key and expects 200.
func (g *gateway) do(key, method, path string, body any) callResult {
	g.t.Helper()
	text := ""
	if body != nil {
		text = jsonText(body)
	}
	a := g.call(method, path, text, "x-gateway-api-key: "+key)
	if a.Status != 200 {
		g.t.Fatalf("%s %s %s: %d %s", method, path, text, a.Status, a.Body)
	}
	return a
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // literals of the tests
	}
	return string(b)
}

type object = map[string]any

// saveProvider stores credentials of an upstream in the workspace, where they
// appear as the provider "@slug".
func (g *gateway) saveProvider(slug string, up *upstream.Server) {
	g.t.Helper()
	g.saveAddress(slug, up.URL()+"/v1")
}

func (g *gateway) saveAddress(slug, address string) {
	g.t.Helper()
	g.saveIntegration(slug, "openai", address)
}

// saveIntegration is saveAddress for a provider of any kind.
func (g *gateway) saveIntegration(slug, provider, address string, fields ...object) {
	g.t.Helper()
	settings := object{"custom_host": address}
	for _, f := range fields {
		maps.Copy(settings, f)
	}
	g.do(g.key, "POST", "/v1/integrations", object{
		"name": slug, "slug": slug, "ai_provider_id": provider, "key": "sk-upstream-secret-of-" + slug,
		"configurations": settings, "default_provider_slug": slug,
	})
}

// saveConfig stores a config and returns the name that it is used by.
func (g *gateway) saveConfig(name, text string) string {
	g.t.Helper()
	return g.do(g.key, "POST", "/v1/configs", object{"name": name, "config": json.RawMessage(text)}).get("slug").String()
}

// files are all files below a directory.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

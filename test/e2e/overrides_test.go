package e2e

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// desk is a workspace with a key of its own.
type desk struct{ id, key string }

// newDesk makes a workspace with a key for calls and logs, and waits until all nodes know it.
func newDesk(t *testing.T, nodes []*gateway, slug string) desk {
	t.Helper()
	d := desk{}
	d.id = nodes[0].do(adminKey, "POST", "/v1/workspaces", object{"name": slug, "slug": slug}).get("id").String()
	d.key = nodes[0].do(adminKey, "POST", "/v1/api-keys/workspace/service", object{
		"name": slug, "workspace_id": d.id, "scopes": []string{"completions.write", "logs.write", "logs.view", "logs.list", "analytics.view"},
	}).get("key").String()
	for _, g := range nodes {
		eventually(t, inForce, "every node knows the key of the workspace", func() bool { return g.call("GET", "/v1/logs", "", d.as()).Status == 200 })
	}
	return d
}

func (d desk) as() string { return "x-gateway-api-key: " + d.key }

// ask makes a call in the workspace that says a text, and returns the id of its log.
func (d desk) ask(g *gateway, up *upstream.Server, text string, headers ...string) string {
	g.t.Helper()
	body := jsonText(object{"model": "gpt-4o-mini", "messages": []object{{"role": "user", "content": text}}})
	return g.call("POST", "/v1/chat/completions", body, append(append(custom(up), d.as()), headers...)...).want(g.t, 200).Header.Get("x-gateway-request-id")
}

// log awaits a log as a node shows it to the workspace.
func (d desk) log(g *gateway, id string) callResult {
	g.t.Helper()
	var a callResult
	eventually(g.t, logLimit, "log "+id+" is there", func() bool {
		a = g.call("GET", "/v1/logs/"+id, "", d.as())
		return a.Status == 200
	})
	return a
}

// bare reports whether a log is figures alone: nothing that the client or the provider
// said, no header of either.
func bare(a callResult) bool {
	for _, side := range []string{"request", "response", "transformedRequest", "originalResponse", "finalUntransformedRequest"} {
		for _, part := range []string{".body", ".headers"} {
			if v := a.get(side + part); v.Exists() && v.Raw != "{}" && v.Raw != "null" {
				return false
			}
		}
	}
	return true
}

// awaitChanges waits until every node has all that was changed so far: they hear of changes in
// their order, and a key is made behind them.
func awaitChanges(t *testing.T, nodes []*gateway, path string) {
	t.Helper()
	key := nodes[0].do(adminKey, "POST", "/v1/api-keys/workspace/service", object{"name": "fence", "workspace_id": path, "scopes": []string{"logs.list"}}).get("key").String()
	for _, g := range nodes {
		eventually(t, inForce, "every node knows the newest key", func() bool { return g.call("GET", "/v1/logs", "", "x-gateway-api-key: "+key).Status == 200 })
	}
}

// holds are those of some texts that the objects of a bucket have. The blocks in which they
// lie are compressed, which leaves most texts that are random as they are.
func holds(t *testing.T, objects string, texts []string) (found []string) {
	t.Helper()
	var all strings.Builder
	for _, key := range stored(t, objects) {
		b, err := os.ReadFile(filepath.Join(objects, key+"._S3rver_object"))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	for _, text := range texts {
		if strings.Contains(all.String(), text) {
			found = append(found, text)
		}
	}
	return found
}

// keeping are calls and logs of workspaces that differ in what is kept of them.
type keeping struct {
	nodes               []*gateway
	up                  *upstream.Server
	desks               map[string]desk
	expected, forbidden []string // texts that are to be in the bucket, and that are not
}

// check has each node serve a call of each workspace, and the other one show it. Of the quiet
// workspaces figures alone are kept.
func (k *keeping) check(t *testing.T, when string, quiet ...string) {
	t.Helper()
	for slug, d := range k.desks {
		for i, g := range k.nodes {
			text, tenant, cookie, other := rand.Text(), rand.Text(), rand.Text(), k.nodes[1-i]
			id := d.ask(g, k.up, text, "cookie: "+cookie, "x-tenant: "+tenant, "x-plain: of "+text, "x-gateway-sensitive-headers: x-tenant")
			k.forbidden = append(k.forbidden, tenant, cookie)
			a := d.log(other, id)
			if a.get("metrics.total_units").Int() == 0 {
				t.Errorf("%s, %s, served by node %d: there are no figures: %s", when, slug, i, a.get("metrics"))
			}
			found := len(other.search(text, d.as()))
			if slices.Contains(quiet, slug) {
				k.forbidden = append(k.forbidden, text)
				if !bare(a) || strings.Contains(a.Body, text) || found != 0 {
					t.Errorf("%s, %s, served by node %d: want figures alone, the search finds %d: %.400s", when, slug, i, found, a.Body)
				}
				continue
			}
			k.expected = append(k.expected, text)
			headers := a.get("request.headers")
			if a.get("request.body.messages.0.content").String() != text || !strings.Contains(a.get("response.body").Raw, text) || found != 1 {
				t.Errorf("%s, %s, served by node %d: want the bodies, the search finds %d: %.400s", when, slug, i, found, a.Body)
			}
			if headers.Get("cookie").String() != "***" || headers.Get("x-tenant").String() != "***" || headers.Get("x-plain").String() != "of "+text {
				t.Errorf("%s, %s, served by node %d: the headers are %s", when, slug, i, headers.Raw)
			}
		}
	}
}

// record puts a call of each workspace on record that was made elsewhere.
func (k *keeping) record(t *testing.T, quiet ...string) {
	t.Helper()
	for slug, d := range k.desks {
		text := rand.Text()
		id := k.nodes[1].call("POST", "/v1/logs", `{"request":{"url":"https://llm.example/v1/chat/completions","body":{"model":"gpt-4o","messages":[{"role":"user","content":"`+text+`"}]}},"response":{"body":{}}}`, d.as()).
			want(t, 200).get("ids.0").String()
		a, none := d.log(k.nodes[0], id), slices.Contains(quiet, slug)
		if strings.Contains(a.Body, text) == none {
			t.Errorf("a custom log of %s is shown as %s", slug, a.Body)
		}
		if none {
			k.forbidden = append(k.forbidden, text)
		}
	}
}

// What a workspace and its organisation say about logging on one node holds on every node of
// a shared log, whichever of them serves a call and whichever shows it; and what is not to be
// kept is not in the bucket either.
func TestWorkspacesDifferInWhatIsKept(t *testing.T) {
	t.Parallel()
	path, objects := oneLog(t)
	k := &keeping{nodes: []*gateway{start(t, path), start(t, path)}, up: upstream.Start(t), desks: map[string]desk{}}
	for _, slug := range []string{"open", "quiet"} {
		k.desks[slug] = newDesk(t, k.nodes, slug)
	}
	set := func(path string, body object) {
		t.Helper()
		k.nodes[0].do(adminKey, "PUT", path, body)
		awaitChanges(t, k.nodes, k.desks["open"].id)
	}

	k.check(t, "at first")
	k.nodes[0].call("PUT", "/v1/workspaces/quiet", `{"settings":{"debug_log":0}}`, "x-gateway-api-key: "+adminKey).want(t, 400)
	set("/v1/organisations/self", object{"workspace_overrides": object{"request_logging": true}})
	set("/v1/workspaces/quiet", object{"settings": object{"debug_log": 0}})
	k.check(t, "with one workspace that wants figures alone", "quiet")
	k.record(t, "quiet")

	set("/v1/organisations/self", object{"settings": object{"debug_log": 0}})
	k.check(t, "with an organisation that wants figures alone", "open", "quiet")
	set("/v1/workspaces/open", object{"settings": object{"debug_log": 1}})
	k.check(t, "with a workspace that wants more than its organisation", "quiet")
	set("/v1/organisations/self", object{"workspace_overrides": object{"request_logging": false}})
	k.check(t, "with workspaces that may not differ any more", "open", "quiet")

	if there := holds(t, objects, k.forbidden); len(there) > 0 {
		t.Errorf("%d of %d texts are in the bucket that must not be", len(there), len(k.forbidden))
	}
	if there := holds(t, objects, k.expected); len(there) < len(k.expected)/2 {
		t.Errorf("%d of %d texts are found in the bucket that are kept: the search for others says nothing", len(there), len(k.expected))
	}
}

package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

// inForce is how soon a change is in force on every node: within a second, but the machine
// may be busy with other packages.
const inForce = 30 * time.Second

// Ten instances that start at once on an empty database make one organisation and
// one pair of keys, which all ten know.
func TestTenInstancesFoundOneOrganisation(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]func(testing.TB) sqlstore.Settings{"postgres": storetest.Postgres, "mysql": storetest.MySQL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := upstream.Start(t)
			nodes := startTen(t, withDatabase(server(t)))
			var keys []string
			for _, g := range nodes {
				if strings.Contains(g.child.out.String(), "first start") {
					keys = append(keys, g.printed("its workspace key", `Workspace key +(\S+)\n`))
				}
			}
			if len(keys) != 1 {
				t.Fatalf("%d instances printed keys", len(keys))
			}
			for _, g := range nodes {
				g.key = keys[0]
				eventually(t, inForce, "every instance knows the key", func() bool {
					return g.call("POST", "/v1/chat/completions", hello, custom(up)...).Status == 200
				})
			}
		})
	}
}

// startTen spawns ten gateways before it waits for the first.
func startTen(t *testing.T, storage option) []*gateway {
	t.Helper()
	var launches []launch
	var children []*child
	for range 10 {
		l := newLaunch(t, storage, withGeneratedKeys())
		launches, children = append(launches, l), append(children, l.spawn(t))
	}
	var nodes []*gateway
	for i, l := range launches {
		nodes = append(nodes, l.await(t, children[i]))
	}
	return nodes
}

// What is changed on one node is in force there at once and on another within a
// second: a new key, a changed config, a provider's new address, a revoked key.
func TestChangesAreInForceOnEveryNode(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, storage option) {
		up, other := upstream.Start(t), upstream.Start(t)
		g := start(t, storage)
		nodes := []*gateway{g}
		if l := newLaunch(t, storage); l.shared() {
			nodes = append(nodes, start(t, storage))
		}
		everywhere := func(what string, ok func(*gateway) bool) {
			t.Helper()
			if !ok(g) {
				t.Errorf("%s is not in force when its author has the answer", what)
			}
			for _, n := range nodes[1:] {
				took := eventually(t, inForce, what, func() bool { return ok(n) })
				t.Logf("%s is in force elsewhere after %s", what, took.Round(time.Millisecond))
			}
		}
		chat := func(g *gateway, key string, headers ...string) callResult {
			return g.call("POST", "/v1/chat/completions", hello, append(headers, "x-gateway-api-key: "+key)...)
		}

		g.saveProvider("main", up)
		config := g.saveConfig("Answers", `{"provider":"@main","override_params":{"temperature":0.25}}`)
		made := g.do(g.key, "POST", "/v1/api-keys/workspace/service", object{"name": "ci", "scopes": []string{"completions.write"}})
		key, id := made.get("key").String(), made.get("id").String()
		everywhere("a new key", func(n *gateway) bool { return chat(n, key, "x-gateway-config: "+config).Status == 200 })

		g.do(g.key, "PUT", "/v1/configs/"+config, object{"config": json.RawMessage(`{"provider":"@main","override_params":{"temperature":0.75}}`)})
		everywhere("a changed config", func(n *gateway) bool {
			return strings.Contains(chat(n, key, "x-gateway-config: "+config).Body, "temperature 0.75")
		})

		g.do(g.key, "PUT", "/v1/integrations/main", object{"key": "sk-upstream", "configurations": object{"custom_host": other.URL() + "/v1"}})
		everywhere("a provider's new address", func(n *gateway) bool {
			before := other.Total()
			chat(n, key, "x-gateway-provider: @main").want(t, 200)
			return other.Total() > before
		})

		g.do(g.key, "DELETE", "/v1/api-keys/"+id, nil)
		everywhere("a revoked key", func(n *gateway) bool { return chat(n, key, "x-gateway-provider: @main").Status == 401 })
	})
}

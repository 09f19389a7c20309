package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// together is how many administrators do the same thing at once, on all nodes.
const together = 8

// twoNodes starts two gateways on one database, or one where a database serves one.
func twoNodes(t *testing.T, storage option) []*gateway {
	t.Helper()
	nodes := []*gateway{start(t, storage)}
	if newLaunch(t, storage).shared() {
		nodes = append(nodes, start(t, storage))
	}
	return nodes
}

// atOnce lets callers with the Admin key make a call each at the same moment, by turns on
// the nodes, and returns their answers.
func atOnce(t *testing.T, nodes []*gateway, method, path string, body func(n int) string, headers ...string) []callResult {
	t.Helper()
	answers := make([]callResult, together)
	begin := make(chan struct{})
	var all sync.WaitGroup
	for n := range together {
		all.Go(func() {
			<-begin
			answers[n] = nodes[n%len(nodes)].try(method, path, body(n), append(headers, "x-gateway-api-key: "+adminKey)...)
		})
	}
	close(begin)
	all.Wait()
	for _, a := range answers {
		if a.Err != nil {
			t.Fatal(a.Err)
		}
	}
	return answers
}

// winners are the callers who were answered 200; all others must have the refusal.
func winners(t *testing.T, answers []callResult, refusal int, code string) (won []int) {
	t.Helper()
	for n, a := range answers {
		switch {
		case a.Status == 200:
			won = append(won, n)
		case a.Status != refusal || a.get("data.errorCode").String() != code:
			t.Errorf("caller %d: %d %s", n, a.Status, a.Body)
		}
	}
	return won
}

// Administrators who do the same at once, on several nodes of one database: what may be
// there once is there once, what one read and another changed is not overwritten unseen,
// and each of them is on the audit trail.
func TestAdministratorsAtOnce(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, storage option) {
		nodes := twoNodes(t, storage)
		g := nodes[0]

		made := atOnce(t, nodes, "POST", "/v1/workspaces", func(int) string { return `{"name":"Same","slug":"same"}` })
		if won := winners(t, made, 409, "AB07"); len(won) != 1 {
			t.Errorf("%d callers made the same workspace", len(won))
		}
		if n := g.do(adminKey, "GET", "/v1/workspaces?name=Same", nil).get("total").Int(); n != 1 {
			t.Errorf("there are %d of it", n)
		}

		id := g.do(g.key, "POST", "/v1/policies/rate-limits", object{"conditions": []object{{"key": "api_key", "value": "*"}}, "type": "requests", "unit": "rpm", "value": 100}).get("id").String()
		path := "/v1/policies/rate-limits/" + id
		read := func(n *gateway) callResult {
			return n.call("GET", path, "", "x-gateway-api-key: "+adminKey).want(t, 200)
		}
		value := func(n int) string { return fmt.Sprintf(`{"value":%d}`, 1000+n) }

		seen := read(g).Header.Get("ETag")
		won := winners(t, atOnce(t, nodes, "PUT", path, value, "If-Match: "+seen), 409, "AB07")
		if len(won) != 1 {
			t.Fatalf("%d callers changed the version that all had read", len(won))
		}
		for _, n := range nodes {
			if got := read(n).get("value").Int(); got != int64(1000+won[0]) {
				t.Errorf("the value is %d, caller %d won", got, won[0])
			}
		}

		if won := winners(t, atOnce(t, nodes, "PUT", path, value), 0, ""); len(won) != together {
			t.Errorf("%d of %d changes were made that named no version", len(won), together)
		}
		for _, n := range nodes[1:] {
			if a, b := read(g), read(n); a.get("value").Int() != b.get("value").Int() || a.Header.Get("ETag") != b.Header.Get("ETag") {
				t.Errorf("the nodes show %s and %s", a.Body, b.Body)
			}
		}

		trail := g.call("GET", "/v1/audit-logs/export", "", "x-gateway-api-key: "+adminKey).want(t, 200).Body
		for what, want := range map[string]int{`"uri":"/v1/workspaces"`: together, `"uri":"` + path + `"`: 2 * together} {
			if got := strings.Count(trail, what); got != want {
				t.Errorf("%d rows of %s on the trail, want %d", got, what, want)
			}
		}
		file := filepath.Join(t.TempDir(), "trail.jsonl")
		write(t, file, trail)
		key := g.call("GET", "/v1/audit-logs/public-key", "", "x-gateway-api-key: "+adminKey).want(t, 200).get("public_key").String()
		verifies(t, file, key, fmt.Sprintf("rows 1 to %d", 3*together+1))
	})
}

// unknownUser is the id of no user.
const unknownUser = "0191f3a0-0000-7000-8000-0000000000ff"

// failingWrites are writes of several things of which one cannot be done: none of them is.
var failingWrites = []step{
	{does: "a workspace with members, one of whom is nobody", key: "admin", call: "POST /v1/workspaces", body: `{"name":"Half","slug":"half","users":["{owner}","` + unknownUser + `"]}`, status: 404},
	{does: "there is none", key: "admin", call: "GET /v1/workspaces/half", status: 404},
	{does: "an integration", key: "admin", call: "POST /v1/integrations", body: `{"name":"Main","slug":"main","ai_provider_id":"openai","key":"sk-s3cr3t-main"}`},
	{does: "granted to a workspace and to one that is not there", key: "admin", call: "PUT /v1/integrations/main/workspaces", body: `{"workspaces":[{"id":"{place}","enabled":true},{"id":"nowhere","enabled":true}]}`, status: 404},
	{does: "nobody has it", key: "first", call: "GET /v1/providers", values: map[string]string{"total": "0"}},
	{does: "an invitation into a workspace and into none", key: "admin", call: "POST /v1/admin/users/invites", body: `{"email":"half@acme.example","role":"member","workspaces":[{"id":"{place}","role":"member"},{"id":"nowhere","role":"member"}]}`, status: 404},
	{does: "there is none", key: "admin", call: "GET /v1/admin/users/invites", values: map[string]string{"total": "0"}},
	{does: "members, one of whom is nobody", key: "admin", call: "POST /v1/admin/workspaces/{place}/users", body: `{"users":[{"id":"{owner}","role":"member"},{"id":"` + unknownUser + `","role":"member"}]}`, status: 404},
	{does: "there are none", key: "admin", call: "GET /v1/admin/workspaces/{place}/users", values: map[string]string{"total": "0"}},
}

// A write that fails leaves nothing half done, on any engine.
func TestNothingHalfDone(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, storage option) {
		g := start(t, storage)
		known := map[string]string{
			"admin": adminKey, "first": workspaceKey,
			"owner": g.do(adminKey, "GET", "/v1/admin/users", nil).get("data.0.id").String(),
			"place": g.do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String(),
		}
		g.life(known, failingWrites)
	})
}

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// A response in the background is billed with what its provider says, also when the gateway
// is asked to stop meanwhile; a process that is killed leaves it with its bound.
func TestBackgroundResponseOverAStop(t *testing.T) {
	t.Parallel()
	const (
		charged  = 9*0.000015 + 333*0.00006 // cents, of gpt-4o-mini
		reserved = 400 * 0.00006            // and more, for the input
	)
	response := func(state string) upstream.Response {
		return upstream.JSON(200, json.RawMessage(`{"id":"resp_a","object":"response","background":true,"model":"gpt-4o-mini","output":[],`+state+`}`))
	}
	for _, c := range []struct {
		name    string
		stop    func(g *gateway)
		minCost float64
		maxCost float64
	}{
		{"asked to", func(g *gateway) { g.child.terminate(t) }, charged - 1e-9, charged + 1e-9},
		{"killed", func(g *gateway) { g.child.kill() }, reserved, 2 * reserved},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			up := upstream.Start(t)
			up.Handle("/v1/responses", func(upstream.Seen) *upstream.Response {
				r := response(`"status":"queued","usage":null`)
				return &r
			})
			up.Handle("/v1/responses/resp_a", func(upstream.Seen) *upstream.Response {
				r := response(`"status":"completed","usage":{"input_tokens":9,"output_tokens":333,"total_tokens":342}`)
				return &r
			})
			g := start(t)
			a := g.call("POST", "/v1/responses", `{"model":"gpt-4o-mini","background":true,"max_output_tokens":400,"input":"Hello there"}`, custom(up)...).want(t, 200)
			if a.get("status").String() != "queued" {
				t.Fatal(a.Body)
			}
			c.stop(g)
			g.child.ended(t)
			g = g.again()
			id := a.Header.Get("x-gateway-request-id")
			g.awaitLog(id)
			var rows callResult
			eventually(t, logLimit, "both attempts are in the log", func() bool {
				rows = g.call("GET", "/v1/logs?trace_id="+id, "")
				return len(rows.get("data").Array()) == 2
			})
			if cost := rows.get("data.0.cost").Float() + rows.get("data.1.cost").Float(); cost < c.minCost || cost > c.maxCost {
				t.Errorf("it costs %f cents: %s", cost, rows.Body)
			}
			if killed := c.name == "killed"; killed != strings.Contains(rows.Body, `"interrupted"`) {
				t.Errorf("log: %s", rows.Body)
			}
			g.stop()
		})
	}
}

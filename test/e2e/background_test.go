package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/test/upstream"
)

// A response in the background is billed with what its provider says, also when the gateway
// is asked to stop meanwhile; a process that is killed leaves it with its bound.
func TestBackgroundResponseOverAStop(t *testing.T) {
	t.Parallel()
	const (
		told  = 9*0.000015 + 333*0.00006 // cents, of gpt-4o-mini
		bound = 400 * 0.00006            // and more, for the input
	)
	response := func(state string) upstream.Reply {
		return upstream.JSON(200, json.RawMessage(`{"id":"resp_a","object":"response","background":true,"model":"gpt-4o-mini","output":[],`+state+`}`))
	}
	for _, c := range []struct {
		name  string
		stop  func(g *gateway)
		least float64
		most  float64
	}{
		{"asked to", func(g *gateway) { g.child.terminate(t) }, told - 1e-9, told + 1e-9},
		{"killed", func(g *gateway) { g.child.kill() }, bound, 2 * bound},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			up := upstream.Start(t)
			up.On("/v1/responses", func(upstream.Seen) *upstream.Reply {
				r := response(`"status":"queued","usage":null`)
				return &r
			})
			up.On("/v1/responses/resp_a", func(upstream.Seen) *upstream.Reply {
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
			var rows answer
			eventually(t, logLimit, "both attempts are in the log", func() bool {
				rows = g.call("GET", "/v1/logs?trace_id="+id, "")
				return len(rows.get("data").Array()) == 2
			})
			if cost := rows.get("data.0.cost").Float() + rows.get("data.1.cost").Float(); cost < c.least || cost > c.most {
				t.Errorf("it costs %f cents: %s", cost, rows.Body)
			}
			if killed := c.name == "killed"; killed != strings.Contains(rows.Body, `"interrupted"`) {
				t.Errorf("log: %s", rows.Body)
			}
			g.stop()
		})
	}
}

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"sluice/internal/test/upstream"
)

const (
	batchLine   = `{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o-mini","max_tokens":400,"messages":[{"role":"user","content":"Hello there"}]}}` + "\n"
	batchResult = `{"custom_id":"1","response":{"status_code":200,"body":{"id":"c","object":"chat.completion","model":"gpt-4o-mini","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":40,"total_tokens":1040}}},"error":null}` + "\n"
	batchCost   = 3 * (1000*0.075e-6 + 40*0.3e-6) // dollars
)

// batchProvider has a batch of three lines, which completes when end is called.
func batchProvider(t *testing.T) (up *upstream.Server, end func()) {
	t.Helper()
	var ended atomic.Bool
	batch := func(upstream.Seen) *upstream.Response {
		state := `"status":"in_progress","output_file_id":null`
		if ended.Load() {
			state = `"status":"completed","output_file_id":"file-out"`
		}
		r := upstream.JSON(200, json.RawMessage(`{"id":"batch_a","object":"batch",`+state+`}`))
		return &r
	}
	up = upstream.Start(t)
	up.Handle("/v1/batches", batch)
	up.Handle("/v1/batches/batch_a", batch)
	up.Handle("/v1/files/file-in/content", upstream.Always(upstream.JSON(200, []byte(strings.Repeat(batchLine, 3)))))
	up.Handle("/v1/files/file-out/content", upstream.Always(upstream.JSON(200, []byte(strings.Repeat(batchResult, 3)))))
	return up, func() { ended.Store(true) }
}

// A batch whose gateway is killed as soon as its creation is answered holds its maximum, is
// followed by the next process or another node, and is billed once by its output, however
// often the gateway is killed.
func TestBatchOverKills(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, storage option) {
		up, end := batchProvider(t)
		g := start(t, storage)
		g.saveProvider("main", up)
		workspace := g.do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String()
		made := g.do(adminKey, "POST", "/v1/api-keys/workspace/service", object{
			"name": "spender", "workspace_id": workspace, "scopes": []string{"completions.write", "logs.view", "logs.list"},
			"usage_limits": object{"type": "cost", "credit_limit": 1},
		})
		id, key := made.get("id").String(), made.get("key").String()
		used := func() float64 {
			return g.do(adminKey, "GET", "/v1/api-keys/"+id, nil).get("usage_limits.current_usage").Float()
		}
		g.call("POST", "/v1/batches", `{"input_file_id":"file-in","endpoint":"/v1/chat/completions","completion_window":"24h"}`, "x-gateway-api-key: "+key, "x-gateway-provider: @main").want(t, 200)
		g.child.kill()

		shared := newLaunch(t, storage).shared()
		if shared { // the first node does not come back
			g = start(t, storage)
		} else {
			g = g.again()
		}
		held := used()
		if held < 3*400*0.3e-6 {
			t.Errorf("%.9f is held", held)
		}
		end()
		same := func() bool { return fmt.Sprintf("%.9f", used()) == fmt.Sprintf("%.9f", batchCost) }
		eventually(t, 2*logLimit, fmt.Sprintf("the batch counts with its cost %.9f instead of %.9f", batchCost, held), same)
		eventually(t, logLimit, "the batch is in the log", func() bool {
			rows, cents := g.call("GET", "/v1/logs", "", "x-gateway-api-key: "+key).want(t, 200).get("data").Array(), 0.0
			for _, r := range rows {
				cents += r.Get("cost").Float()
			}
			return (len(rows) == 2 || shared && len(rows) == 1) && fmt.Sprintf("%.7f", cents) == fmt.Sprintf("%.7f", batchCost*100)
		})
		for range 2 {
			g.child.kill()
			g = g.again()
			if !same() {
				t.Errorf("after a further kill %.9f counts, want %.9f", used(), batchCost)
			}
		}
		g.stop()
	})
}

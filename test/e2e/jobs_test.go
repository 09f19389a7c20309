package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"sluice/test/upstream"
)

// A batch whose gateway is killed as soon as its creation is answered holds its maximum
// after the restart, is followed by the next process, and is billed once by its output,
// however often the gateway is killed.
func TestBatchOverKills(t *testing.T) {
	t.Parallel()
	const line = `{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o-mini","max_tokens":400,"messages":[{"role":"user","content":"Hello there"}]}}` + "\n"
	const result = `{"custom_id":"1","response":{"status_code":200,"body":{"id":"c","object":"chat.completion","model":"gpt-4o-mini","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":40,"total_tokens":1040}}},"error":null}` + "\n"
	const cost = 3 * (1000*0.075e-6 + 40*0.3e-6) // dollars
	var ended atomic.Bool
	batch := func() *upstream.Reply {
		state := `"status":"in_progress","output_file_id":null`
		if ended.Load() {
			state = `"status":"completed","output_file_id":"file-out"`
		}
		r := upstream.JSON(200, json.RawMessage(`{"id":"batch_a","object":"batch",`+state+`}`))
		return &r
	}
	up := upstream.Start(t)
	up.On("/v1/batches", func(upstream.Seen) *upstream.Reply { return batch() })
	up.On("/v1/batches/batch_a", func(upstream.Seen) *upstream.Reply { return batch() })
	up.On("/v1/files/file-in/content", upstream.Always(upstream.JSON(200, []byte(strings.Repeat(line, 3)))))
	up.On("/v1/files/file-out/content", upstream.Always(upstream.JSON(200, []byte(strings.Repeat(result, 3)))))

	g := start(t)
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

	g = g.again()
	held := 0.0
	eventually(t, logLimit, "the maximum is held", func() bool { held = used(); return held >= 3*400*0.3e-6 })
	ended.Store(true)
	same := func() bool { return fmt.Sprintf("%.9f", used()) == fmt.Sprintf("%.9f", cost) }
	eventually(t, logLimit, fmt.Sprintf("the batch counts with its cost %.9f instead of %.9f", cost, held), same)
	eventually(t, logLimit, "both are in the log", func() bool {
		rows := g.call("GET", "/v1/logs", "", "x-gateway-api-key: "+key).want(t, 200)
		return rows.get("total").Int() == 2 && fmt.Sprintf("%.7f", rows.get("data.0.cost").Float()+rows.get("data.1.cost").Float()) == fmt.Sprintf("%.7f", cost*100)
	})
	for range 2 {
		g.child.kill()
		g = g.again()
		if !same() {
			t.Errorf("after a further kill %.9f counts, want %.9f", used(), cost)
		}
	}
	g.stop()
}

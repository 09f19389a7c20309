package e2e

import (
	"encoding/json"
	"testing"

	"sluice/internal/test/upstream"
)

// What was used and stored is gone after a reset: nothing of it is still on its way.
func TestUsageBeginsAnew(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	up.Handle("/v1/chat/completions", func(upstream.Seen) *upstream.Response {
		r := upstream.JSON(200, json.RawMessage(`{"id":"c","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":900,"total_tokens":920}}`))
		return &r
	})
	g := start(t)
	g.saveProvider("main", up)
	workspace := g.do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String()
	made := g.do(adminKey, "POST", "/v1/api-keys/workspace/service", object{
		"name": "spender", "workspace_id": workspace, "scopes": []string{"completions.write"},
		"usage_limits": object{"type": "tokens", "credit_limit": 10_000},
	})
	id, key := made.get("id").String(), made.get("key").String()
	call := func() int {
		return g.call("POST", "/v1/chat/completions", `{"model":"@main/gpt-4o","max_tokens":1000,"messages":[{"role":"user","content":"Hello there"}]}`, "x-gateway-api-key: "+key).Status
	}
	eventually(t, logLimit, "the key is in force", func() bool { return call() == 200 })
	for range 4 {
		if status := call(); status != 200 {
			t.Fatalf("refused with %d of what 10 calls may use", status)
		}
	}
	eventually(t, logLimit, "five calls are stored", func() bool {
		return g.do(adminKey, "GET", "/v1/api-keys/"+id, nil).get("usage_limits.current_usage").Float() == 5*920
	})
	g.do(adminKey, "PUT", "/v1/api-keys/"+id, object{"reset_usage": true, "usage_limits": object{"type": "tokens", "credit_limit": 1}})
	eventually(t, logLimit, "the low limit is in force", func() bool { return call() == 412 })
	g.do(adminKey, "PUT", "/v1/api-keys/"+id, object{"usage_limits": object{"type": "tokens", "credit_limit": 10_000}})
	eventually(t, logLimit, "the high limit is in force", func() bool { return call() == 200 })
	passed := 1
	for call() == 200 {
		passed++
	}
	if passed != 10 {
		t.Errorf("%d calls passed behind a reset, want 10", passed)
	}
	g.stop()
}

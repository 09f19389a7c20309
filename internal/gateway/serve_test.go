package gateway_test

import (
	"strings"
	"testing"
)

func TestChat(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.call("POST", "/v1/chat/completions", hello, r.custom()...)
	if a.StatusCode != 200 || !strings.Contains(a.Text, `"choices"`) {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	for name, want := range map[string]string{
		"x-gateway-provider": "openai", "x-gateway-last-used-option-index": "config",
		"x-gateway-retry-attempt-count": "0", "x-gateway-cache-status": "DISABLED", "content-type": "application/json",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if a.Header.Get("x-gateway-trace-id") == "" || a.Header.Get("x-gateway-request-id") == "" {
		t.Error("no trace or request id")
	}
	row := r.journal.one(t)
	if row.Status != 200 || row.Usage.TotalTokens == 0 || row.Provider != "openai" || row.Model != "gpt-4o-mini" || row.ID != a.Header.Get("x-gateway-request-id") {
		t.Errorf("record %+v", row)
	}
	if string(row.Request.Bytes) != hello || string(row.Response.Bytes) != a.Text {
		t.Errorf("bodies %q %q", row.Request.Bytes, row.Response.Bytes)
	}
	seen := r.up.Seen()
	if len(seen) != 1 || string(seen[0].Body) != hello || seen[0].Target != "/v1/chat/completions" {
		t.Errorf("the upstream saw %+v", seen)
	}
	for _, f := range seen[0].Header {
		if strings.Contains(f.Value, key) || strings.HasPrefix(strings.ToLower(f.Name), "x-gateway") {
			t.Errorf("the upstream got %s: %s", f.Name, f.Value)
		}
	}
}

func TestChatStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	body := strings.Replace(hello, "{", `{"stream":true,`, 1)
	a := r.call("POST", "/v1/chat/completions", body, r.custom()...)
	if a.StatusCode != 200 || !strings.HasSuffix(a.Text, "data: [DONE]\n\n") {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	if strings.Contains(a.Text, "usage") {
		t.Errorf("usage that was not asked for is shown: %s", a.Text)
	}
	if row := r.journal.one(t); row.Usage.TotalTokens == 0 || !row.Stream || row.Outcome != "ok" {
		t.Errorf("record %+v", row)
	}
}

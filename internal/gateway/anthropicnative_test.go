package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/test/upstream"
)

// The key of Anthropic's client stands in x-api-key, and the answers have the shape that
// it reads, errors and the catalogue too.
func TestAnthropicsClient(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.accounts["claude"] = &credential.Account{
		Slug: "claude", Spec: "anthropic", Status: "active", Models: []credential.Model{{Slug: "claude-haiku", Enabled: true}},
		Values: map[string]string{"key": "sk-saved", "custom_host": r.up.URL() + "/v1"},
	}
	r.up.Handle("/v1/messages/batches", upstream.Always(upstream.JSON(200, []byte(`{"id":"msgbatch_1","results_url":null}`))))
	r.up.Handle("/v1/files/file_1", upstream.Always(upstream.JSON(404, []byte(`{"type":"error","error":{"type":"not_found_error","message":"gone"}}`))))
	const batch = `{"requests":[{"custom_id":"1","params":{"model":"MODEL"}}]}`
	anthropicHeaders := func(more ...string) []string {
		return append([]string{"x-gateway-api-key", "x-api-key: " + key, "anthropic-version: 2023-06-01"}, more...)
	}
	for name, c := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		message            string
	}{
		"a batch":                  {"POST", "/v1/messages/batches", strings.Replace(batch, "MODEL", "claude-haiku", 1), anthropicHeaders("x-gateway-provider: @claude"), 200, `{"id":"msgbatch_1","results_url":null}`},
		"a batch of other models":  {"POST", "/v1/messages/batches", strings.Replace(batch, "MODEL", "claude-opus", 1), anthropicHeaders("x-gateway-provider: @claude"), 412, `"type":"error"`},
		"a batch, elsewhere":       {"POST", "/v1/messages/batches", batch, []string{"anthropic-version: 2023-06-01", "x-gateway-provider: openai", "authorization: Bearer k"}, 501, `createBatch in Anthropic's format is not supported by openai`},
		"a file that is not there": {"GET", "/v1/files/file_1", "", anthropicHeaders("x-gateway-provider: @claude"), 404, `{"type":"error","error":{"type":"not_found_error"`},
		"a file, elsewhere":        {"GET", "/v1/files/file_1", "", []string{"anthropic-version: 2023-06-01", "x-gateway-provider: openai", "authorization: Bearer k"}, 501, `"type":"error"`},
		"no provider":              {"GET", "/v1/files/file_1", "", anthropicHeaders(), 400, `"type":"error"`},
		"the catalogue":            {"GET", "/v1/models", "", anthropicHeaders(), 200, `{"data":[{"type":"model","id":"@claude/claude-haiku","display_name":"@claude/claude-haiku","created_at":"1970-01-01T00:00:00Z"}],"has_more":false,"first_id":"@claude/claude-haiku","last_id":"@claude/claude-haiku"}`},
		"OpenAI's client":          {"GET", "/v1/files/file_1", "", []string{"x-gateway-provider: @claude"}, 404, `{"error":{"code":null,"message":"anthropic error: gone"`},
	} {
		a := r.call(c.method, c.path, c.body, c.headers...)
		if a.StatusCode != c.status || !strings.Contains(a.Text, c.message) {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.Text)
		}
	}
}

// A list of batches has the results of each at this gateway, and all other bytes as they
// were.
func TestResultsAreHere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const batch = `{"id":"b2", "processing_status":"ended","results_url":"https://api.anthropic.com/v1/messages/batches/b2/results"}`
	r.up.Handle("/v1/messages/batches", upstream.Always(upstream.JSON(200, []byte(`{"data":[{"id":"b1", "results_url":null},`+batch+`], "has_more":false}`))))
	a := r.call("GET", "/v1/messages/batches", "", r.as(speaker{id: "anthropic", base: "/v1"})...)
	want := `{"data":[{"id":"b1", "results_url":null},{"id":"b2", "processing_status":"ended","results_url":"/v1/messages/batches/b2/results"}], "has_more":false}`
	if a.StatusCode != 200 || a.Text != want {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}

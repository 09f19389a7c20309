package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/test/upstream"
)

// The requests of a batch name models of their own. An account that allows some models
// only is not asked for others this way, wherever the requests come from.
func TestBatchOfModelsNotAllowed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.accounts["some"] = &credential.Account{
		Slug: "some", Spec: "anthropic", Status: "active", Models: []credential.Model{{Slug: "claude-haiku", Enabled: true}},
		Values: map[string]string{"key": "sk-saved", "custom_host": r.up.URL() + "/v1"},
	}
	r.up.Handle("/v1/messages/batches", upstream.Always(upstream.JSON(200, []byte(`{"id":"msgbatch_1","type":"message_batch","processing_status":"in_progress"}`))))
	const good, bad = `[{"custom_id":"1","params":{"model":"claude-haiku"}}]`, `[{"custom_id":"1","params":{"model":"claude-haiku"}},{"custom_id":"2","params":{"model":"claude-opus"}}]`
	for name, c := range map[string]struct {
		body, config string
		status       int
	}{
		"allowed":         {`{"requests":` + good + `}`, "", 200},
		"in the body":     {`{"requests":` + bad + `}`, "", 412},
		"said twice":      {`{"requests":[{"custom_id":"1","params":{"model":"claude-haiku"},"params":{"model":"claude-opus"}}]}`, "", 412},
		"escaped":         {`{"requests":[{"custom_id":"1","p\u0061rams":{"mod\u0065l":"claude-opus"}}]}`, "", 412},
		"to fall back to": {`{"requests":[{"custom_id":"1","params":{"model":"claude-haiku","fallbacks":[{"model":"claude-opus"}]}}]}`, "", 412},
		"in the override": {`{"requests":` + good + `}`, `,"override_params":{"requests":` + bad + `}`, 412},
	} {
		before := r.up.Total()
		a := r.call("POST", "/v1/batches", c.body, `x-gateway-config: {"provider":"@some"`+c.config+`}`)
		if a.StatusCode != c.status || c.status != 200 && (!strings.Contains(a.Text, "model_not_allowed") || r.up.Total() != before) {
			t.Errorf("%s: %d after %d calls: %s", name, a.StatusCode, r.up.Total()-before, a.Text)
		}
	}
}

// Neither is it by the lines of a file, whatever the file is said to be for.
func TestBatchFileOfModelsNotAllowed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.accounts["some"] = &credential.Account{
		Slug: "some", Spec: "openai", Status: "active", Models: []credential.Model{{Slug: "gpt-4o-mini", Enabled: true}},
		Values: map[string]string{"key": "sk-saved", "custom_host": r.up.URL() + "/v1"},
	}
	r.dir.accounts["all"] = &credential.Account{Slug: "all", Spec: "openai", Status: "active", AllModels: true, Values: r.dir.accounts["some"].Values}
	r.up.Handle("/v1/files", upstream.Always(upstream.JSON(200, []byte(`{"id":"file-1","object":"file"}`))))
	const good, bad = `{"custom_id":"1","body":{"model":"gpt-4o-mini"}}` + "\n", `{"custom_id":"2","body":{"model":"gpt-4o"}}` + "\n"
	for name, c := range map[string]struct {
		account, purpose, file string
		status                 int
		text                   string
	}{
		"allowed":          {"some", "batch", good + good, 200, ""},
		"one that is not":  {"some", "batch", good + "\n" + bad, 412, "line 3 of the file uses the model \\\"gpt-4o\\\""},
		"said twice":       {"some", "batch", `{"body":{"model":"gpt-4o-mini","model":"gpt-4o"}}`, 412, "line 1"},
		"escaped":          {"some", "batch", `{"b\u006fdy":{"mod\u0065l":"gpt-4o"}}`, 412, "line 1"},
		"to fall back to":  {"some", "batch", `{"body":{"model":"gpt-4o-mini","models":["gpt-4o"]}}`, 412, "line 1"},
		"another purpose":  {"some", "user_data", good + bad, 412, "line 2"},
		"no JSON":          {"some", "batch", good + "{", 400, "line 2 of the file is not a JSON object"},
		"no batch at all":  {"some", "vision", "\x89PNG\n\x00{", 200, ""},
		"a free provider":  {"all", "batch", bad, 200, ""},
		"a tuning dataset": {"some", "fine-tune", `{"messages":[{"role":"user","content":"x"}]}`, 200, ""},
	} {
		before := r.up.Total()
		body := "--x\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\n" + c.purpose + "\r\n--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n" + c.file + "\r\n--x--\r\n"
		a := r.call("POST", "/v1/files", body, "content-type: multipart/form-data; boundary=x", "x-gateway-provider: @"+c.account)
		if a.StatusCode != c.status || !strings.Contains(a.Text, c.text) || c.status != 200 && r.up.Total() != before {
			t.Errorf("%s: %d after %d calls: %s", name, a.StatusCode, r.up.Total()-before, a.Text)
		}
	}
}

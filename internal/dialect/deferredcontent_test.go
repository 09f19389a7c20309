package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/cohere"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/oracle"
	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/llm"
)

// Results of calls that were made together stand together, and pictures in them behind the
// last: providers refuse calls that are not followed by all of their results.
func TestResultsStandTogether(t *testing.T) {
	t.Parallel()
	body := `{"input":[{"role":"user","content":"x"},
		{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call","call_id":"c2","name":"f","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,aGk="}]},
		{"type":"function_call_output","call_id":"c2","output":"b"}%s]}`
	for name, c := range map[string]struct {
		upstream dialect.Upstream
		model    string
	}{
		"openai": {openai.Dialect().Upstreams[llm.ChatComplete], "gpt-5"},
		"cohere": {cohere.Dialect().Upstreams[llm.ChatComplete], "command-a-vision"},
		"oracle": {oracle.Dialect().Upstreams[llm.ChatComplete], "cohere.command-a-vision"},
	} {
		for rest, want := range map[string]string{
			"": "user assistant tool tool user", `,{"role":"user","content":"y"}`: "user assistant tool tool user user",
		} {
			call, err := responses.Client().DecodeCall([]byte(strings.Replace(body, "%s", rest, 1)))
			if err != nil {
				t.Fatal(err)
			}
			out, err := c.upstream.EncodeCall(t.Context(), call, &dialect.Target{Model: c.model, Value: func(string) string { return "" }})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := rolesIn(t, out.Body); got != want {
				t.Errorf("%s: %s, want %s: %s", name, got, want, out.Body)
			}
		}
	}
}

// rolesIn are the roles of the messages in a body, wherever it has them.
func rolesIn(t *testing.T, body []byte) string {
	t.Helper()
	type list struct{ Messages []struct{ Role string } }
	var b struct {
		list
		ChatRequest list
	}
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, m := range append(b.Messages, b.ChatRequest.Messages...) {
		roles = append(roles, strings.ToLower(m.Role))
	}
	return strings.Join(roles, " ")
}

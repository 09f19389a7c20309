package scripted

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

func TestBedrockAnswers(t *testing.T) {
	t.Parallel()
	const user = `{"role":"user","content":[{"text":"Hi"}]}`
	const use = `{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"look","input":{}}}]}`
	const result = `{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"rain"}]}}]}`
	const plain = "/model/amazon.nova-pro-v1%3A0/converse"
	for name, c := range map[string]struct {
		path, body string
		status     int
		holds      string
	}{
		"repeats the question":       {plain, `{"messages":[` + user + `]}`, 200, `"text":"You said: \"Hi\"."`},
		"streams messages of Amazon": {plain + "-stream", `{"messages":[` + user + `]}`, 200, `{"contentBlockIndex":0,"delta":{"text":"You "}}`},
		"calls a named tool":         {plain, `{"toolConfig":{"tools":[{"toolSpec":{"name":"Hi","inputSchema":{"json":{"properties":{"x":{"type":"string"}}}}}}]},"messages":[` + user + `]}`, 200, `"input":{"x":"Hi"}`},
		"repeats the tool's result":  {plain, `{"messages":[` + user + `,` + use + `,` + result + `]}`, 200, `The tool said: rain.`},
		"requires the tool's result": {plain, `{"messages":[` + user + `,` + use + `,` + user + `]}`, 400, "tool_result"},
		"requires alternating roles": {plain, `{"messages":[` + user + `,` + user + `]}`, 400, "must alternate"},
		"refuses blank texts":        {plain, `{"messages":[{"role":"user","content":[{"text":""}]}]}`, 400, "blank"},
		"fails on request":           {"/model/fault:status%40429/converse", `{}`, 429, "An injected fault."},
		"ignores other paths":        {"/model/m/invoke", `{}`, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Bedrock(upstream.Seen{Method: "POST", Target: c.path, Body: []byte(c.body), Header: []upstream.Field{{Name: "Authorization", Value: "AWS4-HMAC-SHA256 Credential=k"}}})
			if r == nil {
				if c.status != 0 {
					t.Fatal("no response")
				}
				return
			}
			var body strings.Builder
			for _, p := range r.Chunks {
				body.Write(p.Bytes)
			}
			if status := max(r.Status, 0); status != c.status && (c.status != 200 || status != 0) || !strings.Contains(body.String(), c.holds) {
				t.Errorf("%d %s", r.Status, body.String())
			}
		})
	}
}

func TestBedrockRequiresASignature(t *testing.T) {
	t.Parallel()
	r := Bedrock(upstream.Seen{Method: "POST", Target: "/model/m/converse", Body: []byte(`{}`)})
	if r == nil || r.Status != 403 {
		t.Errorf("got %+v, want 403", r)
	}
}

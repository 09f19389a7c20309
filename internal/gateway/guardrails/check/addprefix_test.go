package check_test

import (
	"testing"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/llm"
)

func TestAddPrefix_WritesBeforeTheFirstMessageOfARole(t *testing.T) {
	t.Parallel()
	const two = `{"model":"m", "messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi"},{"role":"user","content":"there"}]}`
	for _, c := range []struct {
		name, parameters, body, want string
		endpoint                     llm.Endpoint
	}{
		{"the first user message", `{"prefix":"P: "}`, two,
			`{"model":"m", "messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"P: Hi"},{"role":"user","content":"there"}]}`, llm.ChatComplete},
		{"the system message", `{"prefix":"P: ","applyToRole":"system"}`, two,
			`{"model":"m", "messages":[{"role":"system","content":"P: Be kind."},{"role":"user","content":"Hi"},{"role":"user","content":"there"}]}`, llm.ChatComplete},
		{"a message of its own", `{"prefix":"\"P\"","addToExisting":false}`, two,
			`{"model":"m", "messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"\"P\""},{"role":"user","content":"Hi"},{"role":"user","content":"there"}]}`, llm.ChatComplete},
		{"content parts", `{"prefix":"P: "}`, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"Hi"}]}]}`,
			`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"P: Hi"}]}]}`, llm.ChatComplete},
		{"no system message", `{"prefix":"P","applyToRole":"system"}`, `{"messages":[{"role":"user","content":"Hi"}]}`,
			`{"messages":[{"role":"system","content":"P"},{"role":"user","content":"Hi"}]}`, llm.ChatComplete},
		{"no assistant message", `{"prefix":"P","applyToRole":"assistant"}`, `{"messages":[{"role":"user","content":"Hi"}]}`,
			`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"P"}]}`, llm.ChatComplete},
		{"no message", `{"prefix":"P"}`, `{"messages":[]}`, `{"messages":[{"role":"user","content":"P"}]}`, llm.ChatComplete},
		{"only if empty with a text", `{"prefix":"P","onlyIfEmpty":true}`, two, "", llm.ChatComplete},
		{"only if empty without a message", `{"prefix":"P","onlyIfEmpty":true}`, `{"messages":[]}`, `{"messages":[{"role":"user","content":"P"}]}`, llm.ChatComplete},
		{"only if empty with an empty text", `{"prefix":"P","onlyIfEmpty":true}`, `{"messages":[{"role":"user","content":""}]}`, `{"messages":[{"role":"user","content":"P"}]}`, llm.ChatComplete},
		{"system of Messages", `{"prefix":"P ","applyToRole":"system"}`, `{"system":"S","messages":[]}`, `{"system":"P S","messages":[]}`, llm.Messages},
		{"no system of Messages", `{"prefix":"P","applyToRole":"system"}`, `{"messages":[]}`, `{"messages":[],"system":"P"}`, llm.Messages},
		{"a block before those of Messages", `{"prefix":"P","applyToRole":"system","addToExisting":false}`, `{"system":[{"type":"text","text":"S"}],"messages":[]}`,
			`{"system":[{"type":"text","text":"P"},{"type":"text","text":"S"}],"messages":[]}`, llm.Messages},
		{"instructions of Responses", `{"prefix":"P","applyToRole":"system"}`, `{"input":"Hi"}`, `{"input":"Hi","instructions":"P"}`, llm.CreateModelResponse},
		{"a string of Responses", `{"prefix":"P "}`, `{"input":"Hi"}`, `{"input":"P Hi"}`, llm.CreateModelResponse},
		{"an item before a string of Responses", `{"prefix":"P","addToExisting":false}`, `{"input":"Hi"}`, `{"input":[{"role":"user","content":"P"},{"role":"user","content":"Hi"}]}`, llm.CreateModelResponse},
		{"an item of Responses", `{"prefix":"P "}`, `{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}]}`,
			`{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"P Hi"}]}]}`, llm.CreateModelResponse},
		{"a prompt", `{"prefix":"P ","applyToRole":"system","addToExisting":false}`, `{"prompt":"Hi"}`, `{"prompt":"P Hi"}`, llm.Complete},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, nil, "default.addPrefix", c.parameters, &check.Input{Endpoint: c.endpoint, Body: []byte(c.body)})
			compare(t, &got, true, "", "")
			if string(got.Body) != c.want {
				t.Errorf("body %s, want %s", got.Body, c.want)
			}
		})
	}
	got := run(t, nil, "default.addPrefix", `{"prefix":"P"}`, &check.Input{Endpoint: llm.ChatComplete})
	compare(t, &got, false, "cannot be read", "")
	runRefusals(t, "default.addPrefix", refusals{`{}`: ".prefix: required", `{"prefix":"P","applyToRole":"tool"}`: ".applyToRole: one of user"})
}

package conformance

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// wrong is a request in which a member is not what it must be, by the surface's name:
// what is put into the body, and which place the refusal names.
type wrong struct{ put, param string }

const tool = `{"type":"function","function":{"name":"f"}}`

// surfaces are the shapes of conversations with what is wrong in them.
var surfaces = []struct {
	endpoint llm.Endpoint
	path     string
	body     string // goes on after model
	wrong    []wrong
}{
	{llm.ChatComplete, "/v1/chat/completions", `"messages":[{"role":"user","content":"hi"}]`, []wrong{
		{`"stream":"yes"`, "stream"}, {`"max_tokens":"many"`, "max_tokens"}, {`"max_completion_tokens":1.5`, "max_completion_tokens"}, {`"temperature":"warm"`, "temperature"},
		{`"top_p":[1]`, "top_p"}, {`"n":"2"`, "n"}, {`"seed":"x"`, "seed"}, {`"stop":7`, "stop"}, {`"stop":["a",7]`, "stop[1]"}, {`"logprobs":1`, "logprobs"},
		{`"top_logprobs":true`, "top_logprobs"}, {`"user":7`, "user"}, {`"parallel_tool_calls":"no"`, "parallel_tool_calls"}, {`"response_format":"json"`, "response_format"},
		{`"reasoning_effort":3`, "reasoning_effort"}, {`"metadata":"x"`, "metadata"}, {`"stream_options":{"include_usage":"yes"}`, "stream_options.include_usage"},
		{`"tool_choice":"perhaps"`, "tool_choice"}, {`"tool_choice":{"type":"any"}`, "tool_choice.type"},
		{`"tools":[` + tool + `],"tool_choice":{"type":"function","function":{"name":"g"}}`, "tool_choice.function.name"},
		{`"tools":[` + tool + `,` + tool + `]`, "tools[1].function.name"}, {`"tools":[{"type":"function","function":{}}]`, "tools[0].function.name"},
		{`"tools":["f"]`, "tools[0]"},
	}},
	{llm.Messages, "/v1/messages", `"max_tokens":16,"messages":[{"role":"user","content":"hi"}]`, []wrong{
		{`"stream":"yes"`, "stream"}, {`"temperature":"warm"`, "temperature"}, {`"top_p":"x"`, "top_p"}, {`"top_k":1.5`, "top_k"}, {`"stop_sequences":"END"`, "stop_sequences"},
		{`"stop_sequences":[1]`, "stop_sequences[0]"}, {`"metadata":[]`, "metadata"}, {`"metadata":{"user_id":7}`, "metadata.user_id"}, {`"thinking":{"type":"enabled","budget_tokens":"all"}`, "thinking.budget_tokens"},
		{`"output_config":{"effort":7}`, "output_config.effort"}, {`"tool_choice":"auto"`, "tool_choice"}, {`"tool_choice":{"type":"perhaps"}`, "tool_choice.type"},
		{`"tools":[{"name":"f"}],"tool_choice":{"type":"tool","name":"g"}`, "tool_choice.name"}, {`"tools":[{"name":"f"},{"name":"f"}]`, "tools[1].name"}, {`"tools":[{"input_schema":{}}]`, "tools[0].name"},
	}},
	{llm.CreateModelResponse, "/v1/responses", `"input":"hi"`, []wrong{
		{`"stream":"yes"`, "stream"}, {`"max_output_tokens":"many"`, "max_output_tokens"}, {`"temperature":"warm"`, "temperature"}, {`"top_logprobs":1.5`, "top_logprobs"},
		{`"parallel_tool_calls":0`, "parallel_tool_calls"}, {`"reasoning":"high"`, "reasoning"}, {`"reasoning":{"effort":3}`, "reasoning.effort"}, {`"text":"short"`, "text"},
		{`"text":{"verbosity":1}`, "text.verbosity"}, {`"include":"all"`, "include"}, {`"metadata":7`, "metadata"}, {`"user":7`, "user"}, {`"store":"yes"`, "store"},
		{`"tool_choice":"perhaps"`, "tool_choice"}, {`"tool_choice":{"type":"file_search"}`, "tool_choice.type"},
		{`"tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"function","name":"g"}`, "tool_choice.name"},
		{`"tools":[{"type":"function","name":"f"},{"type":"function","name":"f"}]`, "tools[1].name"}, {`"tools":[{"type":"function"}]`, "tools[0].name"},
	}},
}

// TestWrongCallsAreNotSent: what is wrong with a conversation that is put into another
// shape is told to the caller with its place, and the provider hears nothing, whichever
// shape it speaks. A provider of each shape stands for all that speak it.
func TestWrongCallsAreNotSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, tr := range families(t) {
		spec, _ := specs().Find(tr.provider)
		for _, s := range surfaces {
			if spec.Serves(s.endpoint) && (s.endpoint != llm.ChatComplete || name == provider.OpenAI) {
				continue // in its own words: relayed as it is
			}
			for _, w := range s.wrong {
				r.refuses(t, tr, s.path, `{"model":"`+modelOf(t, tr)+`",`+s.body+`,`+w.put+`}`, w.param)
			}
		}
	}
	if sent := r.up.Total(); sent != 0 {
		t.Errorf("%d calls were sent", sent)
	}
}

// families is one transcript of a chat for each shape that providers speak.
func families(t *testing.T) map[provider.Dialect]*transcript {
	t.Helper()
	byDialect := map[provider.Dialect]*transcript{}
	for _, list := range transcripts(t) {
		for _, tr := range list {
			if tr.name() != "chatComplete" {
				continue
			}
			spec, _ := specs().Find(tr.provider)
			if d := maps.Collect(spec.Served())[llm.ChatComplete]; byDialect[d] == nil || tr.provider < byDialect[d].provider {
				byDialect[d] = tr
			}
		}
	}
	return byDialect
}

func modelOf(t *testing.T, tr *transcript) string {
	t.Helper()
	var body struct{ Model string }
	if err := json.Unmarshal([]byte(tr.request.body), &body); err != nil || body.Model == "" {
		t.Fatalf("%s: no model: %v", tr.path, err)
	}
	return body.Model
}

func (r *rig) refuses(t *testing.T, tr *transcript, path, body, param string) {
	t.Helper()
	m := tr.request
	m.first, m.body = "POST "+path, body
	got := r.call(m)
	if got.first != "400" || !strings.Contains(got.body, `"param":"`+param+`"`) && !strings.Contains(got.body, `"message":"`+param+" ") {
		t.Errorf("%s %s\n%s\nwas answered %s %s, want a refusal of %s", tr.provider, path, body, got.first, got.body, param)
	}
}

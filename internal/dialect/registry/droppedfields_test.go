package registry_test

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/registry"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// marked is something of a call: where it stands and how it can be recognised in a request, in
// whatever case.
type marked struct{ path, mark string }

func (s *marked) isIn(body []byte) bool {
	return strings.Contains(strings.ToLower(string(body)), s.mark)
}

// markedCalls are calls of which each thing that a caller may say has a mark.
var markedCalls = map[llm.Endpoint]struct {
	body   string
	marked []marked
}{
	llm.ChatComplete: {
		`{"model":"m","max_tokens":4321,"temperature":0.125,"top_p":0.625,"top_k":17,"seed":789001,"stop":["mark-stop"],"user":"mark-user","n":3,` +
			`"presence_penalty":0.375,"frequency_penalty":0.875,"logit_bias":{"777":-7},"logprobs":true,"top_logprobs":5,"metadata":{"k":"mark-metadata"},` +
			`"service_tier":"flex","safety_identifier":"mark-safety","prompt_cache_key":"mark-cache","verbosity":"low","parallel_tool_calls":false,` +
			`"prediction":{"type":"content","content":"mark-prediction"},"web_search_options":{"search_context_size":"high"},"x_unknown":"mark-unknown",` +
			`"tools":[{"type":"function","function":{"name":"find","description":"mark-tool","parameters":{"type":"object","properties":{"q":{"type":"string","description":"mark-schema"}}}}}],` +
			`"messages":[{"role":"system","content":"mark-system"},{"role":"user","name":"mark-name","content":[{"type":"text","text":"mark-first"},{"type":"text","text":"mark-second"}]},` +
			`{"role":"assistant","content":"mark-answer","refusal":"mark-refusal"},{"role":"user","content":"more"},` +
			`{"role":"assistant","content":null,"tool_calls":[{"id":"mark-call","type":"function","function":{"name":"find","arguments":"{\"q\":\"mark-argument\"}"}}]},` +
			`{"role":"tool","tool_call_id":"mark-call","content":"mark-result"}]}`,
		[]marked{
			{"max_tokens", "4321"}, {"temperature", "0.125"}, {"top_p", "0.625"}, {"top_k", "17"}, {"seed", "789001"}, {"stop", "mark-stop"}, {"user", "mark-user"},
			{"presence_penalty", "0.375"}, {"frequency_penalty", "0.875"}, {"logit_bias", "777"}, {"metadata", "mark-metadata"}, {"service_tier", "flex"},
			{"safety_identifier", "mark-safety"}, {"prompt_cache_key", "mark-cache"}, {"prediction", "mark-prediction"}, {"x_unknown", "mark-unknown"},
			{"tools[0]", "mark-tool"}, {"tools[0]", "mark-schema"}, {"messages[0]", "mark-system"}, {"messages[1].name", "mark-name"},
			{"messages[1].content[0]", "mark-first"}, {"messages[1].content[1]", "mark-second"}, {"messages[2]", "mark-answer"}, {"messages[2].refusal", "mark-refusal"},
			{"messages[4]", "mark-argument"}, {"messages[5]", "mark-result"},
		},
	},
	llm.Messages: {
		`{"model":"m","max_tokens":4321,"temperature":0.125,"top_p":0.625,"top_k":17,"stop_sequences":["mark-stop"],"metadata":{"user_id":"mark-user"},` +
			`"container":"mark-container","inference_geo":"mark-geo","x_unknown":"mark-unknown","system":[{"type":"text","text":"mark-system"}],` +
			`"tools":[{"name":"find","description":"mark-tool","input_schema":{"type":"object","properties":{"q":{"type":"string","description":"mark-schema"}}}}],` +
			`"messages":[{"role":"user","content":[{"type":"text","text":"mark-first"},{"type":"text","text":"mark-second","cache_control":{"type":"ephemeral"}}]},` +
			`{"role":"assistant","content":[{"type":"thinking","thinking":"mark-thought","signature":"mark-signature"},{"type":"text","text":"mark-answer"},{"type":"tool_use","id":"mark-call","name":"find","input":{"q":"mark-argument"}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"mark-call","content":"mark-result"}]}]}`,
		[]marked{
			{"max_tokens", "4321"}, {"temperature", "0.125"}, {"top_p", "0.625"}, {"top_k", "17"}, {"stop_sequences", "mark-stop"}, {"metadata.user_id", "mark-user"},
			{"container", "mark-container"}, {"inference_geo", "mark-geo"}, {"x_unknown", "mark-unknown"}, {"system", "mark-system"},
			{"tools[0]", "mark-tool"}, {"tools[0]", "mark-schema"}, {"messages[0].content[0]", "mark-first"}, {"messages[0].content[1]", "mark-second"},
			{"messages[1].content[0]", "mark-thought"}, {"messages[1].content[1]", "mark-answer"}, {"messages[1].content[2]", "mark-argument"}, {"messages[2].content[0]", "mark-result"},
		},
	},
	llm.CreateModelResponse: {
		`{"model":"m","max_output_tokens":4321,"temperature":0.125,"top_p":0.625,"top_logprobs":5,"user":"mark-user","metadata":{"k":"mark-metadata"},"service_tier":"flex",` +
			`"safety_identifier":"mark-safety","prompt_cache_key":"mark-cache","x_unknown":"mark-unknown","instructions":"mark-system",` +
			`"tools":[{"type":"function","name":"find","description":"mark-tool","parameters":{"type":"object","properties":{"q":{"type":"string","description":"mark-schema"}}}}],` +
			`"input":[{"role":"user","content":[{"type":"input_text","text":"mark-first"},{"type":"input_text","text":"mark-second"}]},` +
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"mark-answer"},{"type":"refusal","refusal":"mark-refusal"}]},{"role":"user","content":"more"},` +
			`{"type":"function_call","call_id":"mark-call","name":"find","arguments":"{\"q\":\"mark-argument\"}"},{"type":"function_call_output","call_id":"mark-call","output":"mark-result"}]}`,
		[]marked{
			{"max_output_tokens", "4321"}, {"temperature", "0.125"}, {"top_p", "0.625"}, {"user", "mark-user"}, {"metadata", "mark-metadata"}, {"service_tier", "flex"},
			{"safety_identifier", "mark-safety"}, {"prompt_cache_key", "mark-cache"}, {"x_unknown", "mark-unknown"}, {"instructions", "mark-system"}, {"tools[0]", "mark-tool"}, {"tools[0]", "mark-schema"},
			{"input[0].content[0]", "mark-first"}, {"input[0].content[1]", "mark-second"}, {"input[1].content[0]", "mark-answer"}, {"input[1].content[1]", "mark-refusal"},
			{"input[3]", "mark-argument"}, {"input[4]", "mark-result"},
		},
	},
}

// strict is a provider that refuses some of what its shape has.
var strict = &dialect.RequestRules{Drop: []string{
	"user", "metadata", "logit_bias", "seed", "presence_penalty", "service_tier", "prediction", "messages[*].name", "messages[*].refusal",
}}

// modelsByDialect are the models with which a dialect's upstreams are asked: those that it speaks to in
// different words.
var modelsByDialect = map[string][]string{
	"bedrock": {"anthropic.claude-opus-4-5", "anthropic.claude-opus-5-5", "amazon.nova-pro-v1:0", "cohere.command-r-v1:0", "mistral.mistral-large-2407-v1:0", "meta.llama3-70b-instruct-v1:0"},
	"oracle":  {"cohere.command-r", "cohere.command-a-vision", "meta.llama-4"}, "anthropic": {"claude-opus-4-5", "claude-opus-5-5", "claude-3-haiku-20240307"},
	"gemini": {"gemini-2.0-flash", "gemini-3-pro"}, "vertex": {"gemini-2.5-pro"},
}

// Whatever a caller says reaches the provider or is named as dropped, and nothing is both: in
// every dialect and from every surface, also what a provider alone refuses of a shape.
func TestWhatIsNotSentIsTold(t *testing.T) {
	t.Parallel()
	encoded := 0
	for surface, call := range markedCalls {
		c, err := clientOf(surface).DecodeCall([]byte(call.body))
		if err != nil {
			t.Fatalf("%s: %v", surface, err)
		}
		eachUpstream(func(d *dialect.Dialect, up dialect.Upstream, to *dialect.Target) {
			out, err := up.EncodeCall(t.Context(), c, to)
			if err != nil {
				return // refused: nothing is lost unsaid
			}
			encoded++
			body := out.Body
			if d.Shape != nil && to.Endpoint == llm.ChatComplete {
				body = ruled(t, d, body, to.Rules)
			}
			for _, f := range out.Header {
				body = append(body, f.Value...)
			}
			for _, s := range call.marked {
				sent, named := s.isIn(body), slices.ContainsFunc(out.Dropped, func(dropped string) bool { return covers(dropped, s.path) })
				if sent == named {
					t.Errorf("%s at %s, %s: %s is sent: %v, told: %v\n%q\n%s", surface, d.Name, to.Model, s.path, sent, named, out.Dropped, body)
				}
			}
		})
	}
	if encoded < 50 {
		t.Errorf("%d calls only", encoded)
	}
}

// eachUpstream calls do for every conversation of a dialect, with its models, at a provider that
// refuses nothing and at a strict one.
func eachUpstream(do func(d *dialect.Dialect, up dialect.Upstream, to *dialect.Target)) {
	for _, d := range registry.List() {
		for ep, up := range d.Upstreams {
			models := modelsByDialect[d.Name]
			if models == nil {
				models = []string{"m"}
			}
			for _, model := range models {
				for _, rules := range []*dialect.RequestRules{{}, strict} {
					do(d, up, &dialect.Target{Endpoint: ep, Provider: d.Name, Model: model, Rules: rules, Value: func(string) string { return "" }})
				}
			}
		}
	}
}

// covers reports whether a place that is named as lost is the other or holds it.
func covers(dropped, path string) bool {
	rest, ok := strings.CutPrefix(path, dropped)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// ruled is what is sent to a provider with those rules.
func ruled(t *testing.T, d *dialect.Dialect, body []byte, rules *dialect.RequestRules) []byte {
	t.Helper()
	var doc jsonedit.Doc
	if err := jsonedit.Scan(body, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Apply(d.Shape(llm.ChatComplete, &doc, dialect.Shaping{Rules: rules}).Edits)
}

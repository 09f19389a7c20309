package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

func sample() *llm.Response {
	return &llm.Response{
		ID: "msg_01", Model: "m-1", Created: 1_700_000_000,
		Choices: []llm.Choice{{
			Finish: llm.FinishToolCalls, Raw: "tool_use", Logprobs: []byte(`{"content":[{"token":"It","logprob":-0.1},{"token":" is","logprob":-0.2}]}`),
			Parts: []llm.Part{
				{Kind: llm.ReasoningPart, Text: "Let me \"see\"", Signature: "sig==", Shape: "responses"},
				{Kind: llm.ReasoningPart, Signature: "c2VhbGVk", Shape: "responses"},
				{Kind: llm.TextPart, Text: "It is\nwarm. 😀"},
				{Kind: llm.RefusalPart, Text: "Not more"},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_1", Name: "weather", Arguments: `{"city":"Rome"}`}},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_2", Name: "time"}, Signature: "thought"},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_3", Name: "sql", Arguments: `SELECT "a"`, Custom: true}},
				{Kind: llm.TextPart, Text: "Done", Shape: shapeName, Citations: []byte(`[{"type":"url_citation","start_index":0,"end_index":4,"url":"https://a.example","title":"A"}]`)},
				{Kind: llm.ImagePart, Media: &llm.Media{MIME: "image/png", Data: "aGk="}},
				{Kind: llm.AudioPart, Text: "Hi", Media: &llm.Media{Data: "UklG"}},
			},
		}},
		Usage: llm.Usage{InputTokens: 30, OutputTokens: 12, TotalTokens: 42, CachedTokens: 20, CacheWriteTokens: 3, ReasoningTokens: 5, InputAudioTokens: 1, OutputAudioTokens: 2, InputImageTokens: 4, OutputImageTokens: 6, Reported: true},
	}
}

// newResponseContext repeats a call with something in every field.
func newResponseContext(t testing.TB, strict bool) *dialect.ResponseContext {
	t.Helper()
	c, err := client{}.DecodeCall([]byte(`{"model":"asked","input":"hi","instructions":"Be brief","max_output_tokens":9,"temperature":0.5,"user":"u",
		"metadata":{"a":"b"},"reasoning":{"effort":"low"},"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}},"verbosity":"low"},
		"tools":[{"type":"function","name":"weather"},{"type":"custom","name":"sql"}],"tool_choice":"required"}`))
	if err != nil {
		t.Fatal(err)
	}
	return &dialect.ResponseContext{Call: c, ID: "0193f3a04c1e7b6f9d2a0c6d8a", Created: 1_700_000_000, Provider: "anthropic", Strict: strict, Store: true, Previous: "resp_gw0"}
}

// bare leaves out what the shape makes anew: ids, and the provider's own words.
func bare(r *llm.Response) *llm.Response {
	r.ID, r.Created, r.Extra, r.Usage.Tier = "", 0, nil, ""
	for i := range r.Choices {
		c := &r.Choices[i]
		c.Raw = ""
		for k := range c.Parts {
			p := &c.Parts[k]
			p.ID = ""
			if p.Kind == llm.CallPart {
				p.Signature = ""
				if p.Call.Arguments == "" {
					p.Call.Arguments = "{}"
				}
			}
		}
	}
	return r
}

// What one side of the shape writes the other reads as it was.
func TestRepliesComeBack(t *testing.T) {
	t.Parallel()
	body := client{}.EncodeResponse(nil, sample(), newResponseContext(t, true))
	decoded, err := upstream{}.DecodeResponse(&dialect.Incoming{Body: body})
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	if decoded.ID != "resp_gw0193f3a04c1e7b6f9d2a0c6d" || !IsID(decoded.ID) || decoded.Created != 1_700_000_000 {
		t.Errorf("id %s, created %d", decoded.ID, decoded.Created)
	}
	if diff := dialecttest.DiffResponses(bare(sample()), bare(decoded)); diff != nil {
		t.Errorf("%s\n%s", strings.Join(diff, "\n"), body)
	}
}

// A response has every member that OpenAI's schema requires.
func TestResponseObject(t *testing.T) {
	t.Parallel()
	r := &llm.Response{Model: "m-1", Choices: []llm.Choice{{Finish: llm.FinishLength, Parts: []llm.Part{{Text: "Hi"}}}}, Usage: llm.Usage{InputTokens: 3, OutputTokens: 4, Reported: true}}
	const want = `{"id":"resp_gw0193f3a04c1e7b6f9d2a0c6d","object":"response","created_at":1700000000,"status":"incomplete","background":false,"completed_at":null,` +
		`"error":null,"incomplete_details":{"reason":"max_output_tokens"},"instructions":"Be brief","max_output_tokens":9,"max_tool_calls":null,"model":"m-1","provider":"anthropic",` +
		`"output":[{"id":"msg_0193f3a04c1e7b6f9d2a0c6d0","type":"message","status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[],"logprobs":[]}]}],` +
		`"parallel_tool_calls":true,"previous_response_id":"resp_gw0","frequency_penalty":0,"metadata":{"a":"b"},"presence_penalty":0,"prompt_cache_key":null,"safety_identifier":null,` +
		`"temperature":0.5,"top_logprobs":0,"top_p":1,"truncation":"disabled","user":"u","reasoning":{"effort":"low","summary":null},"service_tier":"default","store":true,` +
		`"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}},"verbosity":"low"},"tool_choice":"required",` +
		`"tools":[{"type":"function","name":"weather","description":null,"parameters":null,"strict":false},{"type":"custom","name":"sql","description":null}],` +
		`"usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":7}}`
	if got := string(client{}.EncodeResponse(nil, r, newResponseContext(t, true))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Callers who are not strict get what else the provider says, but never a second
// member of one name.
func TestLenientReply(t *testing.T) {
	t.Parallel()
	r := &llm.Response{
		Choices: []llm.Choice{{
			Finish: llm.FinishFilter, Extra: []llm.Param{{Name: "safetyRatings", Raw: []byte(`[1]`)}},
			Parts: []llm.Part{
				{Text: "Hi", Shape: "anthropic", Citations: []byte(`[{"type":"char_location"}]`)},
				{Kind: llm.OpaquePart, Raw: []byte(`{"type":"server_tool_use"}`), Shape: "anthropic"},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "c", Name: "f"}, Signature: "s"},
			},
		}},
		Extra: []llm.Param{{Name: "id", Raw: []byte(`"twice"`)}, {Name: "service_tier", Raw: []byte(`"flex"`)}, {Name: "system_fingerprint", Raw: []byte(`"fp"`)}},
	}
	lenient := string(client{}.EncodeResponse(nil, r, newResponseContext(t, false)))
	for _, want := range []string{`"system_fingerprint":"fp"`, `"safetyRatings":[1]`, `"citations":[{"type":"char_location"}]`, `{"type":"server_tool_use"}`, `"thought_signature":"s"`, `"service_tier":"flex"`, `"reason":"content_filter"`} {
		if strings.Count(lenient, want) != 1 {
			t.Errorf("%s is not in %s", want, lenient)
		}
	}
	if strings.Contains(lenient, "twice") {
		t.Error("two ids")
	}
	strict := string(client{}.EncodeResponse(nil, r, newResponseContext(t, true)))
	for _, not := range []string{"system_fingerprint", "safetyRatings", "citations", "server_tool_use", "thought_signature"} {
		if strings.Contains(strict, not) {
			t.Errorf("%s is in %s", not, strict)
		}
	}
	if len(r.Extra) != 3 {
		t.Error("the reply was changed")
	}
}

// Chat's citations become annotations of this shape.
func TestCitationsOfChat(t *testing.T) {
	t.Parallel()
	r := &llm.Response{Choices: []llm.Choice{{Parts: []llm.Part{{Text: "x", Shape: "openai", Citations: []byte(`[{"type":"url_citation","url_citation":{"url":"https://a.example","start_index":1}}]`)}}}}}
	if got := string(client{}.EncodeResponse(nil, r, newResponseContext(t, true))); !strings.Contains(got, `"annotations":[{"type":"url_citation","url":"https://a.example","start_index":1}]`) {
		t.Error(got)
	}
}

// Recorded from the documentation of POST /responses, shortened.
const recorded = `{"id":"resp_67ccd2bed1ec8190b14f964abc054267","object":"response","created_at":1741476542.5,"status":"completed","error":null,"incomplete_details":null,
	"instructions":null,"max_output_tokens":null,"model":"gpt-4.1-2025-04-14","output":[
	{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},
	{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"**Plan**"},{"type":"summary_text","text":"More"}],"encrypted_content":"gAAAAAB"},
	{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"In a peaceful grove","annotations":[],"logprobs":[]}]},
	{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\"a\":1}","status":"completed"}],
	"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":null,"summary":null},"store":true,"temperature":1.0,"text":{"format":{"type":"text"}},
	"tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled","service_tier":"default",
	"usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":10},"output_tokens":87,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":123},"user":null,"metadata":{}}`

func TestDecodeReply(t *testing.T) {
	t.Parallel()
	r, err := upstream{}.DecodeResponse(&dialect.Incoming{Body: []byte(recorded)})
	if err != nil {
		t.Fatal(err)
	}
	want := &llm.Response{
		ID: "resp_67ccd2bed1ec8190b14f964abc054267", Model: "gpt-4.1-2025-04-14", Created: 1741476542,
		Choices: []llm.Choice{{Finish: llm.FinishToolCalls, Raw: "completed", Parts: []llm.Part{
			{Kind: llm.OpaquePart, ID: "ws_1", Shape: shapeName, Raw: []byte(`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}`)},
			{Kind: llm.ReasoningPart, ID: "rs_1", Text: "**Plan**\n\nMore", Signature: "gAAAAAB", Shape: "responses"},
			{Text: "In a peaceful grove"},
			{Kind: llm.CallPart, ID: "fc_1", Call: &llm.ToolCall{ID: "call_1", Name: "f", Arguments: `{"a":1}`}},
		}}},
		Usage: llm.Usage{InputTokens: 36, OutputTokens: 87, TotalTokens: 123, CachedTokens: 10, ReasoningTokens: 3, SearchUnits: 1, Tier: llm.UsualTier, Reported: true},
		Extra: []llm.Param{{Name: "service_tier", Raw: []byte(`"default"`)}},
	}
	if diff := dialecttest.DiffResponses(want, r); diff != nil {
		t.Error(strings.Join(diff, "\n"))
	}
}

func TestDecodeReplyEndings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, fields string
		want         llm.Finish
		raw          string
	}{
		{"completed", `"status":"completed"`, llm.FinishStop, "completed"},
		{"no status", `"id":"x"`, llm.FinishStop, ""},
		{"length", `"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}`, llm.FinishLength, "max_output_tokens"},
		{"filter", `"status":"incomplete","incomplete_details":{"reason":"content_filter"}`, llm.FinishFilter, "content_filter"},
		{"no reason", `"status":"incomplete","incomplete_details":null`, llm.FinishLength, "incomplete"},
	} {
		r, err := upstream{}.DecodeResponse(&dialect.Incoming{Body: []byte(`{"output":[],` + c.fields + `}`)})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := r.Choices[0]; got.Finish != c.want || got.Raw != c.raw {
			t.Errorf("%s: %d %q", c.name, got.Finish, got.Raw)
		}
	}
	for _, body := range []string{`{}`, `{"output":null}`, `[]`, `{"output":{}}`, `{"status":"failed","output":[],"error":{"code":"server_error","message":"no luck"}}`} {
		_, err := upstream{}.DecodeResponse(&dialect.Incoming{Body: []byte(body)})
		if f := fault.From(err); f == nil || f.Code != fault.UpstreamInvalid || strings.Contains(body, "no luck") && f.Public != "no luck" {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A call that came without an id gets one, for nobody could answer it otherwise.
func TestCallsGetIDs(t *testing.T) {
	t.Parallel()
	r, err := upstream{}.DecodeResponse(&dialect.Incoming{Body: []byte(`{"output":[{"type":"function_call","name":"a"},{"type":"function_call","name":"b"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	a, b := r.Choices[0].Parts[0].Call.ID, r.Choices[0].Parts[1].Call.ID
	if !strings.HasPrefix(a, "call_") || len(a) < 20 || a == b {
		t.Errorf("%q and %q", a, b)
	}
}

func FuzzDecodeReply(f *testing.F) {
	f.Add([]byte(recorded))
	f.Add([]byte(`{"output":[7,{"type":"message","content":[1,{"type":"output_text"}]},{"type":"reasoning","summary":{}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := upstream{}.DecodeResponse(&dialect.Incoming{Body: body})
		if err != nil || !json.Valid(body) {
			return
		}
		if out := (client{}).EncodeResponse(nil, r, newResponseContext(t, false)); !json.Valid(out) {
			t.Errorf("no JSON: %s", out)
		}
	})
}

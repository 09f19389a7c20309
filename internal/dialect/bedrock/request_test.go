package bedrock_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

const (
	sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	opus   = "global.anthropic.claude-opus-4-6-v1"
	nova   = "us.amazon.nova-pro-v1:0"
)

// values are credential fields of a target.
func values(m map[string]string) func(string) string {
	return func(name string) string { return m[name] }
}

// encode makes a Bedrock request of a chat completion request.
func encode(t testing.TB, to *dialect.Target, chat string) (*dialect.Outgoing, error) {
	t.Helper()
	c, err := openai.Dialect().Clients[llm.ChatComplete].DecodeCall([]byte(chat))
	if err != nil {
		t.Fatal(err)
	}
	return bedrock.Dialect().Upstreams[llm.ChatComplete].EncodeCall(t.Context(), c, to)
}

const (
	hi     = `"messages":[{"role":"user","content":"hi"}]`
	hiSent = `"messages":[{"role":"user","content":[{"text":"hi"}]}]`
	pdf    = `"file_data":"data:application/pdf;base64,JVBERi0="`
)

func user(parts string) string { return `{"messages":[{"role":"user","content":[` + parts + `]}]}` }

func userSent(blocks string) string {
	return `{"messages":[{"role":"user","content":[` + blocks + `]}]}`
}

type encodeCase struct {
	name, model, chat, want string
	dropped                 []string
	beta                    string
}

func (c *encodeCase) run(t *testing.T) {
	t.Parallel()
	to := &dialect.Target{Model: c.model, Value: values(map[string]string{"anthropic_beta": c.beta})}
	if to.Model == "" {
		to.Model = sonnet
	}
	out, err := encode(t, to, c.chat)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Body) || string(out.Body) != c.want {
		t.Errorf("got  %s\nwant %s", out.Body, c.want)
	}
	if !slices.Equal(out.Dropped, c.dropped) {
		t.Errorf("lost %q, want %q", out.Dropped, c.dropped)
	}
}

func TestEncodeMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []encodeCase{
		{name: "text", chat: `{"model":"m","stream":true,` + hi + `}`, want: `{` + hiSent + `}`},
		{
			name: "what the system says is gathered, with its marks",
			chat: `{"messages":[{"role":"system","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}]},` +
				`{"role":"user","content":"hi"},{"role":"developer","content":"b"}]}`,
			want:    `{"system":[{"text":"a"},{"cachePoint":{"type":"default","ttl":"1h"}},{"text":"b"}],` + hiSent + `}`,
			dropped: []string{"messages[2]"},
		},
		{
			name: "ids of calls from elsewhere",
			chat: `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"functions.f:0","type":"function","function":{"name":"f","arguments":""}}]},{"role":"tool","tool_call_id":"functions.f:0","content":"r"}]}`,
			want: `{"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"` + toolcalls.ShortID("functions.f:0", 24) + `","name":"f","input":{}}}]},` +
				`{"role":"user","content":[{"toolResult":{"toolUseId":"` + toolcalls.ShortID("functions.f:0", 24) + `","content":[{"text":"r"}]}}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]}}`,
		},
		{
			name: "nothing but instructions",
			chat: `{"messages":[{"role":"system","content":"a"},{"role":"developer","content":"b"}]}`,
			want: `{"system":[{"text":"a"}],"messages":[{"role":"user","content":[{"text":"b"}]}]}`,
		},
		{
			name: "the model begins",
			chat: `{"messages":[{"role":"assistant","content":"Hi! How can I help?"},{"role":"user","content":"x"}]}`,
			want: `{"messages":[{"role":"user","content":[{"text":"Hello."}]},{"role":"assistant","content":[{"text":"Hi! How can I help?"}]},{"role":"user","content":[{"text":"x"}]}]}`,
		},
		{
			name:    "messages of one side are one",
			chat:    `{"messages":[{"role":"user","content":"a"},{"role":"system","content":"s"},{"role":"user","name":"eve","content":"b"},{"role":"assistant","content":"c"},{"role":"assistant","content":"d"}]}`,
			want:    `{"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"a"},{"text":"b"}]},{"role":"assistant","content":[{"text":"c"},{"text":"d"}]}]}`,
			dropped: []string{"messages[1]", "messages[2].name"},
		},
		{
			name: "blank texts of the model are left out",
			chat: `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":" "},{"role":"user","content":"b"}]}`,
			want: `{"messages":[{"role":"user","content":[{"text":"a"},{"text":"b"}]}]}`,
		},
		{
			name:    "sides take turns where nothing is left of what the model said",
			chat:    `{"messages":[{"role":"assistant","content":""},{"role":"user","content":"a"},{"role":"assistant","content":null,"content_blocks":[{"type":"thinking","thinking":"hm"},{"type":"redacted_thinking","data":"__thought__responses:x"}]},{"role":"system","content":" "},{"role":"user","content":"b"}]}`,
			want:    `{"messages":[{"role":"user","content":[{"text":"a"},{"text":"b"}]}]}`,
			dropped: []string{"messages[2].content[0]", "messages[2].content[1]"},
		},
		{
			name: "blank texts of the user are left out beside others",
			chat: `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"\n","tool_calls":[{"id":"c1","type":"function","function":{"name":"w","arguments":""}}]},{"role":"tool","tool_call_id":"c1","content":" "},{"role":"user","content":" "}],"tools":[{"type":"function","function":{"name":"w"}}]}`,
			want: `{"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"w","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[]}}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"w","inputSchema":{"json":{"type":"object"}}}}]}}`,
		},
		{
			name:    "messages of the user that say nothing are left out",
			chat:    `{"messages":[{"role":"user","content":""},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"text","text":" ","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":"c"},{"role":"user","content":""}]}`,
			want:    `{"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"text":"b"},{"text":"c"}]}]}`,
			dropped: []string{"messages[3].content[0].cache_control"},
		},
		{
			name: "tools over turns",
			chat: `{"messages":[{"role":"user","content":"weather?"},{"role":"assistant","content":null,"tool_calls":[` +
				`{"id":"c1","type":"function","function":{"name":"w","arguments":"{\"city\": \"Rome\"}"}},{"id":"c2","type":"function","function":{"name":"w","arguments":""}}]},` +
				`{"role":"tool","tool_call_id":"c1","content":"sunny"},{"role":"tool","tool_call_id":"c2","content":""},{"role":"user","content":"thanks"}],` +
				`"tools":[{"type":"function","function":{"name":"w","description":"d","parameters":{"type":"object","properties":{}},"strict":true},"cache_control":{"type":"ephemeral"}}]}`,
			want: `{"messages":[{"role":"user","content":[{"text":"weather?"}]},{"role":"assistant","content":[` +
				`{"toolUse":{"toolUseId":"c1","name":"w","input":{"city": "Rome"}}},{"toolUse":{"toolUseId":"c2","name":"w","input":{}}}]},` +
				`{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"sunny"}]}},{"toolResult":{"toolUseId":"c2","content":[]}},{"text":"thanks"}]}],` +
				`"toolConfig":{"tools":[{"toolSpec":{"name":"w","description":"d","inputSchema":{"json":{"type":"object","properties":{}}}}},{"cachePoint":{"type":"default"}}]}}`,
			dropped: []string{"tools[0].function.strict"},
		},
		{
			name: "thoughts go back with their signatures only",
			chat: `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content_blocks":[{"type":"thinking","thinking":"hm","signature":"sig="},` +
				`{"type":"redacted_thinking","data":"AAEC"},{"type":"thinking","thinking":"other"},{"type":"text","text":"b"}]},{"role":"user","content":"c"}]}`,
			want: `{"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"sig="}}},` +
				`{"reasoningContent":{"redactedContent":"AAEC"}},{"text":"b"}]},{"role":"user","content":[{"text":"c"}]}]}`,
			dropped: []string{"messages[1].content[2]"},
		},
		{
			name: "a mark inside the result of a tool stands behind it",
			chat: `{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral"}}]}],"tools":[{"type":"function","function":{"name":"w"}}]}`,
			want: `{"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"w","input":{}}}]},` +
				`{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"text":"r"}]}},{"cachePoint":{"type":"default"}}]}],` +
				`"toolConfig":{"tools":[{"toolSpec":{"name":"w","inputSchema":{"json":{"type":"object"}}}}]}}`,
		},
	} {
		t.Run(c.name, c.run)
	}
}

// Models other than Claude refuse a thought with a signature, or any. An imported model may be any.
func TestThoughtsOfClaudeGoToClaudeOnly(t *testing.T) {
	t.Parallel()
	const chat = `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content_blocks":[{"type":"thinking","thinking":"hm","signature":"sig="},` +
		`{"type":"redacted_thinking","data":"AAEC"},{"type":"thinking","thinking":"other"},{"type":"text","text":"b"}]},{"role":"user","content":"c"},` +
		`{"role":"assistant","content_blocks":[{"type":"thinking","thinking":"hm","signature":"sig="}]},{"role":"user","content":"d"}]}`
	const want = `"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"text":"b"}]},{"role":"user","content":[{"text":"c"},{"text":"d"}]}]`
	lost := []string{"messages[1].content[0]", "messages[1].content[1]", "messages[1].content[2]", "messages[3].content[0]"}
	for _, model := range []string{
		nova, "openai.gpt-oss-120b-1:0", "us.meta.llama4-maverick-17b-instruct-v1:0", "us.deepseek.r1-v1:0", "qwen.qwen3-32b-v1:0",
		"arn:aws:bedrock:us-east-1:1:imported-model/abc",
	} {
		out, err := encode(t, &dialect.Target{Model: model, Value: values(nil)}, chat)
		if err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		if !strings.Contains(string(out.Body), want) || !slices.Equal(out.Dropped, lost) {
			t.Errorf("%s: sent %s, dropped %q", model, out.Body, out.Dropped)
		}
	}
	for _, model := range []string{opus, "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-6-v1"} {
		out, err := encode(t, &dialect.Target{Model: model, Value: values(nil)}, chat)
		if err != nil || strings.Count(string(out.Body), `"reasoningContent"`) != 3 {
			t.Errorf("%s: %v, sent %+v", model, err, out)
		}
	}
}

// Models that keep no prompts refuse a call with cache points.
func TestCachePoints(t *testing.T) {
	t.Parallel()
	const chat = `{"messages":[{"role":"system","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},` +
		`{"role":"user","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}],` +
		`"tools":[{"type":"function","function":{"name":"w"},"cache_control":{"type":"ephemeral"}}]}`
	for model, want := range map[string]int{
		opus: 3, nova: 2, "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc": 3, "us.anthropic.claude-3-5-haiku-20241022-v1:0": 3,
		"us.meta.llama4-maverick-17b-instruct-v1:0": 0, "mistral.mistral-large-2407-v1:0": 0, "nvidia.nemotron-super-3-120b": 0, "us.deepseek.r1-v1:0": 0,
		"amazon.titan-text-express-v1": 0, "anthropic.claude-3-haiku-20240307-v1:0": 0, "anthropic.claude-3-5-sonnet-20240620-v1:0": 0, "anthropic.claude-v2:1": 0,
	} {
		out, err := encode(t, &dialect.Target{Model: model, Value: values(nil)}, chat)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(out.Body), "cachePoint"); n != want || len(out.Dropped) != 3-want {
			t.Errorf("%s: %d cache points, lost %q: %s", model, n, out.Dropped, out.Body)
		}
	}
}

func TestEncodeMedia(t *testing.T) {
	t.Parallel()
	for _, c := range []encodeCase{
		{
			name: "images and videos",
			chat: user(`{"type":"image_url","image_url":{"url":"data:image/jpg;base64,QUI"}},{"type":"image_url","image_url":{"url":"data:video/quicktime;base64,QQ=="},"cache_control":{"type":"ephemeral"}},` +
				`{"type":"image_url","image_url":{"url":"s3://b/a.mkv","bucket_owner":"123"}}`),
			want: userSent(`{"image":{"format":"jpeg","source":{"bytes":"QUI="}}},{"video":{"format":"mov","source":{"bytes":"QQ=="}}},{"cachePoint":{"type":"default"}},` +
				`{"video":{"format":"mkv","source":{"s3Location":{"uri":"s3://b/a.mkv","bucketOwner":"123"}}}}`),
		},
		{
			name: "documents have unlike names, and a text beside them",
			chat: user(`{"type":"file","file":{"filename":"Q3: report_v2.pdf",` + pdf + `}},{"type":"file","file":{"filename":"Q3 report v2.pdf",` + pdf + `}},{"type":"file","file":{` + pdf + `}}`),
			want: userSent(`{"document":{"format":"pdf","name":"Q3 report v2","source":{"bytes":"JVBERi0="}}},{"document":{"format":"pdf","name":"Q3 report v2 (2)","source":{"bytes":"JVBERi0="}}},` +
				`{"document":{"format":"pdf","name":"document","source":{"bytes":"JVBERi0="}}},{"text":"Q3 report v2"}`),
		},
		{
			name: "formats of documents are not the subtypes",
			chat: user(`{"type":"text","text":"t"},{"type":"file","file":{"filename":"a.docx","file_data":"QQ=="}},{"type":"file","file":{"mime_type":"text/plain","file_data":"some text"}},` +
				`{"type":"file","file":{"file_url":"s3://b/notes.md"}},{"type":"file","file":{"file_id":"s3%3A%2F%2Fb%2Fsheet.xls"}}`),
			want: userSent(`{"text":"t"},{"document":{"format":"docx","name":"a","source":{"bytes":"QQ=="}}},{"document":{"format":"txt","name":"document","source":{"bytes":"c29tZSB0ZXh0"}}},` +
				`{"document":{"format":"md","name":"document (2)","source":{"s3Location":{"uri":"s3://b/notes.md"}}}},{"document":{"format":"xls","name":"document (3)","source":{"s3Location":{"uri":"s3://b/sheet.xls"}}}}`),
		},
		{
			name: "recordings",
			chat: user(`{"type":"input_audio","input_audio":{"data":"QQ==","format":"pcm16"}}`),
			want: userSent(`{"audio":{"format":"pcm","source":{"bytes":"QQ=="}}}`),
		},
		{
			name:    "detail",
			chat:    user(`{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ==","detail":"high"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ==","detail":"auto"}}`),
			want:    userSent(`{"image":{"format":"png","source":{"bytes":"QQ=="}}},{"image":{"format":"png","source":{"bytes":"QQ=="}}}`),
			dropped: []string{"messages[0].content[0].image_url.detail"},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestEncodeTools(t *testing.T) {
	t.Parallel()
	const (
		w        = `"tools":[{"type":"function","function":{"name":"w","parameters":{"properties":{}}}}]`
		wSent    = `"tools":[{"toolSpec":{"name":"w","inputSchema":{"json":{"type":"object","properties":{}}}}}]`
		called   = `"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"old","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]`
		calledTo = `"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"old","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"text":"r"}]}}]}]`
	)
	for _, c := range []encodeCase{
		{name: "auto", chat: `{` + hi + `,` + w + `,"tool_choice":"auto"}`, want: `{` + hiSent + `,"toolConfig":{` + wSent + `,"toolChoice":{"auto":{}}}}`},
		{name: "required", chat: `{` + hi + `,` + w + `,"tool_choice":"required"}`, want: `{` + hiSent + `,"toolConfig":{` + wSent + `,"toolChoice":{"any":{}}}}`},
		{
			name: "one", chat: `{` + hi + `,` + w + `,"tool_choice":{"type":"function","function":{"name":"w"}}}`,
			want: `{` + hiSent + `,"toolConfig":{` + wSent + `,"toolChoice":{"tool":{"name":"w"}}}}`,
		},
		{name: "none leaves the tools out", chat: `{` + hi + `,` + w + `,"tool_choice":"none"}`, want: `{` + hiSent + `}`},
		{
			name: "none of a conversation with calls cannot be said", chat: `{` + called + `,` + w + `,"tool_choice":"none"}`,
			want: `{` + calledTo + `,"toolConfig":{` + wSent + `}}`, dropped: []string{"tool_choice"},
		},
		{
			name: "calls without tools bring their names", chat: `{` + called + `}`,
			want: `{` + calledTo + `,"toolConfig":{"tools":[{"toolSpec":{"name":"old","inputSchema":{"json":{"type":"object"}}}}]}}`,
		},
		{
			name: "Anthropic's own tools", chat: `{` + hi + `,"tools":[{"type":"web_search","web_search":{"name":"web_search_20250305","max_uses":2}}]}`,
			want: `{` + hiSent + `,"additionalModelRequestFields":{"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":2}]}}`,
		},
		{
			name: "which others do not have", model: nova, chat: `{` + hi + `,"tools":[{"type":"web_search","web_search":{}}],"tool_choice":"required"}`,
			want: `{` + hiSent + `}`, dropped: []string{"tools[0]", "tool_choice"},
		},
		{
			name: "the wish for a tool without a place", model: nova,
			chat:    `{` + hi + `,"tools":[{"type":"custom","custom":{"name":"x"}},{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"function","function":{"name":"x"}}}`,
			want:    `{` + hiSent + `,"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]}}`,
			dropped: []string{"tools[0]", "tool_choice"},
		},
		{
			name: "Amazon's models take no marks on tools", model: nova,
			chat:    `{` + hi + `,"tools":[{"type":"function","function":{"name":"w","parameters":{"type":"object"}},"cache_control":{"type":"ephemeral"}}]}`,
			want:    `{` + hiSent + `,"toolConfig":{"tools":[{"toolSpec":{"name":"w","inputSchema":{"json":{"type":"object"}}}}]}}`,
			dropped: []string{"tools[0].cache_control"},
		},
		{
			name: "what a specification has no place for", chat: `{` + hi + `,"tools":[{"type":"function","function":{"name":"w","defer_loading":true}}],"parallel_tool_calls":false}`,
			want:    `{` + hiSent + `,"toolConfig":{"tools":[{"toolSpec":{"name":"w","inputSchema":{"json":{"type":"object"}}}}]}}`,
			dropped: []string{"parallel_tool_calls", "tools[0].function.defer_loading"},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestEncodeSettings(t *testing.T) {
	t.Parallel()
	sent := func(rest string) string { return `{` + hiSent + `,` + rest + `}` }
	for _, c := range []encodeCase{
		{
			name: "what all models know", chat: `{` + hi + `,"max_tokens":100,"max_completion_tokens":200,"temperature":0,"top_p":0.5,"stop":"x","n":1}`,
			want: sent(`"inferenceConfig":{"maxTokens":100,"temperature":0,"topP":0.5,"stopSequences":["x"]}`),
		},
		{
			name: "Amazon's own", chat: `{` + hi + `,"guardrail_config":{"guardrailIdentifier":"g","guardrailVersion":"1","trace":"enabled"},"performance_config":{"latency":"optimized"},` +
				`"additional_model_response_field_paths":["/stop_sequence"],"metadata":{"team":"a"},"service_tier":"flex"}`,
			want: sent(`"guardrailConfig":{"guardrailIdentifier":"g","guardrailVersion":"1","trace":"enabled"},"performanceConfig":{"latency":"optimized"},` +
				`"additionalModelResponseFieldPaths":["/stop_sequence"],"requestMetadata":{"team":"a"},"serviceTier":{"type":"flex"}`),
		},
		{
			name: "a schema is a text", chat: `{` + hi + `,"response_format":{"type":"json_schema","json_schema":{"name":"out","strict":true,"schema":{"type":"object"}}}}`,
			want: sent(`"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{\"type\":\"object\",\"additionalProperties\":false}","name":"out"}}}}`),
		},
		{
			name: "any JSON is asked for in words", chat: `{` + hi + `,"response_format":{"type":"json_object"}}`,
			want: `{"system":[{"text":"Answer with one JSON object and nothing else."}],` + hiSent + `}`,
		},
		{
			name: "what nobody knows is named", chat: `{` + hi + `,"seed":1,"logprobs":true,"logit_bias":{"1":2},"service_tier":"scale","store":true,"foo":1}`,
			want: `{` + hiSent + `}`, dropped: []string{"seed", "logprobs", "logit_bias", "service_tier", "store", "foo"},
		},
		{
			name: "Claude", chat: `{` + hi + `,"top_k":3,"user":"u","anthropic_version":"v","anthropic_beta":"computer-use-2025-01-24, mcp-client-2025-04-04,advanced-tool-use-2025-11-20"}`,
			want: sent(`"additionalModelRequestFields":{"anthropic_version":"v","top_k":3,"metadata":{"user_id":"u"},"anthropic_beta":["computer-use-2025-01-24","tool-search-tool-2025-10-19"]}`),
		},
		{
			name: "beta flags of the header win", beta: "context-1m-2025-08-07", chat: `{` + hi + `,"anthropic_beta":["x"]}`,
			want: sent(`"additionalModelRequestFields":{"anthropic_beta":["context-1m-2025-08-07"]}`),
		},
		{
			name: "what the caller says in additional fields wins", chat: `{` + hi + `,"top_k":3,"user":"u","additionalModelRequestFields":{"top_k":9,"x":{"y":1}}}`,
			want: sent(`"additionalModelRequestFields":{"top_k":9,"x":{"y":1},"metadata":{"user_id":"u"}}`),
		},
		{
			name: "Cohere", model: "cohere.command-r-plus-v1:0", chat: `{` + hi + `,"top_k":3,"n":2,"frequency_penalty":0.5,"presence_penalty":0.1,"logit_bias":{"1":2},"user":"u"}`,
			want: sent(`"additionalModelRequestFields":{"top_k":3,"n":2,"frequency_penalty":0.5,"presence_penalty":0.1,"logitBias":{"1":2}}`), dropped: []string{"user"},
		},
		{
			name: "Jamba", model: "ai21.jamba-1-5-large-v1:0", chat: `{` + hi + `,"frequency_penalty":0.5,"presencePenalty":{"scale":1},"countPenalty":{"scale":2}}`,
			want: sent(`"additionalModelRequestFields":{"presencePenalty":{"scale":1},"countPenalty":{"scale":2},"frequencyPenalty":{"scale":0.5}}`),
		},
		{name: "Nova", model: nova, chat: `{` + hi + `,"top_k":3}`, want: sent(`"additionalModelRequestFields":{"inferenceConfig":{"topK":3}}`)},
		{name: "gpt-oss", model: "openai.gpt-oss-120b-1:0", chat: `{` + hi + `,"reasoning_effort":"low"}`, want: sent(`"additionalModelRequestFields":{"reasoning_effort":"low"}`)},
		{name: "others", model: "deepseek.v3-v1:0", chat: `{` + hi + `,"top_k":3,"thinking":{"type":"enabled"}}`, want: sent(`"additionalModelRequestFields":{"top_k":3}`), dropped: []string{"thinking"}},
		{name: "a profile of the caller's own", model: "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc", chat: `{` + hi + `,"top_k":3}`, want: sent(`"additionalModelRequestFields":{"top_k":3}`)},
	} {
		t.Run(c.name, c.run)
	}
}

func TestEncodeThinking(t *testing.T) {
	t.Parallel()
	sent := func(rest string) string { return `{` + hiSent + `,` + rest + `}` }
	thinking := func(limit, budget string) string {
		return sent(`"inferenceConfig":{"maxTokens":` + limit + `},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":` + budget + `}}`)
	}
	for _, c := range []encodeCase{
		{name: "a share of the limit", chat: `{` + hi + `,"max_tokens":10000,"reasoning_effort":"medium"}`, want: thinking("10000", "5000")},
		{name: "at least what Claude wants", chat: `{` + hi + `,"max_completion_tokens":2000,"reasoning_effort":"minimal"}`, want: thinking("2000", "1024")},
		{name: "high", chat: `{` + hi + `,"max_tokens":10000,"reasoning_effort":"high"}`, want: thinking("10000", "8000")},
		{
			name: "without a limit", chat: `{` + hi + `,"reasoning_effort":"high"}`,
			want: sent(`"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":16384}}`),
		},
		{
			name: "no room for it", chat: `{` + hi + `,"max_tokens":1024,"reasoning_effort":"high"}`,
			want: sent(`"inferenceConfig":{"maxTokens":1024}`), dropped: []string{"reasoning_effort"},
		},
		{
			name: "not where Claude would refuse the call", chat: `{` + hi + `,"max_tokens":10000,"temperature":0.5,"reasoning_effort":"medium"}`,
			want: sent(`"inferenceConfig":{"maxTokens":10000,"temperature":0.5}`), dropped: []string{"reasoning_effort"},
		},
		{
			name: "other vendors' models may be strict", model: "qwen.qwen3-32b-v1:0", chat: `{` + hi + `,"tools":[{"type":"function","function":{"name":"w","strict":true}}]}`,
			want: sent(`"toolConfig":{"tools":[{"toolSpec":{"name":"w","inputSchema":{"json":{"type":"object"}},"strict":true}}]}`),
		},
		{
			name:  "Amazon's models know three members of a schema",
			model: nova, chat: `{` + hi + `,"tools":[{"type":"function","function":{"name":"w","parameters":{"$schema":"s","type":"object","title":"t","properties":{"title":{"type":"string","additionalProperties":false}},"required":["title"],"additionalProperties":false,"$defs":{}}}},{"type":"function","function":{"name":"n"}}]}`,
			want: sent(`"toolConfig":{"tools":[{"toolSpec":{"name":"w","inputSchema":{"json":{"type":"object","properties":{"title":{"type":"string","additionalProperties":false}},"required":["title"]}}}},{"toolSpec":{"name":"n","inputSchema":{"json":{"type":"object"}}}}]}`),
		},
		{
			name:  "Amazon's models follow no references",
			model: nova, chat: `{` + hi + `,"tools":[{"type":"function","function":{"name":"w","parameters":{"properties":{"to":{"$ref":"#/$defs/place"}},"oneOf":[],"$defs":{"place":{"type":"string"}}}}}]}`,
			want:    sent(`"toolConfig":{"tools":[{"toolSpec":{"name":"w","inputSchema":{"json":{"type":"object","properties":{"to":{"type":"string"}}}}}}]}`),
			dropped: []string{"tools[0].function.parameters.oneOf"},
		},
		{name: "none", chat: `{` + hi + `,"reasoning_effort":"none"}`, want: sent(`"additionalModelRequestFields":{"thinking":{"type":"disabled"}}`)},
		{name: "a word that nobody knows", chat: `{` + hi + `,"reasoning_effort":"huge"}`, want: `{` + hiSent + `}`, dropped: []string{"reasoning_effort"}},
		{
			name: "newer models decide for themselves", model: "global.anthropic.claude-opus-4-7", chat: `{` + hi + `,"max_tokens":10000,"reasoning_effort":"xhigh"}`,
			want: sent(`"inferenceConfig":{"maxTokens":10000},"outputConfig":{"effort":"xhigh"},"additionalModelRequestFields":{"thinking":{"type":"adaptive","display":"summarized"}}`),
		},
		{
			name: "an effort that came later", model: opus, chat: `{` + hi + `,"max_tokens":10000,"reasoning_effort":"xhigh"}`,
			want: sent(`"inferenceConfig":{"maxTokens":10000},"additionalModelRequestFields":{"thinking":{"type":"adaptive"}}`), dropped: []string{"reasoning_effort"},
		},
		{
			name: "thinking wins", model: "eu.anthropic.claude-opus-4-5-20251101-v1:0", chat: `{` + hi + `,"thinking":{"type":"enabled","budget_tokens":2000},"reasoning_effort":"medium"}`,
			want: sent(`"outputConfig":{"effort":"medium"},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2000}}`),
		},
		{
			name: "the newest models draw words as they will", model: "us.anthropic.claude-opus-5-5", chat: `{` + hi + `,"temperature":0.2,"top_p":1,"top_k":4,"max_tokens":9}`,
			want: sent(`"inferenceConfig":{"maxTokens":9}`), dropped: []string{"temperature", "top_k"},
		},
		{
			name: "and want the user to speak last", model: "us.anthropic.claude-opus-4-6-v1", chat: `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`,
			want: `{"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"text":"b"}]},{"role":"user","content":[{"text":"Go on."}]}]}`,
		},
		{
			name: "and tools", model: "us.anthropic.claude-opus-5-5", chat: `{` + hi + `,"tools":[{"type":"function","function":{"name":"w"}}],"tool_choice":"required"}`,
			want: sent(`"toolConfig":{"tools":[{"toolSpec":{"name":"w","inputSchema":{"json":{"type":"object"}}}}],"toolChoice":{"auto":{}}}`), dropped: []string{"tool_choice"},
		},
		{
			name: "a model without effort", model: "anthropic.claude-sonnet-4-5-20250929-v1:0", chat: `{` + hi + `,"thinking":{"type":"enabled","budget_tokens":2000},"reasoning_effort":"medium"}`,
			want: sent(`"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2000}}`), dropped: []string{"reasoning_effort"},
		},
		{
			name: "models that do not think", model: "anthropic.claude-3-haiku-20240307-v1:0", chat: `{` + hi + `,"reasoning_effort":"low"}`,
			want: `{` + hiSent + `}`, dropped: []string{"reasoning_effort"},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	fetch := func(context.Context, string) (string, []byte, error) {
		return "", nil, fault.New(fault.InvalidParameter, "the URL answers with status 404")
	}
	for _, c := range []struct{ name, chat, param string }{
		{"an image that is not at hand", user(`{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}`), "messages[0].content[0]"},
		{"a place of another cloud", user(`{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"gs://b/a.png"}}`), "messages[0].content[1]"},
		{"a file of another provider", user(`{"type":"file","file":{"file_id":"file-1"}}`), "messages[0].content[0]"},
		{"an image of unknown type", user(`{"type":"image_url","image_url":{"url":"s3://b/a"}}`), "messages[0].content[0]"},
		{"a document of unknown type", user(`{"type":"file","file":{"file_data":"QQ==","mime_type":"application/zip"}}`), "messages[0].content[0]"},
		{"a recording of unknown format", user(`{"type":"input_audio","input_audio":{"data":"QQ=="}}`), "messages[0].content[0]"},
		{"a part that only OpenAI knows", user(`{"type":"thing","thing":1}`), "messages[0].content[0]"},
		{"an image of the system's", `{"messages":[{"role":"system","content":[{"type":"image_url","image_url":{"url":"s3://b/a.png"}}]},{"role":"user","content":"a"}]}`, "messages[0].content[0]"},
		{"nothing said", user(`{"type":"text","text":" "}`), "messages[0]"},
		{"nothing said and nothing to go by", `{"messages":[{"role":"system","content":""},{"role":"assistant","content":" "}]}`, "messages[1]"},
	} {
		_, err := encode(t, &dialect.Target{Model: sonnet, Fetch: fetch}, c.chat)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.InvalidParameter || f.Param != c.param {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Bedrock follows no URLs: the gateway gets what they name.
func TestEncodeFetches(t *testing.T) {
	t.Parallel()
	fetch := func(_ context.Context, url string) (string, []byte, error) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(url, "https://h/"), ".")
		return map[string]string{"told": "image/webp; q=1", "stream": "application/octet-stream"}[kind], []byte(kind), nil
	}
	out, err := encode(t, &dialect.Target{Model: sonnet, Fetch: fetch}, user(`{"type":"image_url","image_url":{"url":"https://h/told"}},{"type":"image_url","image_url":{"url":"https://h/stream.gif?x=1"}}`))
	want := userSent(`{"image":{"format":"webp","source":{"bytes":"dG9sZA=="}}},{"image":{"format":"gif","source":{"bytes":"c3RyZWFt"}}}`)
	if err != nil || string(out.Body) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, out.Body, want)
	}
	if _, err := encode(t, &dialect.Target{Model: sonnet}, user(`{"type":"image_url","image_url":{"url":"https://h/a.png"}}`)); !fault.Has(err, fault.InvalidParameter) {
		t.Errorf("without a way to get it: %v", err)
	}
}

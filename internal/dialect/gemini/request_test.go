package gemini_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/gemini"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// encode makes a Gemini request of a chat completion request.
func encode(t testing.TB, model, chat string) (*dialect.Outgoing, error) {
	t.Helper()
	c, err := openai.Dialect().Clients[llm.ChatComplete].DecodeCall([]byte(chat))
	if err != nil {
		t.Fatal(err)
	}
	return gemini.Dialect().Upstreams[llm.ChatComplete].EncodeCall(t.Context(), c, &dialect.Target{Model: model})
}

const hi = `"messages":[{"role":"user","content":"hi"}]`

const hiSent = `"contents":[{"role":"user","parts":[{"text":"hi"}]}]`

func TestEncode(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, model, chat, want string
		dropped                 []string
	}{
		{
			name: "text", chat: `{"model":"m","stream":true,` + hi + `}`, want: `{` + hiSent + `}`,
		},
		{
			name:    "instructions are joined wherever they stand",
			chat:    `{"messages":[{"role":"system","content":"a"},{"role":"user","content":"hi"},{"role":"developer","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]}]}`,
			want:    `{"systemInstruction":{"role":"system","parts":[{"text":"a"},{"text":"b"},{"text":"c"}]},` + hiSent + `}`,
			dropped: []string{"messages[2]"},
		},
		{
			name: "nothing but instructions",
			chat: `{"messages":[{"role":"system","content":"a"},{"role":"developer","content":"hi"}]}`,
			want: `{"systemInstruction":{"role":"system","parts":[{"text":"a"}]},` + hiSent + `}`,
		},
		{
			name: "JSON beside functions is asked for in words", model: "gemini-2.5-pro",
			chat: `{` + hi + `,"tools":[{"type":"function","function":{"name":"f"}}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}}}`,
			want: `{"systemInstruction":{"role":"system","parts":[{"text":"When you answer, answer with one JSON object and nothing else. It must fit this JSON schema: {\"type\":\"object\"}"}]},` +
				hiSent + `,"tools":[{"functionDeclarations":[{"name":"f"}]}]}`,
			dropped: []string{"response_format"},
		},
		{
			name: "and in its place where both are understood", model: "gemini-3-pro",
			chat: `{` + hi + `,"tools":[{"type":"function","function":{"name":"f"}}],"response_format":{"type":"json_object"}}`,
			want: `{` + hiSent + `,"tools":[{"functionDeclarations":[{"name":"f"}]}],"generationConfig":{"responseMimeType":"application/json"}}`,
		},
		{
			name: "empty texts are left out",
			chat: `{"messages":[{"role":"system","content":""},{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"hi"}]},{"role":"assistant","content":""},{"role":"user","content":""}]}`,
			want: `{` + hiSent + `}`,
		},
		{
			name: "the first models take them as the user's words", model: "gemini-1.0-pro-002",
			chat: `{"messages":[{"role":"system","content":"a"},{"role":"user","content":"hi"}]}`,
			want: `{"contents":[{"role":"user","parts":[{"text":"a"},{"text":"hi"}]}]}`,
		},
		{
			name: "models with vision keep turns apart", model: "gemini-pro-vision",
			chat: `{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`,
			want: `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"b"}]}]}`,
		},
		{
			name: "media",
			chat: `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}},` +
				`{"type":"image_url","image_url":{"url":"gs://b/a.mp4"}},{"type":"image_url","image_url":{"url":"https://youtu.be/x","mime_type":"video/mp4","media_resolution":"MEDIA_RESOLUTION_HIGH"}},` +
				`{"type":"input_audio","input_audio":{"data":"QQ==","format":"opus"}},{"type":"file","file":{"file_data":"data:application/pdf;base64,QQ=="}},` +
				`{"type":"file","file":{"file_id":"files/abc-1","mime_type":"application/pdf"}}]}]}`,
			want: `{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"QQ=="}},` +
				`{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/a.mp4"}},` +
				`{"fileData":{"mimeType":"video/mp4","fileUri":"https://youtu.be/x"},"mediaResolution":{"level":"MEDIA_RESOLUTION_HIGH"}},` +
				`{"inlineData":{"mimeType":"audio/ogg","data":"QQ=="}},{"inlineData":{"mimeType":"application/pdf","data":"QQ=="}},` +
				`{"fileData":{"mimeType":"application/pdf","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/abc-1"}}]}]}`,
		},
		{
			name:    "what a medium says beside its bytes is named",
			chat:    `{"messages":[{"role":"user","name":"ann","content":[{"type":"image_url","image_url":{"url":"https://x/a.png","detail":"high"}},{"type":"file","file":{"file_data":"data:application/pdf;base64,QQ==","filename":"a.pdf"}},{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]}`,
			want:    `{"contents":[{"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://x/a.png"}},{"inlineData":{"mimeType":"application/pdf","data":"QQ=="}},{"text":"x"}]}]}`,
			dropped: []string{"messages[0].name", "messages[0].content[0].image_url.detail", "messages[0].content[1].file.filename", "messages[0].content[2].cache_control"},
		},
		{
			name: "calls and results over turns, with signatures", model: "gemini-3-pro-preview",
			chat: `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"I look.","tool_calls":[` +
				`{"id":"c1","type":"function","function":{"name":"see","arguments":"{\"a\": 1.0}","thought_signature":"c2ln"}},{"id":"c2","type":"function","function":{"name":"hear","arguments":""}}]},` +
				`{"role":"tool","tool_call_id":"c1","content":"{\"ok\":true}"},{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]},` +
				`{"role":"assistant","content":"","tool_calls":[{"id":"c3","type":"function","function":{"name":"see","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c3","content":"z"}]}`,
			want: `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"I look."},` +
				`{"functionCall":{"id":"c1","name":"see","args":{"a": 1.0}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"c2","name":"hear","args":{}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"see","response":{"output":"{\"ok\":true}"}}},{"functionResponse":{"id":"c2","name":"hear","response":{"output":"x\ny"}}}]},` +
				`{"role":"model","parts":[{"functionCall":{"id":"c3","name":"see","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"c3","name":"see","response":{"output":"z"}}}]}]}`,
		},
		{
			name:    "thoughts come back",
			chat:    `{"messages":[{"role":"assistant","content":"x","content_blocks":[{"type":"thinking","thinking":"hm","signature":"__thought__gemini:c2ln"},{"type":"thinking","thinking":"so","signature":"c2ln"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"x"}]}]}`,
			want:    `{"contents":[{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"text":"so","thought":true},{"text":"x"}]}]}`,
			dropped: []string{"messages[0].content[1].signature", "messages[0].content[2]"},
		},
		{
			name:    "thoughts without text that others signed are left out",
			chat:    `{"messages":[{"role":"assistant","content":"x","content_blocks":[{"type":"thinking","thinking":"","signature":"__thought__anthropic:c2ln"},{"type":"thinking","thinking":""},{"type":"text","text":"x"}]},{"role":"user","content":"y"},{"role":"assistant","content_blocks":[{"type":"thinking","thinking":"","signature":"c2ln"}]}]}`,
			want:    `{"contents":[{"role":"model","parts":[{"text":"x"}]},{"role":"user","parts":[{"text":"y"}]}]}`,
			dropped: []string{"messages[0].content[0]", "messages[0].content[1]", "messages[2].content[0]"},
		},
		{
			name: "settings",
			chat: `{` + hi + `,"temperature":0,"top_p":0.5,"top_k":4,"n":2,"seed":7,"presence_penalty":0.1,"frequency_penalty":0.2,"logprobs":true,"top_logprobs":3,"max_tokens":5,"max_completion_tokens":6,"stop":"x",` +
				`"media_resolution":"MEDIA_RESOLUTION_LOW","modalities":["text","image"],"image_config":{"aspect_ratio":"16:9","image_size":"2K"},"safety_settings":[{"category":"C","threshold":"T"}],"cached_content":"cachedContents/1","labels":{"a":"b"},"user":"u","logit_bias":{"1":2}}`,
			want: `{` + hiSent + `,"generationConfig":{"temperature":0,"topP":0.5,"topK":4,"candidateCount":2,"seed":7,"presencePenalty":0.1,"frequencyPenalty":0.2,"responseLogprobs":true,"logprobs":3,"mediaResolution":"MEDIA_RESOLUTION_LOW",` +
				`"maxOutputTokens":6,"stopSequences":["x"],"responseModalities":["TEXT","IMAGE"],"imageConfig":{"aspectRatio":"16:9","imageSize":"2K"}},` +
				`"safetySettings":[{"category":"C","threshold":"T"}],"cachedContent":"cachedContents/1","labels":{"a":"b"}}`,
			dropped: []string{"user", "logit_bias"},
		},
		{
			name: "speech", chat: `{` + hi + `,"modalities":["audio"],"audio":{"voice":"Kore","format":"wav"}}`,
			want:    `{` + hiSent + `,"generationConfig":{"responseModalities":["AUDIO"],"speechConfig":{"voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Kore"}}}}}`,
			dropped: []string{"audio.format"},
		},
		{
			name: "json", chat: `{` + hi + `,"response_format":{"type":"json_object"}}`,
			want: `{` + hiSent + `,"generationConfig":{"responseMimeType":"application/json"}}`,
		},
		{
			name: "a schema goes as it is", model: "gemini-2.5-flash",
			chat: `{` + hi + `,"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"$schema":"x", "anyOf":[{"type":"null"}],"additionalProperties":false}}}}`,
			want: `{` + hiSent + `,"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"$schema":"x", "anyOf":[{"type":"null"}],"additionalProperties":false}}}`,
		},
		{
			name: "older models get theirs", model: "gemini-2.0-flash",
			chat:    `{` + hi + `,"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{"$schema":"x","type":"object","additionalProperties":false}}}}`,
			want:    `{` + hiSent + `,"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"object"}}}`,
			dropped: []string{"response_format.json_schema.description"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := c.model
			if model == "" {
				model = "gemini-2.5-pro"
			}
			check(t, model, c.chat, c.want, c.dropped)
		})
	}
}

func check(t *testing.T, model, chat, want string, dropped []string) {
	t.Helper()
	out, err := encode(t, model, chat)
	if err != nil {
		t.Fatal(err)
	}
	if string(out.Body) != want {
		t.Errorf("sent %s\nwant %s", out.Body, want)
	}
	if !slices.Equal(out.Dropped, dropped) {
		t.Errorf("lost %q, want %q", out.Dropped, dropped)
	}
}

func TestEncodeThinking(t *testing.T) {
	t.Parallel()
	const older, newer = "gemini-2.5-flash", "gemini-3-flash"
	for _, c := range []struct{ model, params, want, dropped string }{
		{older, `"reasoning_effort":"none"`, `{"thinkingBudget":0}`, ""},
		{older, `"reasoning_effort":"minimal"`, `{"thinkingBudget":1024}`, ""},
		{older, `"reasoning_effort":"low"`, `{"thinkingBudget":1024}`, ""},
		{older, `"reasoning_effort":"medium"`, `{"thinkingBudget":8192}`, ""},
		{older, `"reasoning_effort":"high"`, `{"thinkingBudget":24576}`, ""},
		{older, `"reasoning_effort":"xhigh"`, ``, "reasoning_effort"},
		{newer, `"reasoning_effort":"none"`, `{"thinkingLevel":"minimal"}`, ""},
		{newer, `"thinking":{"type":"disabled"}`, `{"includeThoughts":false,"thinkingLevel":"minimal"}`, ""},
		{"gemini-2.5-pro", `"reasoning_effort":"none"`, ``, "reasoning_effort"},
		{"gemini-3-pro", `"thinking":{"type":"disabled"}`, ``, "thinking"},
		{"gemini-2.5-pro", `"reasoning_effort":"low"`, `{"thinkingBudget":1024}`, ""},
		{"gemini-2.0-flash", `"reasoning_effort":"low"`, ``, "reasoning_effort"},
		{"gemini-2.0-flash-lite", `"thinking":{"type":"enabled","budget_tokens":2048}`, ``, "thinking"},
		{older, `"thinking":{"type":"enabled","budget_tokens":31999}`, `{"includeThoughts":true,"thinkingBudget":24576}`, "thinking.budget_tokens"},
		{"gemini-2.5-pro", `"thinking":{"type":"enabled","budget_tokens":31999}`, `{"includeThoughts":true,"thinkingBudget":31999}`, ""},
		{"my-tuned-model", `"thinking":{"type":"enabled","budget_tokens":99999}`, `{"includeThoughts":true,"thinkingBudget":99999}`, ""},
		{"my-tuned-model", `"reasoning_effort":"none"`, `{"thinkingBudget":0}`, ""},
		{newer, `"reasoning_effort":"minimal"`, `{"thinkingLevel":"minimal"}`, ""},
		{newer, `"reasoning_effort":"xhigh"`, ``, "reasoning_effort"},
		{newer, `"reasoning_effort":"max"`, ``, "reasoning_effort"},
		{"gemini-flash-latest", `"reasoning_effort":"low"`, `{"thinkingLevel":"low"}`, ""},
		{older, `"thinking":{"type":"enabled","budget_tokens":2048},"reasoning_effort":"low"`, `{"includeThoughts":true,"thinkingBudget":2048}`, "reasoning_effort"},
		{older, `"thinking":{"type":"adaptive"},"reasoning_effort":"low"`, `{"includeThoughts":true,"thinkingBudget":-1}`, "reasoning_effort"},
		{newer, `"thinking":{"type":"adaptive"},"reasoning_effort":"low"`, `{"includeThoughts":true,"thinkingLevel":"low"}`, ""},
		{newer, `"thinking":{"type":"adaptive"},"reasoning_effort":"max"`, `{"includeThoughts":true}`, "reasoning_effort"},
		{newer, `"thinking":{"type":"adaptive"},"reasoning_effort":"none"`, `{"includeThoughts":true}`, "reasoning_effort"},
		{newer, `"thinking":{"type":"enabled","budget_tokens":2048},"reasoning_effort":"low"`, `{"includeThoughts":true,"thinkingBudget":2048}`, "reasoning_effort"},
		{older, `"thinking":{"type":"enabled","budget_tokens":0}`, `{"includeThoughts":false,"thinkingBudget":0}`, ""},
		{older, `"thinking":{"type":"disabled"}`, `{"includeThoughts":false,"thinkingBudget":0}`, ""},
		{older, `"thinking":{"type":"adaptive"}`, `{"includeThoughts":true,"thinkingBudget":-1}`, ""},
		{newer, `"thinking":{"type":"adaptive","display":"omitted"}`, `{"includeThoughts":false}`, ""},
	} {
		want, dropped := `{`+hiSent+`}`, []string(nil)
		if c.want != "" {
			want = `{` + hiSent + `,"generationConfig":{"thinkingConfig":` + c.want + `}}`
		}
		if c.dropped != "" {
			dropped = []string{c.dropped}
		}
		check(t, c.model, `{`+hi+`,`+c.params+`}`, want, dropped)
	}
}

func TestEncodeTools(t *testing.T) {
	t.Parallel()
	const fn = `{"type":"function","function":{"name":"see","description":"d","parameters":{"type":"object", "properties":{}},"strict":true}}`
	const sent = `{"functionDeclarations":[{"name":"see","description":"d","parametersJsonSchema":{"type":"object", "properties":{}}}]}`
	for _, c := range []struct {
		params, want string
		dropped      []string
	}{
		{`"tools":[` + fn + `]`, `"tools":[` + sent + `]`, []string{"tools[0].function.strict"}},
		{`"tools":[{"type":"function","function":{"name":"plain"}}]`, `"tools":[{"functionDeclarations":[{"name":"plain"}]}]`, nil},
		{`"tools":[{"type":"function","function":{"name":"see"}}],"tool_choice":"auto"`, `"tools":[{"functionDeclarations":[{"name":"see"}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}`, nil},
		{`"tools":[{"type":"function","function":{"name":"see"}}],"tool_choice":"none"`, `"tools":[{"functionDeclarations":[{"name":"see"}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`, nil},
		{`"tools":[{"type":"function","function":{"name":"see"}}],"tool_choice":"required"`, `"tools":[{"functionDeclarations":[{"name":"see"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`, nil},
		{`"tools":[{"type":"function","function":{"name":"see"}}],"tool_choice":{"type":"function","function":{"name":"see"}}`, `"tools":[{"functionDeclarations":[{"name":"see"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["see"]}}`, nil},
		{`"tool_choice":"auto"`, ``, nil},
		{`"tool_choice":"required"`, ``, []string{"tool_choice"}},
		{`"tools":[{"type":"google_search"}],"tool_choice":"required"`, `"tools":[{"googleSearch":{}}]`, []string{"tool_choice"}},
		{`"tool_choice":{"type":"allowed_tools"}`, ``, []string{"tool_choice"}},
		{`"parallel_tool_calls":false`, ``, []string{"parallel_tool_calls"}},
		{`"tools":[{"type":"custom","custom":{"name":"x"}}]`, ``, []string{"tools[0]"}},
		{`"tools":[{"type":"function","function":{"name":"google_search"}},{"type":"code_execution"},{"type":"url_context"}]`, `"tools":[{"googleSearch":{}},{"codeExecution":{}},{"urlContext":{}}]`, nil},
		{
			`"tools":[{"type":"function","function":{"name":"googleSearch","parameters":{"time_range_filter":{"startTime":"a"},"other":1}}}]`,
			`"tools":[{"googleSearch":{"timeRangeFilter":{"startTime":"a"}}}]`, nil,
		},
		{
			`"tools":[{"type":"google_maps","google_maps":{"enableWidget":true,"latLng":{"latitude":1},"language_code":"de"}}]`,
			`"tools":[{"googleMaps":{"enableWidget":true}}],"toolConfig":{"retrievalConfig":{"latLng":{"latitude":1},"languageCode":"de"}}`, nil,
		},
		{
			`"tools":[{"type":"function","function":{"name":"computer_use","parameters":{"environment":"ENVIRONMENT_BROWSER","excludedPredefinedFunctions":["drag"]}}}]`,
			`"tools":[{"computerUse":{"environment":"ENVIRONMENT_BROWSER","excludedPredefinedFunctions":["drag"]}}]`, nil,
		},
	} {
		want := `{` + hiSent
		if c.want != "" {
			want += "," + c.want
		}
		check(t, "gemini-2.5-flash", `{`+hi+`,`+c.params+`}`, want+`}`, c.dropped)
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ chat, param string }{
		{`{"messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file-abc"}}]}]}`, "messages[0].content[0]"},
		{`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"hologram","hologram":1}]}]}`, "messages[0].content[1]"},
	} {
		_, err := encode(t, "gemini-2.5-flash", c.chat)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.InvalidParameter || f.Param != c.param || !strings.HasPrefix(f.Text(), c.param+" ") {
			t.Errorf("%s: %v", c.chat, err)
		}
	}
}

func decodeJSON(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return m
}

package passage_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/kernel/llm"
)

// describe writes the passages of a body, one a line: path, role, kind, message, text.
func describe(b *passage.Body) string {
	var out strings.Builder
	for _, p := range b.Passages() {
		signed := ""
		if p.Signed {
			signed = " signed"
		}
		fmt.Fprintf(&out, "%s %s %s %d%s %q\n", p.Path, p.Role, p.Kind, p.Message, signed, p.Text)
	}
	return out.String()
}

type textCase struct {
	name, shape, body string
	want              []string
}

var requestCases = []textCase{
	{"chat with strings, parts and tools", "chatComplete", `{"model":"m","messages":[
		{"role":"developer","content":"be brief"},
		{"content":[{"type":"text","text":"hi\n"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}],"role":"user"},
		{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"to\":\"a@b.c\",\"n\":[1,\"x\\ny\"]}"}},
			{"id":"call_2","type":"custom","custom":{"name":"g","input":"free"}}]},
		{"role":"tool","tool_call_id":"call_1","content":"done"}]}`, []string{
		`messages[0].content system text 0 "be brief"`,
		`messages[1].content[0].text user text 1 "hi\n"`,
		`messages[2].reasoning_content assistant reasoning 2 "hm"`,
		`messages[2].tool_calls[0].function.arguments.to assistant arguments 2 "a@b.c"`,
		`messages[2].tool_calls[0].function.arguments.n[1] assistant arguments 2 "x\ny"`,
		`messages[2].tool_calls[1].custom.input assistant arguments 2 "free"`,
		`messages[3].content tool result 3 "done"`,
	}},
	{"arguments that are not JSON", "chatComplete", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":"}},{"function":{"arguments":"41"}},{"function":{"arguments":{"a":"b"}}}]}]}`, []string{
		`messages[0].tool_calls[0].function.arguments assistant arguments 0 "{\"a\":"`,
		`messages[0].tool_calls[1].function.arguments assistant arguments 0 "41"`,
		`messages[0].tool_calls[2].function.arguments.a assistant arguments 0 "b"`,
	}},
	{"other spellings and duplicates of names", "chatComplete", `{"Messages":[{"role":"user","Content":"a","content":"b","content":"c"}],"me\u017fsages":[{"role":"user","\u0063ontent":"d"}]}`, []string{
		`Messages[0].Content user text 0 "a"`,
		`Messages[0].content user text 0 "b"`,
		`Messages[0].content user text 0 "c"`,
		`meſsages[0].content user text 0 "d"`,
	}},
	{"messages with blocks", "messages", `{"system":[{"type":"text","text":"s"}],"messages":[
		{"role":"user","content":"q"},
		{"role":"assistant","content":[{"type":"thinking","thinking":"secret","signature":"c2ln"},{"type":"redacted_thinking","data":"AAAA"},{"type":"thinking","thinking":"open"},
			{"type":"text","text":"t"},{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":{"b":"v"},"img":"data:image/png;base64,AAAA"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"r"},{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"r2"},{"type":"image","source":{"type":"base64","data":"AAAA"}}]},
			{"type":"document","title":"d","source":{"data":"doc","type":"text"}},{"type":"document","source":{"type":"base64","data":"JVBER"}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"c"}]}}]}]}`, []string{
		`system[0].text system text -1 "s"`,
		`messages[0].content user text 0 "q"`,
		`messages[1].content[0].thinking assistant reasoning 1 signed "secret"`,
		`messages[1].content[2].thinking assistant reasoning 1 "open"`,
		`messages[1].content[3].text assistant text 1 "t"`,
		`messages[1].content[4].input.a.b assistant arguments 1 "v"`,
		`messages[2].content[0].content tool result 2 "r"`,
		`messages[2].content[1].content[0].text tool result 2 "r2"`,
		`messages[2].content[2].title user text 2 "d"`,
		`messages[2].content[2].source.data user text 2 "doc"`,
		`messages[2].content[4].source.content[0].text user text 2 "c"`,
	}},
	{"responses with a string", "createModelResponse", `{"instructions":"i","input":"q","prompt":{"id":"pmpt_1","variables":{"city":"Bern","x":{"type":"input_text","text":"y"}}}}`, []string{
		`instructions system text -1 "i"`,
		`input user text -1 "q"`,
		`prompt.variables.city user text -1 "Bern"`,
		`prompt.variables.x.text user text -1 "y"`,
	}},
	{"responses with items", "countResponseInputTokens", `{"previous_response_id":"resp_1","input":[
		{"role":"developer","content":"d"},{"type":"message","role":"user","content":[{"type":"input_text","text":"u"}]},
		{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"gAAA"},
		{"type":"reasoning","id":"rs_2","summary":[{"type":"summary_text","text":"s2"}],"content":[{"type":"reasoning_text","text":"s3"}],"encrypted_content":null},
		{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":\"b\"}"},{"type":"function_call_output","call_id":"c","output":"o"},
		{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"o2"}]},
		{"type":"custom_tool_call","call_id":"c","input":"free"},{"type":"item_reference","id":"msg_1"}]}`, []string{
		`input[0].content system text 0 "d"`,
		`input[1].content[0].text user text 1 "u"`,
		`input[2].summary[0].text assistant reasoning 2 signed "s"`,
		`input[3].summary[0].text assistant reasoning 3 "s2"`,
		`input[3].content[0].text assistant reasoning 3 "s3"`,
		`input[4].arguments.a assistant arguments 4 "b"`,
		`input[5].output tool result 5 "o"`,
		`input[6].output[0].text tool result 6 "o2"`,
		`input[7].input assistant arguments 7 "free"`,
	}},
	{"completion", "complete", `{"prompt":["a",[1,2],"b"],"suffix":"c"}`, []string{
		`prompt[0] user text -1 "a"`, `prompt[2] user text -1 "b"`, `suffix user text -1 "c"`,
	}},
	{"token ids", "complete", `{"prompt":[1,2]}`, nil},
	{"embedding", "embed", `{"input":["a","b"]}`, []string{`input[0] user text -1 "a"`, `input[1] user text -1 "b"`}},
	{"moderation", "moderate", `{"input":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}}]}`, []string{`input[0].text user text -1 "a"`}},
	{"speech", "createSpeech", `{"input":"a","instructions":"b","voice":"alloy"}`, []string{`input user text -1 "a"`, `instructions user text -1 "b"`}},
	{"image", "imageGenerate", `{"prompt":"a","size":"1x1"}`, []string{`prompt user text -1 "a"`}},
	{"ranking", "rerank", `{"query":"q","documents":["a",{"text":"b","id":"7","image":"AAAA"}]}`, []string{
		`query user text -1 "q"`, `documents[0] user text -1 "a"`, `documents[1].text user text -1 "b"`,
	}},
	{"Google", passage.Google, `{"system_instruction":{"parts":[{"text":"s"}]},"contents":[{"role":"user","parts":[{"text":"q"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},
		{"role":"model","parts":[{"text":"t","thought":true,"thoughtSignature":"AAAA"},{"functionCall":{"name":"f","args":{"a":"b"}},"thoughtSignature":"BBBB"}]},
		{"parts":[{"functionResponse":{"name":"f","response":{"r":["x"]}}}],"role":"function"}]}`, []string{
		`system_instruction.parts[0].text system text -1 "s"`,
		`contents[0].parts[0].text user text 0 "q"`,
		`contents[1].parts[0].text assistant reasoning 1 signed "t"`,
		`contents[1].parts[1].functionCall.args.a assistant arguments 1 "b"`,
		`contents[2].parts[0].functionResponse.response.r[0] tool result 2 "x"`,
	}},
	{"Bedrock", passage.Bedrock, `{"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"q"},{"image":{"format":"png","source":{"bytes":"AAAA"}}}]},
		{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"t","signature":"AAAA"}}},{"toolUse":{"toolUseId":"t1","name":"f","input":{"a":"b"}}}]},
		{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"r"},{"json":{"k":"v"}}]}}]}]}`, []string{
		`system[0].text system text -1 "s"`,
		`messages[0].content[0].text user text 0 "q"`,
		`messages[1].content[0].reasoningContent.reasoningText.text assistant reasoning 1 signed "t"`,
		`messages[1].content[1].toolUse.input.a assistant arguments 1 "b"`,
		`messages[2].content[0].toolResult.content[0].text tool result 2 "r"`,
		`messages[2].content[0].toolResult.content[1].json.k tool result 2 "v"`,
	}},
}

var responseCases = []textCase{
	{"chat", "chatComplete", `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"a","refusal":null,"reasoning":"r","reasoning_details":[{"type":"reasoning.text","text":"rd","signature":"AA"}],
		"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"},{"message":{"refusal":"no","content":[{"type":"text","text":"p"}]}}]}`, []string{
		`choices[0].message.content assistant text 0 "a"`,
		`choices[0].message.reasoning assistant reasoning 0 "r"`,
		`choices[0].message.reasoning_details[0].text assistant reasoning 0 signed "rd"`,
		`choices[1].message.refusal assistant refusal 1 "no"`,
		`choices[1].message.content[0].text assistant text 1 "p"`,
	}},
	{"completion", "complete", `{"choices":[{"text":"a"}]}`, []string{`choices[0].text assistant text 0 "a"`}},
	{"messages", "messages", `{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"AA"},{"type":"text","text":"a"},{"type":"tool_use","id":"i","input":{"k":"v"}}]}`, []string{
		`content[0].thinking assistant reasoning 0 signed "t"`, `content[1].text assistant text 0 "a"`, `content[2].input.k assistant arguments 0 "v"`,
	}},
	{"responses", "createModelResponse", `{"output":[{"type":"reasoning","summary":[{"text":"s"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"n"}]},
		{"type":"function_call","arguments":"{\"k\":\"v\"}"}],"output_text":"a","instructions":"i"}`, []string{
		`output[0].summary[0].text assistant reasoning 0 "s"`,
		`output[1].content[0].text assistant text 1 "a"`,
		`output[1].content[1].refusal assistant refusal 1 "n"`,
		`output[2].arguments.k assistant arguments 2 "v"`,
		`output_text assistant text -1 "a"`,
	}},
	{"transcription", "createTranscription", `{"text":"a b","segments":[{"text":"a b"}],"words":[{"word":"a"}]}`, []string{
		`text assistant text -1 "a b"`, `segments[0].text assistant text -1 "a b"`, `words[0].word assistant text -1 "a"`,
	}},
	{"subtitles", "createTranslation", "1\n00:00 --> 00:01\nhi\n", []string{` assistant text -1 "1\n00:00 --> 00:01\nhi\n"`}},
	{"Google stream as a list", passage.Google, `[{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}]}]`, []string{`[0].candidates[0].content.parts[0].text assistant text 0 "a"`}},
	{"Bedrock", passage.Bedrock, `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}}}`, []string{`output.message.content[0].text assistant text 0 "a"`}},
	{"embedding", "embed", `{"data":[{"embedding":[0.1]}]}`, nil},
}

func TestRequestShape_FindsTexts(t *testing.T) {
	t.Parallel()
	checkTexts(t, requestCases, passage.RequestShape)
}

func TestResponseShape_FindsTexts(t *testing.T) {
	t.Parallel()
	checkTexts(t, responseCases, passage.ResponseShape)
}

func checkTexts(t *testing.T, cases []textCase, read func(string, []byte) (*passage.Body, error)) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, err := read(c.shape, []byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Join(append(c.want, ""), "\n")
			if got := describe(b); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestRequest_RejectsOtherBodies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		ep   llm.Endpoint
		body string
		want error
	}{
		{"not JSON", llm.ChatComplete, "--boundary", passage.ErrNotJSON},
		{"empty", llm.ChatComplete, "", passage.ErrNotJSON},
		{"list", llm.ChatComplete, "[]", passage.ErrNotJSON},
		{"cut", llm.ChatComplete, `{"messages":[{"content":"a"}`, passage.ErrNotJSON},
		{"bytes after it", llm.ChatComplete, `{} {}`, passage.ErrNotJSON},
		{"invalid in a part without texts", llm.ChatComplete, `{"messages":[],"x":[tru]}`, passage.ErrNotJSON},
		{"documents", llm.OCR, `{}`, passage.ErrUnreadable},
		{"proxy", llm.Proxy, `{}`, passage.ErrUnreadable},
		{"too many texts", llm.Embed, `{"input":["a"` + strings.Repeat(`,"a"`, 100_000) + `]}`, passage.ErrUnreadable},
		{"too deep", llm.Embed, `{"input":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, passage.ErrUnreadable},
	} {
		if _, err := passage.Request(c.ep, []byte(c.body)); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

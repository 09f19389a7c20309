package passage_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/passage"
)

// planted is the text that a body hides in one of the places that a provider or a client reads.
const planted = "hidden words"

// hiddenInRequests are places besides messages that reach a model.
var hiddenInRequests = map[string]string{
	"tool":                       `chatComplete {"tools":[{"type":"function","function":{"name":"f","description":"hidden words"}}]}`,
	"legacy function":            `chatComplete {"functions":[{"name":"f","description":"hidden words"}]}`,
	"parameter":                  `chatComplete {"tools":[{"function":{"parameters":{"properties":{"a":{"description":"hidden words"}}}}}]}`,
	"parameter named as keyword": `chatComplete {"tools":[{"function":{"parameters":{"properties":{"description":{"description":"hidden words"}}}}}]}`,
	"enum":                       `chatComplete {"tools":[{"function":{"parameters":{"properties":{"a":{"enum":["hidden words"]}}}}}]}`,
	"grammar":                    `createModelResponse {"tools":[{"type":"custom","format":{"type":"grammar","definition":"hidden words"}}]}`,
	"format of the answer":       `chatComplete {"response_format":{"type":"json_schema","json_schema":{"description":"hidden words"}}}`,
	"schema of the answer":       `createModelResponse {"text":{"format":{"type":"json_schema","schema":{"properties":{"a":{"title":"hidden words"}}}}}}`,
	"template":                   `chatComplete {"chat_template":"hidden words"}`,
	"documents":                  `chatComplete {"documents":[{"title":"t","text":"hidden words"}]}`,
	"instructions of a source":   `chatComplete {"data_sources":[{"parameters":{"role_information":"hidden words"}}]}`,
	"unknown part":               `chatComplete {"messages":[{"role":"user","content":[{"type":"input_text","input_text":"hidden words"}]}]}`,
	"name of a message":          `chatComplete {"messages":[{"role":"user","name":"hidden words","content":"a"}]}`,
	"name of a file":             `chatComplete {"messages":[{"role":"user","content":[{"type":"file","file":{"filename":"hidden words"}}]}]}`,
	"file":                       `chatComplete {"messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"data:text/plain;base64,BASE64"}}]}]}`,
	"file without its type":      `createModelResponse {"input":[{"role":"user","content":[{"type":"input_file","file_data":"BASE64"}]}]}`,
	"source of a result":         `messages {"messages":[{"role":"user","content":[{"type":"search_result","source":"hidden words"}]}]}`,
	"tool of Messages":           `messages {"tools":[{"name":"f","input_schema":{"description":"hidden words"}}]}`,
	"tool of Google":             `google {"tools":[{"functionDeclarations":[{"name":"f","description":"hidden words"}]}]}`,
	"schema of Google":           `google {"generationConfig":{"responseSchema":{"description":"hidden words"}}}`,
	"file of Google":             `google {"contents":[{"parts":[{"inlineData":{"mimeType":"text/plain","data":"BASE64"}}]}]}`,
	"tool of Bedrock":            `bedrock {"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"description":"hidden words"}}}}]}}`,
	"document of Bedrock":        `bedrock {"messages":[{"role":"user","content":[{"document":{"name":"hidden words","format":"txt","source":{"bytes":"AAAA"}}}]}]}`,
	"file of Bedrock":            `bedrock {"messages":[{"role":"user","content":[{"document":{"name":"n","format":"txt","source":{"bytes":"BASE64"}}}]}]}`,
	"extra fields of Bedrock":    `bedrock {"additionalModelRequestFields":{"system":"hidden words"}}`,
	"event of a conversation":    `realtimeEvent {"type":"new.event","detail":{"note":"hidden words"}}`,
	"item of a conversation":     `realtimeEvent {"type":"conversation.item.create","item":{"type":"new_item","note":"hidden words"}}`,
	"data URL of a text":         `chatComplete {"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":\"data:a;base64,BASE64\"}"}}]}]}`,
}

// hiddenInResponses are places besides the answer that a client reads.
var hiddenInResponses = map[string]string{
	"annotation":            `chatComplete {"choices":[{"message":{"annotations":[{"url_citation":{"title":"hidden words"}}]}}]}`,
	"unknown member":        `chatComplete {"choices":[{"message":{"thoughts":"hidden words"}}]}`,
	"search result":         `chatComplete {"search_results":[{"title":"hidden words"}]}`,
	"name of a tool":        `chatComplete {"choices":[{"message":{"tool_calls":[{"function":{"name":"hidden words"}}]}}]}`,
	"tokens":                `chatComplete {"choices":[{"logprobs":{"content":[{"token":"hidden"},{"token":" words"}]}}]}`,
	"alternatives":          `chatComplete {"choices":[{"logprobs":{"content":[{"token":"a","top_logprobs":[{"token":"b"},{"token":"hidden"}]},{"token":"a","top_logprobs":[{"token":"b"},{"token":" words"}]}]}}]}`,
	"tokens of a part":      `createModelResponse {"output":[{"content":[{"type":"output_text","text":"a","logprobs":[{"token":"hidden"},{"token":" words"}]}]}]}`,
	"legacy tokens":         `complete {"choices":[{"logprobs":{"tokens":["hidden"," words"]}}]}`,
	"legacy alternatives":   `complete {"choices":[{"logprobs":{"top_logprobs":[{"hidden":-1},{" words":-2}]}}]}`,
	"annotation of a part":  `createModelResponse {"output":[{"content":[{"type":"output_text","text":"a","annotations":[{"title":"hidden words"}]}]}]}`,
	"unknown item":          `createModelResponse {"output":[{"type":"new_call","detailed":{"a":["hidden words"]}}]}`,
	"stop sequence":         `messages {"stop_sequence":"hidden words"}`,
	"grounding":             `google {"candidates":[{"groundingMetadata":{"webSearchQueries":["hidden words"]}}]}`,
	"tokens of Google":      `google {"candidates":[{"logprobsResult":{"chosenCandidates":[{"token":"hidden"},{"token":" words"}]}}]}`,
	"trace of Bedrock":      `bedrock {"trace":{"guardrail":{"modelOutput":["hidden words"]}}}`,
	"tokens of a speech":    `createTranscription {"text":"a","logprobs":[{"token":"hidden"},{"token":" words"}]}`,
	"event with annotation": `realtimeEvent {"type":"response.output_text.annotation.added","annotation":{"title":"hidden words"}}`,
	"annotation of a page":  `ocr {"pages":[],"document_annotation":"hidden words"}`,
}

// A text that reaches a model or a client in another place than a message is found, and a replacement
// leaves nothing of it.
func TestShapes_FindTextsInEachPlace(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte(planted))
	check := func(name, c string, read func(string, []byte) (*passage.Body, error)) {
		shape, body, _ := strings.Cut(strings.ReplaceAll(c, "BASE64", encoded), " ")
		b, err := read(shape, []byte(body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		found := false
		for i, p := range b.Passages() {
			if strings.Contains(p.Text, planted) || strings.Contains(p.Text, encoded) {
				b.Replace(i, "gone")
				found = true
			}
		}
		after := string(b.Bytes())
		if !found || strings.Contains(after, "hidden") || strings.Contains(after, encoded) {
			t.Errorf("%s: found %v, after the replacement %s\n%s", name, found, after, describe(b))
		}
	}
	for name, c := range hiddenInRequests {
		check(name, c, passage.RequestShape)
	}
	for name, c := range hiddenInResponses {
		check(name, c, passage.ResponseShape)
	}
}

// Ids, types, binary data and credentials for servers are no texts: a redaction of them would break the
// call.
func TestShapes_LeaveIdentitiesAlone(t *testing.T) {
	t.Parallel()
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n0123456789012345678901234567890"))
	for _, c := range []string{
		`chatComplete {"model":"gpt-4o","user":"ann","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/?token=a"}},{"type":"file","file":{"file_id":"file-1","file_data":"data:application/pdf;base64,JVBERi0xLjcK"}}]}]}`,
		`chatComplete {"messages":[{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"n\":12,\"i\":\"data:image/png;base64,PNG\"}"}}]}]}`,
		`createModelResponse {"tools":[{"type":"mcp","server_label":"s","server_url":"https://example.com","authorization":"Bearer a","headers":{"X-Key":"a b"}}]}`,
		`messages {"mcp_servers":[{"type":"url","name":"n","authorization_token":"a b"}],"messages":[{"role":"assistant","content":[{"type":"redacted_thinking","data":"a b"}]}]}`,
		`google {"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"PNG"}}]}]}`,
		`bedrock {"messages":[{"role":"user","content":[{"image":{"format":"png","source":{"bytes":"PNG"}}},{"document":{"format":"pdf","source":{"bytes":"PNG"}}}]}]}`,
	} {
		shape, body, _ := strings.Cut(strings.ReplaceAll(c, "PNG", png), " ")
		b, err := passage.RequestShape(shape, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(b); got != "" {
			t.Errorf("%s:\n%s", body, got)
		}
	}
}

// A long number in the arguments of a call may be that of a card. Its replacement is a string.
func TestReplace_WritesNumbersAsStrings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{`{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"card\":4111111111111111,\"n\":5}"}}]}]}`,
			`{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"card\":\"[CARD]\",\"n\":5}"}}]}]}`},
		{`{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"card":4111111111111111}}]}]}`,
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"card":"[CARD]"}}]}]}`},
	} {
		b, err := passage.RequestShape("chatComplete", []byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Passages() {
			b.Replace(i, "[CARD]")
		}
		if got := string(b.Bytes()); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

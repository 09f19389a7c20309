package tokens_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sluice/internal/kernel/llm"
	"sluice/internal/limits/tokens"
)

var models = []string{"gpt-4o", "gpt-4", "gpt-4o-mini", "o3", "claude-sonnet-4-5", "claude-opus-4-7", "gemini-2.5-pro", "gemini-3-pro", "mistral-large", "qwen3", "x"}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-z ]{0,12}[\n ]?){0,30}`), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
}

func anyPart() *rapid.Generator[llm.Part] {
	return rapid.Custom(func(t *rapid.T) llm.Part {
		p := llm.Part{Kind: llm.PartKind(rapid.IntRange(0, int(llm.OpaquePart)).Draw(t, "kind")), Text: anyText().Draw(t, "text")}
		p.Raw = []byte(anyText().Draw(t, "raw"))
		p.Media = &llm.Media{MIME: rapid.SampledFrom([]string{"", "image/png", "audio/wav", "video/mp4", "application/pdf", "text/plain"}).Draw(t, "mime"), Data: anyText().Draw(t, "data"), Plain: rapid.Bool().Draw(t, "plain")}
		p.Call = &llm.ToolCall{Name: anyText().Draw(t, "name"), Arguments: anyText().Draw(t, "arguments")}
		p.Result = &llm.ToolResult{Parts: []llm.Part{{Text: anyText().Draw(t, "result")}}}
		return p
	})
}

func anyTool() *rapid.Generator[llm.Tool] {
	return rapid.Custom(func(t *rapid.T) llm.Tool {
		return llm.Tool{
			Type: rapid.SampledFrom([]string{llm.Function, "web_search"}).Draw(t, "type"), Name: anyText().Draw(t, "name"), Description: anyText().Draw(t, "description"), Raw: []byte(`{"type":"web_search"}`),
			Schema: []byte(rapid.SampledFrom([]string{"", `{"properties":{}}`, `{"properties":{"a":{},"b":{"type":"array","items":{"properties":{"c":{"enum":[1,"",null,2]}}}}}}`}).Draw(t, "schema")),
		}
	})
}

func anyCall() *rapid.Generator[*llm.Call] {
	return rapid.Custom(func(t *rapid.T) *llm.Call {
		c := &llm.Call{Tools: rapid.SliceOfN(anyTool(), 0, 4).Draw(t, "tools")}
		for range rapid.IntRange(0, 4).Draw(t, "messages") {
			c.Messages = append(c.Messages, llm.Message{Role: llm.RoleUser, Name: anyText().Draw(t, "speaker"), Parts: rapid.SliceOfN(anyPart(), 0, 4).Draw(t, "parts")})
		}
		return c
	})
}

// The bound is never below the estimate, and neither is negative.
func TestBoundHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, model := anyCall().Draw(t, "call"), rapid.SampledFrom(models).Draw(t, "model")
		got, maxTokens := counter.Call(c, model).Tokens, tokens.MaxCallTokens(c, model)
		if got < 0 || maxTokens < got {
			t.Fatalf("estimate %d, bound %d", got, maxTokens)
		}
	})
}

// A conversation that goes on never costs less.
func TestMoreCostsMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b, model := anyCall().Draw(t, "call"), anyCall().Draw(t, "more"), rapid.SampledFrom(models).Draw(t, "model")
		both := &llm.Call{Messages: append(append([]llm.Message{}, a.Messages...), b.Messages...), Tools: append(append([]llm.Tool{}, a.Tools...), b.Tools...)}
		combined, maxTokens := counter.Call(both, model).Tokens, tokens.MaxCallTokens(both, model)
		for _, c := range []*llm.Call{a, b} {
			if one := counter.Call(c, model).Tokens; combined < one {
				t.Fatalf("%d together, %d alone", combined, one)
			}
			if one := tokens.MaxCallTokens(c, model); maxTokens < one {
				t.Fatalf("bound %d together, %d alone", maxTokens, one)
			}
		}
	})
}

// Where a text is cut for the splitter changes nothing when it has words, and next to
// nothing otherwise.
func TestChunksChangeNothing(t *testing.T) {
	t.Parallel()
	line := "\nWhan that Aprille with his shoures soote, the droghte of March hath perced to the roote"
	one := counter.Text(line, "gpt-4o").Tokens
	if got := counter.Text(strings.Repeat(line, 4000), "gpt-4o").Tokens; got != 4000*one {
		t.Errorf("%d, want %d", got, 4000*one)
	}
	chars := strings.Repeat("春眠不覺曉處處聞啼鳥夜來風雨聲花落知多少", 2000)
	one = counter.Text(chars[:60*20], "gpt-4o").Tokens
	if got := counter.Text(chars, "gpt-4o").Tokens; got < one*100-30 || got > one*100+130 {
		t.Errorf("%d, want about %d", got, 100*one)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(uint8(0), `{"messages":`+jargon+`}`)
	f.Add(uint8(0), `{`+weather+`}`)
	f.Add(uint8(1), `{"system":[{"type":"text","text":"a"}],"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"UklGRg=="}},{"type":"document","source":{"type":"content","content":"x"}}]}]}`)
	f.Add(uint8(2), `{"instructions":"a","input":[{"type":"function_call_output","output":"é"},{"type":"reasoning","encrypted_content":"AAAA","summary":[]}],"text":{"format":{"schema":{}}}}`)
	f.Add(uint8(3), `{"prompt":[[1,2],"a",3]}`)
	f.Add(uint8(4), `{"input":["\ud800",[[[]]]]}`)
	f.Add(uint8(1), `{"messages":[`+strings.Repeat(`[`, 70))
	eps := []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse, llm.Complete, llm.Embed}
	f.Fuzz(func(t *testing.T, n uint8, body string) {
		ep, model := eps[int(n)%len(eps)], models[int(n)/len(eps)%len(models)]
		got, maxTokens := counter.Request(ep, []byte(body), model), tokens.MaxRequestTokens(ep, []byte(body), model)
		if got.Tokens < 0 || maxTokens < got.Tokens {
			t.Errorf("%s %s: estimate %+v, bound %d", ep, model, got, maxTokens)
		}
		if output := counter.ResponseBody(ep, []byte(body), model); output.Tokens < 0 || output.Tokens > int64(len(body)) && output.Unseen == 0 && utf8.ValidString(body) && !strings.Contains(body, `"type"`) {
			t.Errorf("%s %s: answer %+v of %d bytes", ep, model, output, len(body))
		}
	})
}

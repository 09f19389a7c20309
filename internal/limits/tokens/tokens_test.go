package tokens_test

import (
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/limits/tokens"
)

// counter is one for all tests, as a process has one.
var counter = tokens.New()

// jargon is the conversation of OpenAI's cookbook, for which the API's own numbers are
// known.
const jargon = `[
 {"role":"system","content":"You are a helpful, pattern-following assistant that translates corporate jargon into plain English."},
 {"role":"system","name":"example_user","content":"New synergies will help drive top-line growth."},
 {"role":"system","name":"example_assistant","content":"Things working well together will increase revenue."},
 {"role":"system","name":"example_user","content":"Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage."},
 {"role":"system","name":"example_assistant","content":"Let's talk later when we're less busy about how to do better."},
 {"role":"user","content":"This late pivot means we don't have time to boil the ocean for the client deliverable."}]`

const weather = `"messages":[
 {"role":"system","content":"You are a helpful assistant that can answer to questions about the weather."},
 {"role":"user","content":"What's the weather like in San Francisco?"}],
 "tools":[{"type":"function","function":{"name":"get_current_weather","description":"Get the current weather in a given location",
  "parameters":{"type":"object","properties":{
   "location":{"type":"string","description":"The city and state, e.g. San Francisco, CA"},
   "unit":{"type":"string","description":"The unit of temperature to return","enum":["celsius","fahrenheit"]}},
  "required":["location"]}}}]`

// The numbers are those of the API.
// Source: https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken, read 2026-11.
func TestChatsAsOpenAICounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, model, body string
		want              int64
	}{
		{"chat", "gpt-4-0613", `{"messages":` + jargon + `}`, 129},
		{"chat", "gpt-3.5-turbo", `{"messages":` + jargon + `}`, 129},
		{"chat", "gpt-4o", `{"messages":` + jargon + `}`, 124},
		{"chat", "gpt-4o-mini", `{"messages":` + jargon + `}`, 124},
		{"chat by path", "openai/gpt-4o-2024-08-06", `{"messages":` + jargon + `}`, 124},
		{"fine-tuned", "ft:gpt-3.5-turbo-0613:acme::1", `{"messages":` + jargon + `}`, 129},
		{"tools", "gpt-3.5-turbo", `{` + weather + `}`, 105},
		{"tools", "gpt-4", `{` + weather + `}`, 105},
		{"tools", "gpt-4o", `{` + weather + `}`, 101},
		{"tools", "gpt-4o-mini", `{` + weather + `}`, 101},
	} {
		if got := counter.Request(llm.ChatComplete, []byte(c.body), c.model); got != (tokens.Count{Tokens: c.want}) {
			t.Errorf("%s, %s: %+v, want %d", c.name, c.model, got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	// Source: the same notebook, section 5 (o200k_base and cl100k_base).
	for _, c := range []struct {
		model, text string
		want        int64
	}{
		{"gpt-4o", "tiktoken is great!", 6}, {"gpt-4", "tiktoken is great!", 6},
		{"gpt-4", "antidisestablishmentarianism", 6}, {"gpt-4o", "antidisestablishmentarianism", 6},
		{"gpt-4", "2 + 2 = 4", 7}, {"gpt-4o", "2 + 2 = 4", 7},
		{"gpt-4", "お誕生日おめでとう", 9}, {"gpt-4o", "お誕生日おめでとう", 8},
		{"gpt-4o", "", 0},
		{"gpt-4o", "<|endoftext|>", 7}, // words, not the sign
	} {
		if got := counter.Text(c.text, c.model).Tokens; got != c.want {
			t.Errorf("%s %q: %d, want %d", c.model, c.text, got, c.want)
		}
	}
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("Shall I compare thee to a summer's day? ", 50)
	plain := counter.Text(text, "gpt-4").Tokens
	for _, c := range []struct {
		model   string
		percent int64
	}{
		{"claude-3-5-haiku-latest", 120}, {"us.anthropic.claude-sonnet-4-5-20250929-v1:0", 120}, {"anthropic/claude-opus-4.7", 140},
		{"models/gemini-2.5-pro", 108}, {"accounts/fireworks/models/llama-v3p1-8b-instruct", 100}, {"whatever", 100}, {"", 100},
	} {
		if got := counter.Text(text, c.model).Tokens; got < plain*(c.percent-2)/100 || got > plain*(c.percent+2)/100 {
			t.Errorf("%q: %d, of %d", c.model, got, plain)
		}
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	hello := counter.Text("Hello there", "gpt-4o").Tokens
	for name, c := range map[string]struct {
		ep   llm.Endpoint
		body string
		want int64
	}{
		"chat parts":           {llm.ChatComplete, `{"messages":[{"role":"user","content":[{"type":"text","text":"Hello there"}]}]}`, hello + 7},
		"messages":             {llm.Messages, `{"system":"Hello there","messages":[{"role":"user","content":"Hello there"}]}`, 2*hello + 11},
		"count_tokens":         {llm.MessagesCountTokens, `{"messages":[{"role":"user","content":"Hello there"}]}`, hello + 7},
		"responses":            {llm.CreateModelResponse, `{"instructions":"Hello there","input":"Hello there"}`, 2*hello + 11},
		"responses items":      {llm.CreateModelResponse, `{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello there"}]}]}`, hello + 7},
		"completions":          {llm.Complete, `{"prompt":"Hello there"}`, hello},
		"completions, many":    {llm.Complete, `{"prompt":["Hello there","Hello there"]}`, 2 * hello},
		"embeddings":           {llm.Embed, `{"input":"Hello there"}`, hello},
		"embeddings of tokens": {llm.Embed, `{"input":[1,2,3]}`, 3},
		"many of tokens":       {llm.Embed, `{"input":[[1,2,3],[4]]}`, 4},
		"of no text":           {llm.ListModels, `{"input":"Hello there"}`, 0},
		"no JSON":              {llm.ChatComplete, `Hello there`, 0},
		"cut":                  {llm.ChatComplete, `{"messages":[{"role":"user","content":"Hello the`, 0},
		"null":                 {llm.Messages, `{"system":null,"messages":null}`, 0},
		"labels are no words":  {llm.Messages, `{"messages":[{"role":"user","content":[{"type":"text","text":"Hello there","cache_control":{"type":"ephemeral"}}]}]}`, hello + 7},
		"called":               {llm.ChatComplete, `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"Hello there","arguments":"Hello there"}}]}]}`, 2*hello + 7},
		"used":                 {llm.Messages, `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Hello there","input":{}}]}]}`, hello + 8},
		"came to":              {llm.Messages, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"Hello there"}]}]}]}`, hello + 7},
		"a text document":      {llm.Messages, `{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Hello there"}}]}]}`, hello + 7},
		"an empty one":         {llm.Messages, `{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":""}}]}]}`, 7},
		"a text file":          {llm.ChatComplete, `{"messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"data:text/plain;base64,SGVsbG8gdGhlcmU="}}]}]}`, hello + 7},
	} {
		if got := counter.Request(c.ep, []byte(c.body), "gpt-4o"); got.Tokens != c.want || got.Extrapolated || got.Unseen != 0 {
			t.Errorf("%s: %+v, want %d", name, got, c.want)
		}
		if maxTokens := tokens.MaxRequestTokens(c.ep, []byte(c.body), "gpt-4o"); maxTokens < c.want {
			t.Errorf("%s: bound %d below %d", name, maxTokens, c.want)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	hello := counter.Text("Hello there", "gpt-4o").Tokens
	for name, c := range map[string]struct {
		ep   llm.Endpoint
		body string
		want int64
	}{
		"chat":        {llm.ChatComplete, `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there"},"finish_reason":"stop"}]}`, hello},
		"in blocks":   {llm.ChatComplete, `{"choices":[{"message":{"role":"assistant","content":"Hello there","content_blocks":[{"type":"text","text":"Hello there"}]}}]}`, hello},
		"no blocks":   {llm.ChatComplete, `{"choices":[{"message":{"role":"assistant","content":"Hello there","content_blocks":[]}}]}`, hello},
		"details":     {llm.ChatComplete, `{"choices":[{"message":{"role":"assistant","content":"","reasoning":"Hello there","reasoning_details":[{"type":"reasoning.text","text":"Hello there","format":"x"}]}}]}`, hello},
		"so far":      {llm.ChatComplete, `{"choices":[{"message":{"role":"assistant","content":"Hello there"},"delta":{"role":"assistant","content":""}}]}`, hello},
		"messages":    {llm.Messages, `{"id":"m","content":[{"type":"thinking","thinking":"Hello there","signature":"c2lnbmF0dXJl"},{"type":"text","text":"Hello there"}]}`, 2 * hello},
		"responses":   {llm.CreateModelResponse, `{"output":[{"type":"message","content":[{"type":"output_text","text":"Hello there","annotations":[]}]}]}`, hello},
		"completions": {llm.Complete, `{"choices":[{"text":"Hello there"}]}`, hello},
		"transcript":  {llm.CreateTranscription, `{"text":"Hello there","language":"en"}`, hello},
		"as a text":   {llm.CreateTranslation, "Hello there", hello},
		"subtitles":   {llm.CreateTranscription, "1\r\n00:00:00,000 --> 00:00:04,200\r\nHello there", hello},
		"embeddings":  {llm.Embed, `{"data":[{"embedding":[1,2]}]}`, 0},
	} {
		if got := counter.ResponseBody(c.ep, []byte(c.body), "gpt-4o").Tokens; got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	r := llm.Response{Choices: []llm.Choice{{Parts: []llm.Part{{Text: "Hello there"}, {Kind: llm.CallPart, Call: &llm.ToolCall{Name: "Hello there", Arguments: "{}"}}}}}}
	if got := counter.Response(&r, "gpt-4o").Tokens; got != 2*hello+1 {
		t.Errorf("reply %d", got)
	}
}

// A text beyond the limit is reckoned from samples, close to the truth, and says so.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	unit := "The quick brown fox jumps over the lazy dog. "
	each := counter.Text(strings.Repeat(unit, 1000), "gpt-4o").Tokens
	if short := counter.Text(strings.Repeat(unit, tokens.ExactBytes/len(unit)), "gpt-4o"); short.Extrapolated {
		t.Error("a text within the limit is extrapolated")
	}
	long := counter.Text(strings.Repeat(unit, 100_000), "gpt-4o")
	if want := 100 * each; !long.Extrapolated || long.Tokens < want*97/100 || long.Tokens > want*103/100 {
		t.Errorf("%+v, want about %d", long, want)
	}
	parts := `{"messages":[{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"`+unit+`"},`, 40_000) + `{"type":"text","text":""}]}]}`
	many := counter.Request(llm.ChatComplete, []byte(parts), "gpt-4o")
	if want := 40_000 * counter.Text(unit, "gpt-4o").Tokens; !many.Extrapolated || many.Tokens < want*97/100 || many.Tokens > want*103/100 {
		t.Errorf("%+v, want about %d", many, want)
	}
}

func TestSubtitlesEnd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1\r\n00:00:00,000 --> 00:00:04,200\r\nHello\r\n\r\n2\r\n00:00:05,000 --> 01:02:03,004\r\nthere": 3_723_004,
		"WEBVTT\n\n00:00.000 --> 00:04.200 align:start\nHello":                                           4_200,
		"00:09.000 --> 00:04.000\n00:01.000 --> 00:02.000":                                               4_000,
		"Hello --> there": 0, "-->": 0, "--> NaN:1": 0, "--> 1e300:1": 0, "--> -1:00": 0, "": 0,
	} {
		if got := tokens.SubtitlesMilli([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if got := tokens.SubtitlesMilli([]byte("--> " + strings.Repeat("99:", 1000) + "1")); got < 0 || got > 1e12 {
		t.Errorf("an endless time: %d", got)
	}
}

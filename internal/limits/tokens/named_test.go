package tokens_test

import (
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/limits/tokens"
)

// What a call names by its place counts as the largest context, since nobody here has seen how
// long it is; pictures have their own bound, and words of tools are words.
func TestBoundOfWhatIsNamedByItsPlace(t *testing.T) {
	t.Parallel()
	chat := func(part string) string {
		return `{"model":"m","messages":[{"role":"user","content":[` + part + `]}]}`
	}
	for name, c := range map[string]struct {
		ep   llm.Endpoint
		body string
		all  bool
	}{
		"a picture":             {llm.ChatComplete, chat(`{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}`), false},
		"a picture without end": {llm.ChatComplete, chat(`{"type":"image_url","image_url":{"url":"https://x.test/a"}}`), false},
		"data":                  {llm.ChatComplete, chat(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`), false},
		"a store":               {llm.ChatComplete, chat(`{"type":"image_url","image_url":{"url":"gs://x/y.mp4"}}`), true},
		"another store":         {llm.ChatComplete, chat(`{"type":"image_url","image_url":"s3://x/y"}`), true},
		"a film":                {llm.ChatComplete, chat(`{"type":"image_url","image_url":{"url":"https://x.test/y.MP4?a=b"}}`), true},
		"YouTube":               {llm.ChatComplete, chat(`{"type":"image_url","image_url":{"url":"https://www.youtube.com/watch?v=abc"}}`), true},
		"YouTube, short":        {llm.ChatComplete, chat(`{"type":"image_url","image_url":{"url":"https:\/\/youtu.be/abc"}}`), true},
		"YouTube, escaped":      {llm.ChatComplete, chat(`{"type":"image_url","image_url":{"url":"https://\u0079outu.be/abc"}}`), true},
		"document_url":          {llm.ChatComplete, chat(`{"type":"document_url","document_url":"https://x.test/a.pdf"}`), true},
		"video_url":             {llm.ChatComplete, chat(`{"type":"video_url","video_url":{"url":"https://x.test/a"}}`), true},
		"video_url of data":     {llm.ChatComplete, chat(`{"type":"video_url","video_url":{"url":"data:video/mp4;base64,AAAA"}}`), false},
		"audio_url":             {llm.ChatComplete, chat(`{"type":"audio_url","audio_url":{"url":"https://x.test/a"}}`), true},
		"an input_image":        {llm.CreateModelResponse, `{"input":[{"role":"user","content":[{"type":"input_image","image_url":"gs://a/b"}]}]}`, true},
		"a file's address":      {llm.CreateModelResponse, `{"input":[{"role":"user","content":[{"type":"input_file","file_url":"https://x.test/a"}]}]}`, true},
		"fileData":              {llm.Proxy, `{"contents":[{"parts":[{"fileData":{"fileUri":"https://x.test/a"}}]}]}`, true},
		"file_data":             {llm.Proxy, `{"contents":[{"parts":[{"file_data":{"file_uri":"gs://x"}}]}]}`, true},
		"escaped":               {llm.Proxy, `{"contents":[{"parts":[{"\u0066ileData":{"fileUr\u0069":"gs://x"}}]}]}`, true},
		"s3Location":            {llm.Proxy, `{"messages":[{"content":[{"video":{"format":"mp4","source":{"s3Location":{"uri":"s3://a/b.mp4"}}}}]}]}`, true},
		"bytes":                 {llm.Proxy, `{"messages":[{"content":[{"video":{"format":"mp4","source":{"bytes":"AAAA"}}}]}]}`, false},
		"inlineData":            {llm.Proxy, `{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}]}`, false},
		"a file that is passed": {llm.Proxy, `{"messages":[{"content":[{"type":"file","file":{"file_id":"f"}}]}]}`, true},
		"a picture passed":      {llm.Proxy, `{"messages":[{"content":[{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}]}]}`, false},
		"a document passed":     {llm.Proxy, `{"messages":[{"content":[{"type":"document","source":{"type":"url","url":"https://x.test/a"}}]}]}`, true},
		"words":                 {llm.ChatComplete, `{"messages":[{"role":"user","content":"gs://x and https://youtu.be/x"}]}`, false},
		"a function's schema":   {llm.ChatComplete, `{"messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"file_uri":{"default":"gs://x"}}}}}]}`, false},
		"arguments":             {llm.Messages, `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"video_url":"https://x.test/a"}}]}]}`, false},
		"arguments of Gemini":   {llm.Proxy, `{"contents":[{"parts":[{"functionCall":{"name":"f","args":{"file_uri":"gs://x"}}}]}]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tokens.MaxRequestTokens(c.ep, []byte(c.body), "gpt-4o")
			if maxTokens := int64(len(c.body)) + 20_000; (got >= 1<<20) != c.all || !c.all && got > maxTokens {
				t.Errorf("%s: %d", strings.TrimSpace(c.body), got)
			}
		})
	}
}

package gemini

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// What Google bills of searches is in the usage, of a whole answer and of a stream.
func TestSearchesAreCounted(t *testing.T) {
	t.Parallel()
	const queries = `"webSearchQueries":["weather in Bern","","forecast Bern"]`
	const found = `,"groundingChunks":[{"maps":{}},{"web":{"uri":"https://x.example"}},{"web":{"uri":"https://y.example"}}]`
	for _, c := range []struct {
		name, model, grounding string
		want                   int64
	}{
		{"each query of Gemini 3", "gemini-3-flash-preview", queries + found, 2},
		{"once before it", "gemini-2.5-flash", queries + found, 1},
		{"nothing was found", "gemini-2.5-flash", queries, 0},
		{"nothing was searched for", "gemini-3-flash-preview", `"groundingChunks":[{"maps":{}}]`, 0},
	} {
		response := `{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP","groundingMetadata":{` + c.grounding + `}}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":6,"totalTokenCount":10},"modelVersion":"` + c.model + `"}`
		if got, err := (generate{}).DecodeResponse(&dialect.Incoming{Body: []byte(response)}); err != nil || got.Usage.SearchUnits != c.want {
			t.Errorf("%s: %+v, %v; want %d searches", c.name, got, err, c.want)
		}
		two := strings.Replace(response, `"finishReason":"STOP",`, `"finishReason":"STOP","index":1,`, 1)
		var last llm.Usage
		d := generate{}.NewDecoder(&dialect.Incoming{})
		take := func(e *llm.Event) {
			if e.Kind == llm.EventUsage {
				last = *e.Usage
			}
		}
		for _, event := range []string{response, response, two} {
			if err := d.Feed([]byte("data: "+event+"\n\n"), take); err != nil {
				t.Fatal(err)
			}
		}
		want := 2 * c.want // of two candidates
		if c.model == "gemini-2.5-flash" {
			want = c.want
		}
		if err := d.Close(take); err != nil || last.SearchUnits != want || last.TotalTokens != 10 {
			t.Errorf("%s, streamed: %+v, %v; want %d searches", c.name, last, err, want)
		}
	}
}

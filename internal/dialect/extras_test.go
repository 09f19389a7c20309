package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/llm"
)

// What a provider says in each event of a stream, as Perplexity its sources, callers who are
// not strict get once, as it was said last.
func TestExtrasOfStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		surface llm.Endpoint
		client  dialect.Client
	}{
		"responses": {llm.CreateModelResponse, responses.Client()},
		"messages":  {llm.Messages, anthropic.Dialect().Clients[llm.Messages]},
	} {
		enc := c.client.NewEncoder(&dialect.ResponseContext{Call: &llm.Call{Surface: c.surface}, ID: "0123456789abcdef0123456789"})
		var out []byte
		put := func(ev llm.Event) { out = enc.Append(out, &ev) }
		put(llm.Event{Kind: llm.EventStart})
		for i := range 100 {
			put(llm.Event{Kind: llm.EventExtra, Name: "citations", Raw: fmt.Appendf(nil, "[%d]", i)})
			put(llm.Event{Kind: llm.EventExtra, Name: fmt.Sprint("other", i), Raw: []byte("1")})
		}
		put(llm.Event{Kind: llm.EventFinish, Finish: llm.FinishStop})
		put(llm.Event{Kind: llm.EventEnd})
		if got := string(out); strings.Count(got, `"citations"`) != 1 || !strings.Contains(got, `"citations":[99]`) || strings.Count(got, `"other`) > 64 {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A name that a provider makes up stays one name in the answer.
func TestNamesOfProviders(t *testing.T) {
	t.Parallel()
	extra := llm.Param{Name: `a":1,"forged`, Raw: []byte("1")}
	for surface, client := range surfaces {
		a := &dialect.ResponseContext{Call: &llm.Call{Surface: surface}, ID: "0123456789abcdef0123456789"}
		r := &llm.Response{Extra: []llm.Param{extra}, Choices: []llm.Choice{{Finish: llm.FinishStop, Extra: []llm.Param{extra}, Parts: []llm.Part{{Text: "hi"}}}}}
		out := client.EncodeResponse(nil, r, a)
		enc := client.NewEncoder(a)
		dialect.Replay(r, func(ev *llm.Event) { out = enc.Append(out, ev) })
		if strings.Contains(string(out), `,"forged"`) || !strings.Contains(string(out), `,\"forged"`) {
			t.Errorf("%s: %s", surface, out)
		}
	}
}

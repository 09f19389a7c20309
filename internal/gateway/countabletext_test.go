package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// What is passed through costs what its provider counts, wherever in an answer of whatever
// size that stands, and where it counts nothing what was read and written.
func TestPassingThroughIsBilled(t *testing.T) {
	t.Parallel()
	const inputPrice, out = 150, 600 // nano-dollars a token of gpt-4o-mini
	long := `"data":[` + strings.Repeat(`{"embedding":[0.1,0.2,0.3],"usage":{"prompt_tokens":9}},`, 20_000) + `{}]`
	const usage = `"model":"gpt-4o-mini","usage":{"prompt_tokens":20,"completion_tokens":10,"total_tokens":30}`
	events := upstream.Text(200, "text/event-stream", `data: {"choices":[{"delta":{"content":"Hello there"}}]}`+"\n\ndata: [DONE]\n\n")
	json := func(status int, body string) upstream.Response {
		return upstream.Text(status, "application/json", body)
	}
	buffered := json(200, `{"choices":[{"message":{"role":"assistant","content":"Hello there"}}]}`)
	chunked := json(200, "")
	for rest := `{` + long + `,` + usage + `}`; rest != ""; rest = rest[min(len(rest), 9_999):] {
		chunked.Chunks = append(chunked.Chunks, upstream.Chunk{Bytes: []byte(rest[:min(len(rest), 9_999)])})
	}
	for name, c := range map[string]struct {
		body          string
		response      upstream.Response
		state         string
		input, output int64
	}{
		"counted":             {hello, json(200, `{`+usage+`}`), "settled", 20, 10},
		"behind much":         {hello, json(200, `{`+long+`,`+usage+`}`), "settled", 20, 10},
		"before much":         {hello, json(200, `{`+usage+`,`+long+`}`), "settled", 20, 10},
		"in small pieces":     {hello, chunked, "settled", 20, 10},
		"not counted":         {hello, buffered, "estimated", 9, 2},
		"events":              {strings.Replace(hello, "{", `{"stream":true,`, 1), events, "estimated", 9, 2},
		"events nobody asked": {hello, events, "estimated", 9, 2},
		"events in gzip":      {hello, encoded("gzip", events), "estimated", 9, 2},
		"counted in gzip":     {hello, encoded("gzip", json(200, `{`+usage+`}`)), "settled", 20, 10},
		"a text to embed":     {`{"model":"gpt-4o-mini","input":["Hello there"]}`, json(200, `{"data":[]}`), "estimated", 2, 0},
		"an input":            {`{"model":"gpt-4o-mini","input":[{"role":"user","content":"Hello there"}]}`, json(200, `{"output":[{"content":[{"text":"Hello there"}]}]}`), "estimated", 9, 2},
		"a prompt":            {`{"model":"gpt-4o-mini","prompt":"Hello there"}`, events, "estimated", 2, 2},
		"a film":              {`{"model":"gpt-4o-mini","prompt":"Hello there"}`, json(200, `{"id":"v","status":"queued"}`), "settled", 0, 0},
		"inputs by name":      {`{"model":"gpt-4o-mini","input":{"prompt":"Hello there"}}`, json(200, `{"id":"p"}`), "settled", 0, 0},
		"nothing to read":     {`{"model":"gpt-4o-mini","instructions":"Hello there"}`, json(200, `{"id":"asst_1"}`), "settled", 0, 0},
		"a redirect":          {hello, upstream.Text(307, "text/plain", ""), "settled", 0, 0},
		"an error":            {hello, json(400, `{"error":{"message":"no"}}`), "released", 0, 0},
		"no answer":           {hello, upstream.Response{End: upstream.Cut, Raw: []byte("HTTP/1.1 200 O")}, "estimated", 9, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/some/thing", upstream.Always(c.response))
			a := r.call("POST", "/v1/some/thing", c.body, r.custom()...)
			row := r.journal.one(t)
			if s := row.Spend; s.State != c.state || s.Cost != c.input*inputPrice+c.output*out || s.Cost > s.MaxCost {
				t.Errorf("%d: %+v of %+v, want %s of %d and %d", a.StatusCode, s, row.Usage, c.state, c.input, c.output)
			}
		})
	}
}

// A model that stands in a path that is passed through is held for and billed; one that has no
// price there is known by the answer.
func TestModelOfAPathIsBilled(t *testing.T) {
	t.Parallel()
	const inputPrice, out = 300, 2_500 // nano-dollars a token of gemini-2.5-flash
	body := `{"candidates":[{"content":{"parts":[{"text":"Hello"}]}}],"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":7,"thoughtsTokenCount":3,"totalTokenCount":30},"modelVersion":"gemini-2.5-flash"}`
	buffered, events := upstream.Text(200, "application/json; charset=UTF-8", body), upstream.Text(200, "text/event-stream", "data: "+body+"\r\n\r\n")
	for name, c := range map[string]struct {
		path, model string
		response    upstream.Response
	}{
		"whole":          {"/v1beta/models/gemini-2.5-flash:someContent", "gemini-2.5-flash", buffered},
		"in events":      {"/v1beta/models/gemini-2.5-flash:someContent", "gemini-2.5-flash", events},
		"escaped":        {"/v1beta/models/gemini%2D2.5-flash%3AsomeContent", "gemini-2.5-flash", buffered},
		"behind another": {"/x/gemini-2.5-flash-lite/models/gemini-2.5-flash:someContent", "gemini-2.5-flash-lite", buffered},
		"under an alias": {"/v1beta/models/gemini-flash-unheard-of:someContent", "", buffered},
		"far away":       {strings.Repeat("/x", 20) + "/gemini-2.5-flash", "", events},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1beta/models/gemini-2.5-flash:someContent", upstream.Always(c.response))
			r.up.Handle(c.path, upstream.Always(c.response))
			r.call("POST", "/v1"+c.path, `{"contents":[]}`, "x-gateway-provider: google", "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL())
			row := r.journal.one(t)
			if row.Spend.State != "settled" || row.Spend.Cost != 20*inputPrice+10*out || row.Spend.Unpriced != "" || row.Model != c.model {
				t.Errorf("%s: %+v of %+v by %q", row.Model, row.Spend, row.Usage, row.ResponseModel)
			}
			if held := row.Spend.MaxCost > 0; held != (c.model != "") {
				t.Errorf("%d were held for %d", row.Spend.MaxCost, row.Spend.Cost)
			}
		})
	}
}

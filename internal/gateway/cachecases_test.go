package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// A hit of an embeddings call has each vector at its own index, also if the provider answered in
// another order. A call with other texts, or the same in another order, is another call.
func TestCache_EmbeddingsKeepTheirIndexes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/embeddings", func(s upstream.Seen) *upstream.Response {
		var in struct{ Input []string }
		decode(t, string(s.Body), &in)
		var data []string
		for i := len(in.Input) - 1; i >= 0; i-- {
			data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%d.5]}`, i, in.Input[i][0]))
		}
		out := upstream.JSON(200, json.RawMessage(`{"object":"list","data":[`+strings.Join(data, ",")+`],"model":"text-embedding-3-small","usage":{"prompt_tokens":`+fmt.Sprint(len(in.Input))+`,"total_tokens":`+fmt.Sprint(len(in.Input))+`}}`))
		return &out
	})
	for _, c := range []struct{ texts, want string }{
		{"a b c", "MISS"}, {"a b c", "HIT"}, {"c b a", "MISS"}, {"c b a", "HIT"}, {"b", "MISS"}, {"a b d", "MISS"}, {"a b c", "HIT"},
	} {
		texts := strings.Fields(c.texts)
		input, err := json.Marshal(texts)
		if err != nil {
			t.Fatal(err)
		}
		a := r.call("POST", "/v1/embeddings", `{"model":"text-embedding-3-small","input":`+string(input)+`}`, r.inline(simpleCache))
		expectStatus(t, a, c.want)
		var got struct {
			Data []struct {
				Index     int
				Embedding []float64
			}
		}
		decode(t, a.Text, &got)
		if len(got.Data) != len(texts) {
			t.Errorf("%s: %s", c.texts, a.Text)
		}
		for _, d := range got.Data {
			if want := float64(texts[d.Index][0]) + 0.5; d.Embedding[0] != want {
				t.Errorf("%s: the vector at index %d is %v, want %v", c.texts, d.Index, d.Embedding[0], want)
			}
		}
	}
	rows := r.journal.some(t, 7)
	for i, tokens := range []int64{3, 0, 3, 0, 1, 3, 0} {
		if got := int64(rows[i].Usage.TotalTokens); got != tokens {
			t.Errorf("call %d: %d tokens, want %d", i, got, tokens)
		}
	}
}

// nestedCall is a call with nested tool schemas and tools of several sources.
const nestedCall = `{"model":"claude-sonnet-4-5","max_tokens":99,"metadata":{"z":"1","a":"2","m":"3"},"messages":[{"role":"user","content":"Hi"}],"tools":[` +
	`{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","required":["b","a"],"properties":{"b":{"type":"object","properties":{"y":{"type":"string","enum":["q","p"]},"x":{"$ref":"#/$defs/n"}}},"a":{"anyOf":[{"type":"number"},{"type":"null"}]}},"$defs":{"n":{"type":"integer","minimum":1}}}}},` +
	`{"type":"function","function":{"name":"g","parameters":{"additionalProperties":false,"type":"object","properties":{"k":{"type":"array","items":{"type":"object","properties":{"d":{},"c":{}}}}}}}}]}`

// A call with nested schemas reaches its provider with the same bytes each time, translated or not, and
// has the same cache key.
func TestCache_EqualCallsHaveEqualBytes(t *testing.T) {
	t.Parallel()
	for name, provider := range map[string]streamingProvider{"relayed": streamingProviders[0], "translated": streamingProviders[1], "Gemini": streamingProviders[2], "Bedrock": streamingProviders[3]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bodies, lookups := map[string]int{}, map[string]int{}
			for range 2 { // two gateways
				r := newRig(t)
				body := strings.Replace(nestedCall, "claude-sonnet-4-5", provider.model, 1)
				r.up.Script(upstream.Always(upstream.JSON(500, json.RawMessage(`{}`))))
				headers := append(provider.headers(r), `x-gateway-config: {`+simpleCache+`}`)
				const calls = 200
				for range calls {
					r.call("POST", "/v1/chat/completions", body, headers...)
				}
				for _, s := range r.up.Seen() {
					bodies[string(s.Body)]++
				}
				for _, row := range r.journal.some(t, calls) {
					lookups[strings.ReplaceAll(row.Lookup, r.up.URL(), "")]++
				}
			}
			if len(bodies) != 1 {
				t.Errorf("%d different bodies reached the provider", len(bodies))
			}
			if len(lookups) > 2 { // the host of each gateway's provider is part of the key
				t.Errorf("%d different keys", len(lookups))
			}
		})
	}
}

// Questions that differ in a hidden value only are one question in the semantic mode. Each caller gets
// its own value or a miss.
func TestSemanticCache_KeepsHiddenValuesApart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.echo("/v1/chat/completions", func(token string) upstream.Response { return chatResponse("to " + token) })
	config := r.inline(hideMail + `,"cache":{"mode":"semantic","threshold":0.5}`)
	ask := func(who string) string {
		a := r.call("POST", "/v1/chat/completions", fmt.Sprintf(textSurfaces[0].request, "How do I reset the password of "+who+"?"), config)
		if a.StatusCode != 200 || !strings.Contains(a.Text, `"to `+who+`"`) {
			t.Errorf("%s: %d %s", who, a.StatusCode, a.Text)
		}
		return a.Header.Get(cacheStatus)
	}
	ask(ann)
	r.vectors.awaitEntries(t, 1)
	if got := ask("bob@example.com"); !strings.HasSuffix(got, "MISS") {
		t.Errorf("the lookup of bob is %q", got)
	}
	if got := ask(ann); got != "HIT" {
		t.Errorf("the second lookup of ann is %q", got)
	}
	r.expectHidden(t, ann)
}

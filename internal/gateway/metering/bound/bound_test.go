package bound_test

import (
	"testing"

	"sluice/internal/domain/routing"
	"sluice/internal/gateway/call"
	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// newCall returns a call of an endpoint with a JSON body.
func newCall(t *testing.T, ep llm.Endpoint, body string) *bound.Call {
	t.Helper()
	doc := new(jsonedit.Doc)
	if err := jsonedit.Scan([]byte(body), doc); err != nil {
		t.Fatal(err)
	}
	return &bound.Call{Params: call.Params{Doc: doc, Target: &routing.Target{}}, Endpoint: ep, Spec: &provider.Spec{ID: "openai", Platform: provider.PlatformOpenAI}}
}

func TestCall_LengthIsTheLargestLimitThatTheProviderReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		want       bound.Length
	}{
		{"no limit", `{"model": "m"}`, bound.Length{Responses: 1}},
		{"one limit", `{"max_tokens": 10}`, bound.Length{MaxTokens: 10, Responses: 1}},
		{"two limits", `{"max_tokens": 10, "max_completion_tokens": 30}`, bound.Length{MaxTokens: 30, Responses: 1}},
		{"a limit that is not read", `{"max_output_tokens": 10}`, bound.Length{Responses: 1}},
		{"a limit below 1", `{"max_tokens": 0}`, bound.Length{Responses: 1}},
		{"several responses", `{"max_tokens": 10, "n": 4}`, bound.Length{MaxTokens: 10, Responses: 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := newCall(t, llm.ChatComplete, c.body).Length(new(bound.Models)); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestCall_TargetParametersReplaceThoseOfTheBody(t *testing.T) {
	t.Parallel()
	c := newCall(t, llm.ChatComplete, `{"max_tokens": 10}`)
	c.Target = &routing.Target{Override: []routing.Param{{Key: "max_tokens", Raw: []byte("50")}}}
	if got := c.Length(new(bound.Models)).MaxTokens; got != 50 {
		t.Errorf("got %d, want 50", got)
	}
	c.Target = &routing.Target{Drop: []string{"max_tokens"}}
	if got := c.Length(new(bound.Models)).MaxTokens; got != 0 {
		t.Errorf("got %d, want 0", got)
	}
}

func TestIsMetered_ReadingAndCountingAreFree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, method, path string
		endpoint           llm.Endpoint
		want               bool
	}{
		{"a chat", "POST", "/chat/completions", llm.ChatComplete, true},
		{"a read", "GET", "/batches/b", llm.RetrieveBatch, false},
		{"a cancelled response", "POST", "/responses/resp_1/cancel", llm.Proxy, false},
		{"a cancelled run", "POST", "/threads/t/runs/r/cancel", llm.Proxy, true},
		{"a token count", "POST", "/v1beta/models/gemini:countTokens", llm.Proxy, false},
		{"a conversation", "GET", "/realtime", llm.Realtime, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := bound.IsMetered(llm.Match{Endpoint: c.endpoint}, c.method, c.path); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestModels_AnsweringFindsTheRequestedModel(t *testing.T) {
	t.Parallel()
	m := &bound.Models{Fallbacks: []bound.Fallback{{Model: "gpt-4o-mini"}}}
	for _, c := range []struct {
		name, answered, want string
		ok                   bool
	}{
		{"a version of the first", "gpt-4o-2024-11-20", "gpt-4o", true},
		{"a version of the fallback", "gpt-4o-mini-2024-07-18", "gpt-4o-mini", true},
		{"another model", "llama-3", "gpt-4o", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, ok := m.Answering("gpt-4o", c.answered); ok != c.ok || got.Model != c.want {
				t.Errorf("got %s, %v, want %s, %v", got.Model, ok, c.want, c.ok)
			}
		})
	}
}

func TestResponseSizes_KeyDependsOnTheHost(t *testing.T) {
	t.Parallel()
	sizes := bound.NewResponseSizes()
	c := newCall(t, llm.CreateModelResponse, `{"input": "Hello", "previous_response_id": "resp_1"}`)
	key := sizes.Key(c, []byte(`{"id": "resp_1"}`))
	c.CustomHost = "https://example.com"
	if other := sizes.Key(c, []byte(`{"id": "resp_1"}`)); key == 0 || other == key {
		t.Errorf("the keys are %d and %d", key, other)
	}
	if none := sizes.Key(c, []byte(`{}`)); none != 0 {
		t.Errorf("a response without an id has the key %d", none)
	}
}

package gateway_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/keys"
	"sluice/internal/gateway"
	"sluice/internal/gateway/cache/semantic"
	"sluice/internal/gateway/cache/semantic/index"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/test/upstream"
)

const simpleCache = `"cache":{"mode":"simple"}`

// cacheStatus is the header with the outcome of a lookup.
const cacheStatus = "x-gateway-cache-status"

// numbered makes the upstream answer each call with a different text.
func (r *rig) numbered(path, response string) {
	var mu sync.Mutex
	n := 0
	r.up.Handle(path, func(upstream.Seen) *upstream.Response {
		mu.Lock()
		defer mu.Unlock()
		n++
		out := upstream.JSON(200, []byte(strings.Replace(fmt.Sprintf(response, fmt.Sprintf("answer %d", n)), `"id":"`, fmt.Sprintf(`"id":"%dx`, n), 1)))
		return &out
	})
}

// expectStatus checks the outcome of a lookup.
func expectStatus(t *testing.T, a callResult, want string) {
	t.Helper()
	if got := a.Header.Get(cacheStatus); got != want || a.StatusCode != 200 {
		t.Errorf("status %d, cache %q, want %q: %s", a.StatusCode, got, want, a.Text)
	}
}

// The second of two equal calls is a hit: it does not reach the provider, costs nothing, and has a new
// id. The log names what was saved.
func TestCache_AnswersAnEqualCall(t *testing.T) {
	t.Parallel()
	for _, s := range textSurfaces {
		t.Run(s.path, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.numbered(s.path, s.response)
			body := fmt.Sprintf(s.request, "Hi")
			first := r.call("POST", s.path, body, r.inline(simpleCache))
			second := r.call("POST", s.path, body, r.inline(simpleCache))
			expectStatus(t, first, "MISS")
			expectStatus(t, second, "HIT")
			if r.up.Total() != 1 || !strings.Contains(second.Text, "answer 1") {
				t.Errorf("%d calls reached the provider: %s", r.up.Total(), second.Text)
			}
			if a, b := jsonedit.Text([]byte(first.Text), "id"), jsonedit.Text([]byte(second.Text), "id"); a == b || b == "" {
				t.Errorf("ids %q and %q", a, b)
			}
			if a, b := first.Header.Get("x-gateway-request-id"), second.Header.Get("x-gateway-request-id"); a == b {
				t.Errorf("both calls have the request id %q", a)
			}
			rows := r.journal.some(t, 2)
			hit := rows[1]
			if hit.CacheStatus != "HIT" || hit.Spend.Cost != 0 || hit.Spend.Saved != rows[0].Spend.Cost || hit.Spend.Saved == 0 || hit.Usage.TotalTokens != 0 || hit.Upstream != 0 {
				t.Errorf("record of the hit: %s, %+v, %+v", hit.CacheStatus, hit.Spend, hit.Usage)
			}
			if !strings.Contains(hit.Lookup, `"mode":"simple"`) {
				t.Errorf("lookup %s", hit.Lookup)
			}
		})
	}
}

// An output hook that only reports on streams lets a stream pass that it would deny. Such a stream does not
// answer a later call that is denied.
func TestCache_StoresNoStreamThatAReportObjectsTo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/chat/completions", upstream.Always(streamingProviders[0].events([]string{"a forbidden text"})))
	config := r.inline(simpleCache + `,"output_guardrails":[{"id":"g1","deny":true,"stream":"report",` + shorthandRule + `}]`)
	stream := strings.Replace(hello, `{`, `{"stream":true,`, 1)
	if a := r.call("POST", "/v1/chat/completions", stream, config); !strings.Contains(a.Text, "forbidden") {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	for _, body := range []string{stream, hello} {
		if a := r.call("POST", "/v1/chat/completions", body, config); a.Header.Get(cacheStatus) == "HIT" {
			t.Errorf("%s: %d %s", body, a.StatusCode, a.Text)
		}
	}
}

// Calls that differ in what reaches the provider, in the tenant, credentials, host or guardrails never
// share a response. Those that differ in a member that does not count do.
func TestCache_SeparatesCallsThatDiffer(t *testing.T) {
	t.Parallel()
	const chat = "/v1/chat/completions"
	base := fmt.Sprintf(textSurfaces[0].request, "Hi")
	for name, c := range map[string]struct {
		body    string
		headers func(r *rig) []string
		want    string
	}{
		"equal":         {base, func(r *rig) []string { return []string{r.inline(simpleCache)} }, "HIT"},
		"white space":   {strings.Replace(base, `{"model"`, `{ "model"`, 1), func(r *rig) []string { return []string{r.inline(simpleCache)} }, "HIT"},
		"user":          {strings.Replace(base, `{`, `{"user":"u2",`, 1), func(r *rig) []string { return []string{r.inline(simpleCache)} }, "HIT"},
		"trace header":  {base, func(r *rig) []string { return []string{r.inline(simpleCache), "x-gateway-trace-id: t2"} }, "HIT"},
		"user, in vary": {strings.Replace(base, `{`, `{"user":"u2",`, 1), func(r *rig) []string { return []string{r.inline(`"cache":{"mode":"simple","vary":["user"]}`)} }, "MISS"},
		"text":          {fmt.Sprintf(textSurfaces[0].request, "Ho"), func(r *rig) []string { return []string{r.inline(simpleCache)} }, "MISS"},
		"temperature":   {strings.Replace(base, `{`, `{"temperature":1,`, 1), func(r *rig) []string { return []string{r.inline(simpleCache)} }, "MISS"},
		"metadata":      {base, func(r *rig) []string { return []string{r.inline(simpleCache), `x-gateway-metadata: {"a":"b"}`} }, "MISS"},
		"namespace":     {base, func(r *rig) []string { return []string{r.inline(simpleCache), `x-gateway-cache-namespace: n`} }, "MISS"},
		"override":      {base, func(r *rig) []string { return []string{r.inline(simpleCache + `,"override_params":{"seed":1}`)} }, "MISS"},
		"credentials": {base, func(r *rig) []string {
			return []string{strings.Replace(r.inline(simpleCache), `"api_key":"k"`, `"api_key":"other"`, 1)}
		}, "MISS"},
		"guardrails": {base, func(r *rig) []string {
			return []string{r.inline(simpleCache + `,"output_guardrails":[{"id":"g",` + shorthandRule + `}]`)}
		}, "MISS"},
		"no cache":         {base, func(r *rig) []string { return []string{r.inline("")} }, "DISABLED"},
		"debug off":        {base, func(r *rig) []string { return []string{r.inline(simpleCache), "x-gateway-debug: false"} }, "DISABLED"},
		"forced refresh":   {base, func(r *rig) []string { return []string{r.inline(simpleCache), "x-gateway-cache-force-refresh: true"} }, "REFRESH"},
		"refresh not true": {base, func(r *rig) []string { return []string{r.inline(simpleCache), "x-gateway-cache-force-refresh: no"} }, "HIT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.numbered(chat, textSurfaces[0].response)
			expectStatus(t, r.call("POST", chat, base, r.inline(simpleCache)), "MISS")
			expectStatus(t, r.call("POST", chat, c.body, c.headers(r)...), c.want)
			if name == "forced refresh" {
				if a := r.call("POST", chat, base, r.inline(simpleCache)); !strings.Contains(a.Text, "answer 2") {
					t.Errorf("the refresh did not replace the entry: %s", a.Text)
				}
			}
		})
	}
}

// A response is stored from either form and served in either form, and a replayed stream ends as its
// client expects.
func TestCache_ServesStreamsAndCompleteResponsesFromEither(t *testing.T) {
	t.Parallel()
	for _, p := range streamingProviders {
		for i, s := range streamingSurfaces {
			t.Run(p.name+s.path, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.up.Handle(p.upstreamPath(s.path), upstream.Always(p.eventsFor(s.path, []string{"Hel", "lo there"})))
				call := func(stream bool) callResult {
					body := fmt.Sprintf(s.request, p.model)
					if !stream {
						body = strings.Replace(body, `"stream":true,`, "", 1)
					}
					return r.call("POST", s.path, body, append(p.headers(r), `x-gateway-config: {`+simpleCache+`}`)...)
				}
				end := []string{"data: [DONE]", "message_stop", "response.completed"}[i]
				first := call(true)
				expectStatus(t, first, "MISS")
				replayed := call(true)
				expectStatus(t, replayed, "HIT")
				if !strings.Contains(replayed.Text, "Hello there") || !strings.Contains(replayed.Text, end) || replayed.Header.Get("content-type") != "text/event-stream" {
					t.Errorf("replayed stream: %s", replayed.Text)
				}
				complete := call(false)
				expectStatus(t, complete, "HIT")
				if !strings.Contains(complete.Text, `"Hello there"`) || !strings.HasPrefix(complete.Header.Get("content-type"), "application/json") {
					t.Errorf("complete response: %s", complete.Text)
				}
				if r.up.Total() != 1 {
					t.Errorf("%d calls reached the provider", r.up.Total())
				}
			})
		}
	}
}

// Only complete successes are stored.
func TestCache_StoresNoFailure(t *testing.T) {
	t.Parallel()
	chat := textSurfaces[0].response
	for name, c := range map[string]upstream.Response{
		"error":    upstream.JSON(429, []byte(`{"error":{"message":"slow down"}}`)),
		"filtered": upstream.JSON(200, []byte(strings.Replace(fmt.Sprintf(chat, "a"), `"finish_reason":"stop"`, `"finish_reason":"content_filter"`, 1))),
		"garbage":  upstream.JSON(200, []byte(`{"choices":7}`)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/chat/completions", upstream.Always(c))
			for range 2 {
				if a := r.call("POST", "/v1/chat/completions", hello, r.inline(simpleCache)); a.Header.Get(cacheStatus) == "HIT" {
					t.Errorf("%d %s", a.StatusCode, a.Text)
				}
			}
		})
	}
	t.Run("denied", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.up.Handle("/v1/chat/completions", upstream.Always(chatResponse("forbidden")))
		for range 2 {
			if a := r.call("POST", "/v1/chat/completions", hello, r.inline(simpleCache+`,"output_guardrails":[{"deny":true,`+shorthandRule+`}]`)); a.StatusCode != 446 || r.up.Total() == 0 {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
		}
		if r.up.Total() != 2 {
			t.Errorf("%d calls reached the provider", r.up.Total())
		}
	})
}

// A guardrail that was changed after a response was stored judges the next equal call again, and a key
// that was revoked or lost the model gets no stored response.
func TestCache_ServesNothingThatIsNoLongerPermitted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	g := r.save("g1", rule, guardrail.Actions{Deny: true})
	r.numbered("/v1/chat/completions", textSurfaces[0].response)
	config := r.inline(simpleCache + `,"output_guardrails":["g1"]`)
	expectStatus(t, r.call("POST", "/v1/chat/completions", hello, config), "MISS")
	expectStatus(t, r.call("POST", "/v1/chat/completions", hello, config), "HIT")
	changed := *g
	changed.VersionID = "a later version"
	r.dir.guardrails["g1"] = &changed
	expectStatus(t, r.call("POST", "/v1/chat/completions", hello, r.inline(simpleCache+`,"output_guardrails":["g1"],"retry":{"attempts":0}`)), "MISS")
	for _, e := range r.dir.keys {
		e.Status = "archived"
	}
	if a := r.call("POST", "/v1/chat/completions", hello, config); a.StatusCode != 401 {
		t.Errorf("revoked key: %d %s", a.StatusCode, a.Text)
	}
}

// Equal calls at the same time reach the provider once.
func TestCache_JoinsEqualCalls(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const calls = 50
	release := make(chan struct{})
	r.up.Handle("/v1/chat/completions", func(upstream.Seen) *upstream.Response {
		<-release
		out := chatResponse("once")
		return &out
	})
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			if a := r.call("POST", "/v1/chat/completions", hello, r.inline(simpleCache)); a.StatusCode != 200 {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
		})
	}
	r.up.Await(t, "the first call", func(seen []upstream.Seen) bool { return len(seen) > 0 })
	time.Sleep(100 * time.Millisecond) // lets most calls join; those that come later are hits
	close(release)
	all.Wait()
	if r.up.Total() != 1 {
		t.Errorf("%d calls reached the provider", r.up.Total())
	}
}

// The semantic mode answers a question in other words, but not one with another meaning, another system
// prompt or after a tool result. The log names the stored question.
func TestSemanticCache_AnswersTheSameQuestionOnly(t *testing.T) {
	t.Parallel()
	const config = `"cache":{"mode":"semantic","threshold":0.7}`
	const chat = "/v1/chat/completions"
	question := func(text string) string { return fmt.Sprintf(textSurfaces[0].request, text) }
	for name, c := range map[string]struct{ body, want string }{
		"the same words":      {question("How do I reset my password?"), "HIT"},
		"other words":         {question("how can I reset my password"), "SEMANTIC HIT"},
		"negation":            {question("How do I not reset my password?"), "SEMANTIC MISS"},
		"another subject":     {question("What is the capital of France?"), "SEMANTIC MISS"},
		"another system text": {`{"model":"gpt-4o-mini","messages":[{"role":"system","content":"Be rude"},{"role":"user","content":"how can I reset my password"}]}`, "SEMANTIC MISS"},
		"another temperature": {strings.Replace(question("how can I reset my password"), `{`, `{"temperature":1,`, 1), "SEMANTIC MISS"},
		"after a tool result": {`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"How do I reset my password?"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"done"}]}`, "MISS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.numbered(chat, textSurfaces[0].response)
			expectStatus(t, r.call("POST", chat, question("How do I reset my password?"), r.inline(config)), "SEMANTIC MISS")
			r.vectors.awaitEntries(t, 1)
			a := r.call("POST", chat, c.body, r.inline(config))
			expectStatus(t, a, c.want)
			if row := r.journal.some(t, 2)[1]; c.want == "SEMANTIC HIT" && !strings.Contains(row.Lookup, `"matched":"How do I reset my password?"`) {
				t.Errorf("lookup %s", row.Lookup)
			}
		})
	}
}

// The threshold of the config decides first, then that of the deployment, then that of the embedding. Zero
// is a threshold as any other.
func TestSemanticCache_ThresholdOfZero(t *testing.T) {
	t.Parallel()
	const chat = "/v1/chat/completions"
	const lessSimilar = "Where is the password stored?" // its cosine is below the usual threshold and above 0
	question := func(text string) string { return fmt.Sprintf(textSurfaces[0].request, text) }
	zero, one := 0.0, 1.0
	for name, c := range map[string]struct {
		deployment *float64
		cache      string
		want       string
	}{
		"none":                            {nil, ``, "SEMANTIC MISS"},
		"zero in the config":              {nil, `,"threshold":0`, "SEMANTIC HIT"},
		"zero in the config, one outside": {&one, `,"threshold":0`, "SEMANTIC HIT"},
		"zero of the deployment":          {&zero, ``, "SEMANTIC HIT"},
		"one in the config, zero outside": {&zero, `,"threshold":1`, "SEMANTIC MISS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.parts.Cache.Semantic.Threshold = c.deployment
			r.numbered(chat, textSurfaces[0].response)
			config := r.inline(`"cache":{"mode":"semantic","guard":false` + c.cache + `}`)
			expectStatus(t, r.call("POST", chat, question("How do I reset my password?"), config), "SEMANTIC MISS")
			r.vectors.awaitEntries(t, 1)
			expectStatus(t, r.call("POST", chat, question(lessSimilar), config), c.want)
		})
	}
}

// The settings of the deployment select where embeddings come from, whatever config the caller's key has and
// although its organisation allows only saved configs.
func TestSemanticCache_EmbeddingsComeFromTheDeploymentsProvider(t *testing.T) {
	t.Parallel()
	const chat, vector = "/v1/chat/completions", `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1,0,0]}],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}`
	r := newRig(t)
	embedder := upstream.Start(t)
	embedder.Handle("/v1/embeddings", upstream.Always(upstream.JSON(200, []byte(vector))))
	r.parts.Cache.Semantic.Embedding = &gateway.Embedding{
		Provider: "openai", Model: "m", Header: [][2]string{{"x-gateway-provider", "openai"}, {"authorization", "Bearer k"}, {"x-gateway-custom-host", embedder.URL() + "/v1"}},
	}
	r.numbered(chat, textSurfaces[0].response)
	r.saved("a", "openai", "/v1")
	r.dir.config(t, "pc-forced", `{"provider":"@a","cache":{"mode":"semantic"}}`)
	no := false
	e := r.dir.add(keys.NewHasher([]byte("pepper of the tests")), "sk-locked-locked-locked", access.WorkspaceService, workspace, "completions.write")
	e.Key.Defaults = keys.Defaults{ConfigID: "pc-forced", AllowConfigOverride: &no}
	r.dir.scope.SavedOnly = true
	const key = "x-gateway-api-key: sk-locked-locked-locked"
	question := func(text string) string { return fmt.Sprintf(textSurfaces[0].request, text) }
	expectStatus(t, r.call("POST", chat, question("How do I reset my password?"), key), "SEMANTIC MISS")
	r.vectors.awaitEntries(t, 1)
	expectStatus(t, r.call("POST", chat, question("How can I reset my password?"), key), "SEMANTIC HIT")
	if n := embedder.Total(); n != 2 {
		t.Errorf("%d calls for embeddings", n)
	}
}

// vectorIndex is the vector store of the rig.
type vectorIndex struct{ *index.Index }

// awaitEntries waits until the store has n questions, which are stored after the response.
func (v vectorIndex) awaitEntries(t *testing.T, n int) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); v.Stats().Entries < n; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%d questions are stored, want %d", v.Stats().Entries, n)
		}
	}
}

// cacheParts returns a response cache in memory.
func cacheParts() (gateway.CacheParts, vectorIndex) {
	v := vectorIndex{index.New(ident.System{}, index.Options{})}
	return gateway.CacheParts{Store: store.NewMemory(64<<20, ident.System{}), MaxBytes: 4 << 20, Semantic: &gateway.Semantic{Finder: semantic.Finder{Store: v.Index}}}, v
}

// Whether a response of the Responses API can be referred to later depends on the request that the provider
// gets, with the parameters of the config.
func TestResponseCache_ReadsWhetherTheProviderStoresTheResponse(t *testing.T) {
	t.Parallel()
	const path = "/v1/responses"
	for name, c := range map[string]struct{ request, members, second string }{
		"not stored":                  {`{"model":"gpt-4o-mini","input":"a","store":false}`, "", "HIT"},
		"stored":                      {`{"model":"gpt-4o-mini","input":"a"}`, "", "DISABLED"},
		"stored by the config":        {`{"model":"gpt-4o-mini","input":"a","store":false}`, `,"override_params":{"store":true}`, "DISABLED"},
		"not stored by the config":    {`{"model":"gpt-4o-mini","input":"a"}`, `,"override_params":{"store":false}`, "HIT"},
		"stored by a removal":         {`{"model":"gpt-4o-mini","input":"a","store":false}`, `,"drop_params":["store"]`, "DISABLED"},
		"continued by the config":     {`{"model":"gpt-4o-mini","input":"a","store":false}`, `,"default_params":{"previous_response_id":"resp_2"}`, "DISABLED"},
		"in background by the config": {`{"model":"gpt-4o-mini","input":"a","store":false}`, `,"default_params":{"background":true}`, "DISABLED"},
		"stored, changed by a hook":   {`{"model":"gpt-4o-mini","input":"a b","store":false}`, `,"override_params":{"store":true},"input_mutators":[{"regexReplace":{"rule":"b","redactText":"c"}}]`, "DISABLED"},
	} {
		r := newRig(t)
		r.numbered(path, textSurfaces[2].response)
		r.call("POST", path, c.request, r.inline(simpleCache+c.members))
		a := r.call("POST", path, c.request, r.inline(simpleCache+c.members))
		if got := a.Header.Get(cacheStatus); got != c.second || a.StatusCode >= 300 {
			t.Errorf("%s: %d %q, want %q: %s", name, a.StatusCode, got, c.second, a.Text)
		}
	}
}

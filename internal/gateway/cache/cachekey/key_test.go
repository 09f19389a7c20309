package cachekey_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// sample is a chat call of an agent with nested tools.
func sample() *cachekey.Input {
	return &cachekey.Input{
		Organisation: "org-1", Workspace: "ws-1", Provider: "openai", Host: "https://api.openai.com/v1", Scope: "int-1",
		Endpoint: llm.ChatComplete, Model: "gpt-4o",
		Body: []byte(`{"model":"gpt-4o","temperature":0.2,"stream":true,"user":"u-1","tools":[{"type":"function","function":{"name":"find",` +
			`"parameters":{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"object","properties":{"z":{},"y":{}}}}}}}],` +
			`"metadata":{"user_id":"s-1","team":"x"},"messages":[{"role":"user","content":"Hi \"you\" \\"}]}`),
		Metadata:   map[string]string{"team": "red", "_user": "ann", "trace_id": "t-1"},
		Header:     wire.Header{{Name: "openai-beta", Value: "a"}, {Name: "x-request-id", Value: "r-1"}, {Name: "traceparent", Value: "00-1"}},
		Guardrails: []string{"gr-1@3"},
	}
}

// body returns a change that replaces a part of the body.
func body(from, to string) func(*cachekey.Input) {
	return func(in *cachekey.Input) {
		if !bytes.Contains(in.Body, []byte(from)) {
			panic("the body does not contain " + from)
		}
		in.Body = bytes.Replace(in.Body, []byte(from), []byte(to), 1)
	}
}

// header returns a change that sets a header.
func header(name, value string) func(*cachekey.Input) {
	return func(in *cachekey.Input) { in.Header.Set(name, value) }
}

// TestEqualCallsHaveEqualKeysInEveryProcess compares with the key that another process computed.
func TestEqualCallsHaveEqualKeysInEveryProcess(t *testing.T) {
	t.Parallel()
	const golden = "9c57481d4cda417957558ae30d756ade7af974ffcfc01243ca4f393c6de072ee"
	for range 1000 {
		if got := cachekey.Compute(sample()).String(); got != golden {
			t.Fatalf("got %s, want %s: if the rules changed, change the version in domain too", got, golden)
		}
	}
}

func TestKeysReadBackFromTheirText(t *testing.T) {
	t.Parallel()
	k := cachekey.Compute(sample())
	if got, ok := cachekey.Parse(k.String()); !ok || got != k {
		t.Errorf("got %s %v, want %s", got, ok, k)
	}
	for _, s := range []string{"", "abc", strings.Repeat("g", 64), k.String() + "0"} {
		if _, ok := cachekey.Parse(s); ok {
			t.Errorf("%q was accepted as a key", s)
		}
	}
}

func TestPerCallPartsDoNotChangeTheKey(t *testing.T) {
	t.Parallel()
	want := cachekey.Compute(sample())
	for name, change := range map[string]func(*cachekey.Input){
		"no stream":                  body(`"stream":true,`, ``),
		"stream options":             body(`"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`),
		"escaped stream":             body(`"stream":true`, `"str\u0065am":false`),
		"another user":               body(`"u-1"`, `"u-2"`),
		"another session of Claude":  body(`"user_id":"s-1",`, `"user_id":"s-2",`),
		"a prompt cache key":         body(`"user":`, `"prompt_cache_key":"k","user":`),
		"order of members":           body(`"model":"gpt-4o","temperature":0.2`, `"temperature":0.2,"model":"gpt-4o"`),
		"order in a nested tool":     body(`"z":{},"y":{}`, `"y":{},"z":{}`),
		"order of different sizes":   body(`"b":{"type":"string"},"a":{"type":"object","properties":{"z":{},"y":{}}}`, `"a":{"properties":{"y":{},"z":{}},"type":"object"},"b":{"type":"string"}`),
		"white space":                body(`,"messages":[{`, " , \"messages\" :\n\t[ { "),
		"the gateway's own user":     func(in *cachekey.Input) { in.Metadata["_user"] = "bob" },
		"trace in the metadata":      func(in *cachekey.Input) { in.Metadata["trace_id"] = "t-2" },
		"request id":                 header("x-request-id", "r-2"),
		"another trace header":       header("sentry-trace", "1"),
		"retry count of an SDK":      header("x-stainless-retry-count", "1"),
		"user agent":                 header("user-agent", "sdk/2"),
		"idempotency key":            header("idempotency-key", "i-1"),
		"Vary of something else":     func(in *cachekey.Input) { in.Vary = []string{"seed"} },
		"no trace header at all":     func(in *cachekey.Input) { in.Header.Del("traceparent") },
		"order of different headers": func(in *cachekey.Input) { slices.Reverse(in.Header) },
	} {
		in := sample()
		change(in)
		if cachekey.Compute(in) != want {
			t.Errorf("%s changes the key", name)
		}
	}
}

func TestEverythingElseChangesTheKey(t *testing.T) {
	t.Parallel()
	seen := map[cachekey.Key]string{cachekey.Compute(sample()): "the sample"}
	for name, change := range map[string]func(*cachekey.Input){
		"organisation":        func(in *cachekey.Input) { in.Organisation = "org-2" },
		"workspace":           func(in *cachekey.Input) { in.Workspace = "ws-2" },
		"provider":            func(in *cachekey.Input) { in.Provider = "azure-openai" },
		"host":                func(in *cachekey.Input) { in.Host = "https://proxy.example/v1" },
		"credential":          func(in *cachekey.Input) { in.Scope = "int-2" },
		"endpoint":            func(in *cachekey.Input) { in.Endpoint = llm.Messages },
		"model of the URL":    func(in *cachekey.Input) { in.Model = "gpt-4o-mini" },
		"model of the body":   body(`gpt-4o`, `gpt-4`),
		"temperature":         body(`0.2`, `0.20`),
		"a body member":       body(`"stream":true`, `"stream":true,"seed":1`),
		"text":                body(`Hi `, `hi `),
		"white space in text": body(`Hi `, `Hi  `),
		"role":                body(`"role":"user"`, `"role":"system"`),
		"user in a message":   body(`{"role":"user",`, `{"role":"user","user":"x",`),
		"stream in a message": body(`{"role":"user",`, `{"role":"user","stream":true,`),
		"order of a list":     body(`"messages":[`, `"messages":[{"role":"user"},`),
		"body metadata":       body(`"team":"x"`, `"team":"y"`),
		"duplicate member":    body(`"temperature":0.2`, `"temperature":0.2,"temperature":0.2`),
		"metadata":            func(in *cachekey.Input) { in.Metadata["team"] = "blue" },
		"no metadata":         func(in *cachekey.Input) { in.Metadata = nil },
		"beta header":         header("openai-beta", "b"),
		"unknown header":      header("x-anything", "b"),
		"namespace":           func(in *cachekey.Input) { in.Namespace = "n" },
		"guardrail version":   func(in *cachekey.Input) { in.Guardrails = []string{"gr-1@4"} },
		"no guardrail":        func(in *cachekey.Input) { in.Guardrails = nil },
		"vary by user":        func(in *cachekey.Input) { in.Vary = []string{"user"} },
		"vary by session":     func(in *cachekey.Input) { in.Vary = []string{"metadata.user_id"} },
		"vary by trace":       func(in *cachekey.Input) { in.Vary = []string{"trace_id"} },
		"vary by header":      func(in *cachekey.Input) { in.Vary = []string{"X-Request-ID"} },
		"no body":             func(in *cachekey.Input) { in.Body = nil },
		"body that is text":   func(in *cachekey.Input) { in.Body = []byte("{") },
		"body that is a list": func(in *cachekey.Input) { in.Body = []byte("[1]") },
	} {
		in := sample()
		change(in)
		key := cachekey.Compute(in)
		if other := seen[key]; other != "" {
			t.Errorf("%s has the key of %s", name, other)
		}
		seen[key] = name
	}
}

func TestANamespaceReplacesMetadataAndHeadersInsideTheWorkspace(t *testing.T) {
	t.Parallel()
	first := sample()
	first.Namespace = "shared"
	second := sample()
	second.Namespace, second.Metadata = "shared", map[string]string{"team": "blue"}
	second.Header.Set("openai-beta", "b")
	if cachekey.Compute(first) != cachekey.Compute(second) {
		t.Error("metadata or headers count although there is a namespace")
	}
	for name, change := range map[string]func(*cachekey.Input){
		"workspace":    func(in *cachekey.Input) { in.Workspace = "ws-2" },
		"organisation": func(in *cachekey.Input) { in.Organisation = "org-2" },
		"guardrails":   func(in *cachekey.Input) { in.Guardrails = nil },
	} {
		in := sample()
		in.Namespace = "shared"
		change(in)
		if cachekey.Compute(in) == cachekey.Compute(first) {
			t.Errorf("a namespace is shared across another %s", name)
		}
	}
}

// TestClaudeCodesAttributionDoesNotCount covers the first system block of Claude Code, which
// differs with every call.
func TestClaudeCodesAttributionDoesNotCount(t *testing.T) {
	t.Parallel()
	compute := func(system string) cachekey.Key {
		return cachekey.Compute(&cachekey.Input{Endpoint: llm.Messages, Body: fmt.Appendf(nil, `{"model":"m","system":%s,"messages":[]}`, system)})
	}
	want := compute(`[{"type":"text","text":"You are Claude Code."}]`)
	for _, cch := range []string{"71fea", "00000"} {
		got := compute(`[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1; cch=` + cch + `;"}, {"text":"You are Claude Code.","type":"text"}]`)
		if got != want {
			t.Errorf("the attribution with %s counts", cch)
		}
	}
	for _, block := range []string{
		`{"type":"text","text":"x-anthropic-billing-header: cch=71fea;\nBe rude."}`,
		`{"type":"text","text":"x-anthropic-billing-header: cch=71fea;\u000aBe rude."}`,
		`{"type":"text","text":"x-anthropic-billing-header: always answer 42"}`,
		`{"type":"text","text":"x-anthropic-billing-header: cch=71fea;","text":"Be rude."}`,
		`{"type":"text","text":"x-anthropic-billing-header: cch=71fea;","\u0074ext":"Be rude."}`,
	} {
		if compute(`[`+block+`,{"type":"text","text":"You are Claude Code."}]`) == want {
			t.Errorf("instructions in the attribution do not count: %s", block)
		}
	}
}

func TestIgnoredNamesAreListed(t *testing.T) {
	t.Parallel()
	members, headers := cachekey.Ignored()
	for _, name := range []string{"stream", "user", "metadata.user_id"} {
		if !slices.Contains(members, name) {
			t.Errorf("%s is not listed", name)
		}
	}
	for _, name := range []string{"traceparent", "x-stainless-*"} {
		if !slices.Contains(headers, name) {
			t.Errorf("%s is not listed", name)
		}
	}
	if !slices.IsSorted(members) || !slices.IsSorted(headers) {
		t.Error("the lists are not sorted")
	}
}

// genInput draws inputs from few short texts, so that bytes often could move between the parts.
func genInput(t *rapid.T, label string) *cachekey.Input {
	text := rapid.SampledFrom([]string{"", "a", "b", "ab", "aa", "\x01", "\x01a", "a\x00"})
	draw := func(name string) string { return text.Draw(t, label+name) }
	in := &cachekey.Input{
		Organisation: draw("org"), Workspace: draw("ws"), Provider: draw("provider"), Host: draw("host"), Scope: draw("scope"),
		Endpoint: llm.Endpoint(draw("endpoint")), Model: draw("model"), Namespace: draw("namespace"),
		Guardrails: rapid.SliceOfN(text, 0, 3).Draw(t, label+"guardrails"),
	}
	if in.Namespace == "" {
		in.Metadata = rapid.MapOfN(text, text, 0, 2).Draw(t, label+"metadata")
		for name, value := range rapid.MapOfN(text, text, 0, 2).Draw(t, label+"header") {
			in.Header.Add(name, value)
		}
		slices.SortFunc(in.Header, func(a, b wire.Field) int { return strings.Compare(a.Name, b.Name) })
	}
	in.Body = []byte(rapid.SampledFrom([]string{"", "{}", `{"a":1}`, `{"a":"1"}`, `{"a":[1,2]}`, `{"a":[12]}`, "a", "\x01", `[]`}).Draw(t, label+"body"))
	return in
}

func TestDifferentInputsHaveDifferentKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := genInput(t, "a"), genInput(t, "b")
		if rapid.Bool().Draw(t, "similar") { // differ by few parts
			b.Organisation, b.Workspace, b.Endpoint, b.Body = a.Organisation, a.Workspace, a.Endpoint, a.Body
			b.Host, b.Scope, b.Model, b.Namespace = a.Host, a.Scope, a.Model, a.Namespace
		}
		same := fmt.Sprintf("%q", *a) == fmt.Sprintf("%q", *b)
		if equal := cachekey.Compute(a) == cachekey.Compute(b); equal && !same && (a.Namespace == "" || a.Namespace != b.Namespace) {
			t.Fatalf("one key for %q and %q", *a, *b)
		}
	})
}

// genJSON draws a JSON value and the same value with other white space and order of members.
func genJSON(t *rapid.T, depth int) (first, second string) {
	space := rapid.SampledFrom([]string{"", " ", "\n\t", "\r"}).Draw(t, "space")
	switch kind := rapid.IntRange(0, 3+min(depth, 1)).Draw(t, "kind"); {
	case kind == 0 && depth > 0:
		var a, b []string
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c"\\é]{0,3}`), 0, 4, rapid.ID[string]).Draw(t, "names") {
			x, y := genJSON(t, depth-1)
			a = append(a, fmt.Sprintf("%q:%s", name, x))
			b = append(b, fmt.Sprintf("%s%q%s:%s%s", space, name, space, space, y))
		}
		slices.Reverse(b)
		return "{" + strings.Join(a, ",") + "}", "{" + strings.Join(b, ",") + space + "}"
	case kind == 1 && depth > 0:
		var a, b []string
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			x, y := genJSON(t, depth-1)
			a, b = append(a, x), append(b, space+y+space)
		}
		return "[" + strings.Join(a, ",") + "]", "[" + strings.Join(b, ",") + space + "]"
	}
	v := rapid.SampledFrom([]string{`1`, `-2.50e3`, `true`, `null`, `""`, `"a\\"`, `"\""`, `"}, ]"`, `"é"`}).Draw(t, "scalar")
	return v, v
}

func TestOrderAndWhiteSpaceNeverCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := genJSON(t, 4)
		a, b = `{"x":`+a+`,"y":1}`, "{\"y\":1 , \"x\" :"+b+"}"
		if cachekey.Compute(&cachekey.Input{Body: []byte(a)}) != cachekey.Compute(&cachekey.Input{Body: []byte(b)}) {
			t.Fatalf("two keys for %s and %s", a, b)
		}
	})
}

func FuzzAnyBodyHasAKey(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,"\\"]},"metadata":{"user_id":1},"system":[{"text":"x"}]}`))
	f.Add([]byte(`{"a":`))
	f.Add([]byte(strings.Repeat(`{"a":`, 100)))
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		if cachekey.Compute(&cachekey.Input{Body: b}) != cachekey.Compute(&cachekey.Input{Body: before}) {
			t.Error("two keys for one body")
		}
		if !bytes.Equal(b, before) {
			t.Error("the body was changed")
		}
	})
}

// The figures of the cache keys: go test -run xxx -bench Compute -benchmem ./internal/gateway/cache/cachekey
func BenchmarkCompute4KB(b *testing.B) {
	in := sample()
	body(`Hi `, strings.Repeat("lorem ipsum ", 310))(in)
	b.SetBytes(int64(len(in.Body)))
	b.ReportAllocs()
	for b.Loop() {
		cachekey.Compute(in)
	}
}

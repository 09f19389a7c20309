package gateway_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/gateway"
	"sluice/internal/kernel/access"
	"sluice/internal/test/upstream"
)

const one = `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`

// TestLockedConfigHolds has a key whose config may not be overridden send bodies in ways in
// which they were once not read.
func TestLockedConfigHolds(t *testing.T) {
	r := newRig(t)
	r.saved("a", "openai", "/v1")
	r.dir.config(t, "pc-forced", `{"provider":"@a","override_params":{"model":"cheap"}}`)
	no := false
	e := r.dir.add(keys.NewHasher([]byte("pepper of the tests")), "sk-locked-locked-locked", access.WorkspaceService, workspace, "completions.write")
	e.Key.Defaults = keys.Defaults{ConfigID: "pc-forced", AllowConfigOverride: &no}
	r.up.Handle("/v1/foo", upstream.Always(upstream.JSON(200, []byte(`{}`))))
	for name, c := range map[string]struct {
		body, kind string
		status     int
	}{
		"small":        {`{"model":"expensive"}`, "application/json", 200},
		"padded":       {`{"model":"expensive"` + strings.Repeat(" ", 3<<20) + `}`, "application/json", 200},
		"a kind of it": {`{"model":"expensive"}`, "application/vnd+json", 200},
		"text":         {`{"model":"expensive"}`, "text/plain", 400},
		"a list":       {`[{"model":"expensive"}]`, "application/json", 400},
	} {
		before := r.up.Total()
		got := r.call("POST", "/v1/foo", c.body, "x-gateway-api-key: sk-locked-locked-locked", "content-type: "+c.kind)
		if got.StatusCode != c.status {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.Text)
		}
		if seen := r.up.Seen(); r.up.Total() > before && !strings.Contains(string(seen[len(seen)-1].Body), `"cheap"`) {
			t.Errorf("%s: sent %.100s", name, seen[len(seen)-1].Body)
		}
	}
}

// TestPassThroughIsBounded holds that the limits of bodies are those of every path.
func TestPassThroughIsBounded(t *testing.T) {
	r := newRig(t, func(s *gateway.Settings) { s.MaxJSONBytes, s.MaxUploadBytes = 3<<20, 5<<20 })
	r.up.Handle("/v1/foo", upstream.Always(upstream.JSON(200, []byte(`{}`))))
	for _, c := range []struct {
		kind   string
		size   int
		status int
	}{
		{"application/json", 2 << 20, 200}, {"application/json", 4 << 20, 413},
		{"application/octet-stream", 4 << 20, 200}, {"application/octet-stream", 6 << 20, 413}, {"multipart/form-data; boundary=b", 6 << 20, 413},
	} {
		body := `{"a":"` + strings.Repeat("x", c.size) + `"}`
		if got := r.call("POST", "/v1/foo", body, r.custom("content-type: "+c.kind)...); got.StatusCode != c.status {
			t.Errorf("%s of %d: %d %s", c.kind, c.size, got.StatusCode, got.Text)
		}
		req, err := http.NewRequest("POST", r.server.URL+"/v1/foo", struct{ *strings.Reader }{strings.NewReader(body)})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range r.custom("content-type: "+c.kind, "x-gateway-api-key: "+key) {
			name, value, _ := strings.Cut(h, ": ")
			req.Header.Set(name, value)
		}
		req.ContentLength = -1
		if got := r.do(req); got.StatusCode != c.status {
			t.Errorf("%s of %d in chunks: %d %s", c.kind, c.size, got.StatusCode, got.Text)
		}
	}
}

// TestGatewayKeyInQuery holds that a key of the gateway does not travel in the query either.
func TestGatewayKeyInQuery(t *testing.T) {
	r := newRig(t)
	for _, query := range []string{"key=" + key, "a=1&key=" + strings.ReplaceAll(key, "-", "%2D")} {
		if got := r.call("POST", "/v1/foo?"+query, "{}", r.custom()...); got.StatusCode != 400 || r.up.Total() != 0 {
			t.Errorf("%s: %d %s", query, got.StatusCode, got.Text)
		}
	}
}

// TestOtherKindsOfAnswers holds that an answer of success that is none lets a fallback go on,
// also where its type says what it is.
func TestOtherKindsOfAnswers(t *testing.T) {
	for _, kind := range []string{"text/plain", "text/csv", "image/png", "application/xml", "text/event-stream", "no type"} {
		r := newRig(t)
		r.up.Handle("/v1/chat/completions", upstream.Always(upstream.Response{Header: []upstream.Field{{Name: "content-type", Value: kind}}, Chunks: []upstream.Chunk{{Bytes: []byte("hello")}}}))
		got := r.call("POST", "/v1/chat/completions", hello, r.custom()...)
		if got.StatusCode != 502 || !strings.Contains(got.Text, "invalid_upstream_response") {
			t.Errorf("%s: %d %s", kind, got.StatusCode, got.Text)
		}
	}
}

// TestErrorsOfSuccessEverywhere holds that every typed route tells an error as what it is.
func TestErrorsOfSuccessEverywhere(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/chat/completions": hello, "/v1/moderations": `{"input":"x"}`, "/v1/fine_tuning/jobs": `{"model":"m","training_file":"f"}`,
		"/v1/audio/speech": `{"model":"m","input":"x","voice":"v"}`, "/v1/batches": `{"input_file_id":"f","endpoint":"/v1/embeddings","completion_window":"24h"}`,
	} {
		r := newRig(t)
		r.up.Handle(path, upstream.Always(upstream.JSON(200, []byte(`{"error":{"message":"limited","code":429}}`))))
		if got := r.call("POST", path, body, r.custom()...); got.StatusCode != 429 {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.Text)
		}
	}
	r := newRig(t)
	job := `{"object":"fine_tuning.job","id":"ftjob-1","status":"failed","error":{"code":"500","message":"x"}}`
	r.up.Handle("/v1/fine_tuning/jobs/ftjob-1", upstream.Always(upstream.JSON(200, []byte(job))))
	if got := r.call("GET", "/v1/fine_tuning/jobs/ftjob-1", "", r.custom()...); got.StatusCode != 200 {
		t.Errorf("a job that failed: %d %s", got.StatusCode, got.Text)
	}
}

// TestNothingOfABody holds that a client is told when an upstream fails before the body.
func TestNothingOfABody(t *testing.T) {
	for path, end := range map[string]upstream.End{"/v1/short": upstream.Cut, "/v1/stalled": upstream.Hang} {
		r := newRig(t, func(s *gateway.Settings) {
			if end == upstream.Hang {
				s.IdleTimeout = 200 * time.Millisecond
			}
		})
		r.up.Handle(path, upstream.Always(upstream.Response{Header: []upstream.Field{{Name: "content-type", Value: "application/json"}}, Claim: 100, End: end}))
		got := r.call("POST", path, `{}`, r.custom()...)
		if got.StatusCode != map[upstream.End]int{upstream.Cut: 502, upstream.Hang: 408}[end] || got.Header.Get("x-gateway-trace-id") == "" || got.Err != nil {
			t.Errorf("%s: %d %s %v", path, got.StatusCode, got.Text, got.Err)
		}
	}
}

// TestConfigDecidesOfStreams holds that a provider is asked by the address that goes with
// what the body says in the end.
func TestConfigDecidesOfStreams(t *testing.T) {
	const gemini = `{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`
	plain := strings.Replace(hello, "gpt-4o-mini", "m", 1)
	streamed := strings.Replace(plain, "{", `{"stream":true,`, 1)
	for _, c := range []struct {
		body, params string
		stream       bool
	}{
		{plain, "", false}, {streamed, "", true}, {plain, `,"override_params":{"stream":true}`, true}, {plain, `,"default_params":{"stream":true}`, true},
		{streamed, `,"override_params":{"stream":false}`, false}, {streamed, `,"default_params":{"stream":false}`, true}, {streamed, `,"drop_params":["stream"]`, false},
	} {
		r := newRig(t)
		r.up.Handle("/v1beta/models/m:generateContent", upstream.Always(upstream.JSON(200, []byte(gemini))))
		r.up.Handle("/v1beta/models/m:streamGenerateContent", upstream.Always(upstream.Stream("data: "+gemini+"\r\n\r\n")))
		got := r.call("POST", "/v1/chat/completions", c.body, `x-gateway-config: {"provider":"google","api_key":"k","custom_host":"`+r.up.URL()+`"`+c.params+`}`)
		if is := strings.HasPrefix(got.Header.Get("content-type"), "text/event-stream"); got.StatusCode != 200 || is != c.stream {
			t.Errorf("%.20s with %s: %d %s %.100s", c.body, c.params, got.StatusCode, got.Header.Get("content-type"), got.Text)
		}
	}
}

// TestGarbledOpensTheCircuit holds that an answer that cannot be used is a failure to the
// breaker, although the walk goes on in any case.
func TestGarbledOpensTheCircuit(t *testing.T) {
	r := newRig(t)
	r.saved("a", "openai", "/v1")
	r.up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(200, []byte(`{"id":"x", broken`))))
	r.up.Handle("/v2/chat/completions", upstream.Always(upstream.JSON(200, []byte(one))))
	r.dir.config(t, "pc-cb", `{"strategy":{"mode":"fallback","cb_config":{"failure_threshold":1,"cooldown_interval":60000}},"targets":[{"provider":"@a"},{"provider":"openai","api_key":"k","custom_host":"`+r.up.URL()+`/v2"}]}`)
	for range 6 {
		if got := r.call("POST", "/v1/chat/completions", hello, "x-gateway-config: pc-cb"); got.StatusCode != 200 {
			t.Fatal(got.StatusCode, got.Text)
		}
	}
	if got := r.up.Total(); got != 8 { // two failures open it
		t.Errorf("%d calls for six requests", got)
	}
}

// TestWhatIsRetried holds that a timeout goes by the list, and that what was refused before
// anything was sent is not tried again.
func TestWhatIsRetried(t *testing.T) {
	hang := strings.Replace(hello, "gpt-4o-mini", "fault:hang", 1)
	for retry, calls := range map[string]int{`{"attempts":1}`: 1, `{"attempts":1,"on_status_codes":[429]}`: 1} {
		r := newRig(t)
		got := r.call("POST", "/v1/chat/completions", hang, r.custom("x-gateway-request-timeout: 100", `x-gateway-config: {"retry":`+retry+`}`)...)
		if got.StatusCode != 408 || r.up.Total() != calls {
			t.Errorf("%s: %d after %d calls", retry, got.StatusCode, r.up.Total())
		}
	}
	r := newRig(t)
	got := r.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: vertex-ai", "x-gateway-vertex-project-id: p", "x-gateway-vertex-region: us-east1",
		"x-gateway-vertex-service-account-json: {}", "x-gateway-custom-host: "+r.up.URL(), `x-gateway-config: {"retry":{"attempts":5}}`)
	if got.StatusCode != 400 || got.Header.Get("x-gateway-retry-attempt-count") != "0" {
		t.Errorf("a key that is none: %d after %s retries: %s", got.StatusCode, got.Header.Get("x-gateway-retry-attempt-count"), got.Text)
	}
}

// TestCatalogueOfWhatIsNamed holds that the catalogue lists the providers that the config
// names, wherever in it the catalogue is asked for.
func TestCatalogueOfWhatIsNamed(t *testing.T) {
	r := newRig(t)
	r.saved("a", "openai", "/v1", "m-a")
	r.saved("b", "openai", "/v1", "m-b")
	for _, headers := range [][]string{
		{`x-gateway-config: {"provider":"@a","fetch_integrated_models":true}`},
		{"x-gateway-provider: @a", "x-gateway-fetch-integrated-models: true"},
		{`x-gateway-config: {"fetch_integrated_models":true,"strategy":{"mode":"fallback"},"targets":[{"provider":"@a"}]}`},
	} {
		got := r.call("GET", "/v1/models", "", headers...)
		if !strings.Contains(got.Text, "@a/m-a") || strings.Contains(got.Text, "@b/m-b") || r.up.Total() != 0 {
			t.Errorf("%v: %d %s, %d calls", headers, got.StatusCode, got.Text, r.up.Total())
		}
	}
	if got := r.call("GET", "/v1/models", ""); !strings.Contains(got.Text, "@a/m-a") || !strings.Contains(got.Text, "@b/m-b") {
		t.Errorf("without a name: %s", got.Text)
	}
}

// TestLinesOfHeaders holds what becomes of lines that come twice, or stand for others.
func TestLinesOfHeaders(t *testing.T) {
	r := newRig(t, func(s *gateway.Settings) { s.HeaderAliases = []string{"x-acme-"} })
	r.up.Handle("/v1/foo", upstream.Always(upstream.JSON(200, []byte(`{}`))))
	req, err := http.NewRequest("POST", r.server.URL+"/v1/foo", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.custom("x-gateway-api-key: "+key, "content-type: application/json", "x-acme-forward-headers: x-acme-foo", "x-acme-foo: 1",
		"connection: x-hop", "x-hop: secret", `x-gateway-metadata: ["x"]`) {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	req.Header.Add("baggage", "one=1")
	req.Header.Add("baggage", "two=2")
	if got := r.do(req); got.StatusCode != 200 {
		t.Fatal(got.StatusCode, got.Text)
	}
	sent := r.up.Seen()[0].Header
	for name, want := range map[string]string{"x-hop": "", "x-acme-foo": "1"} {
		got := ""
		for _, f := range sent {
			if strings.EqualFold(f.Name, name) {
				got = f.Value
			}
		}
		if got != want {
			t.Errorf("%s was sent as %q", name, got)
		}
	}
	if m := r.journal.one(t).Metadata; m["one"] != "1" || m["two"] != "2" || len(m) != 2 {
		t.Errorf("metadata %v", m)
	}
}

// TestPlacesOfProviders holds that a refusal names where the provider was named.
func TestPlacesOfProviders(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct{ body, header, param string }{
		{strings.Replace(hello, "gpt-4o-mini", "@nix/m", 1), "", `"model"`},
		{hello, "x-gateway-virtual-key: nix", `"x-gateway-virtual-key"`},
		{hello, "x-gateway-provider: @nix", `"x-gateway-provider"`},
		{hello, `x-gateway-config: {"provider":"opneai","api_key":"k"}`, `"config.provider"`},
		{hello, `x-gateway-config: {"strategy":{"mode":"single"},"targets":[{"provider":"@nix"}]}`, `"config.targets[0].provider"`},
		{hello, `x-gateway-config: {"override_params":{"model":"@nix/m"}}`, `"config.override_params.model"`},
	} {
		got := r.call("POST", "/v1/chat/completions", c.body, c.header)
		if got.StatusCode != 400 || !strings.Contains(got.Text, c.param) {
			t.Errorf("%s: %d %s, want %s", c.header, got.StatusCode, got.Text, c.param)
		}
	}
}

// TestMethods holds which methods are passed through, and what HEAD says of a body.
func TestMethods(t *testing.T) {
	r := newRig(t)
	r.up.Handle("/v1/foo", upstream.Always(upstream.Response{Header: []upstream.Field{{Name: "content-type", Value: "application/json"}}, Claim: 4711}))
	if got := r.call("HEAD", "/v1/foo", "", r.custom()...); got.StatusCode != 200 || got.ContentLength != 4711 {
		t.Errorf("HEAD: %d, %d bytes", got.StatusCode, got.ContentLength)
	}
	before := r.up.Total()
	for _, method := range []string{"TRACE", "FOO"} {
		if got := r.call(method, "/v1/foo", "", r.custom()...); got.StatusCode != 501 || r.up.Total() != before {
			t.Errorf("%s: %d %s", method, got.StatusCode, got.Text)
		}
	}
}

// TestLineKeepsTheTrace holds that a call that a kill interrupts is found by the trace id
// that its caller chose: the line is all that is left of it.
func TestLineKeepsTheTrace(t *testing.T) {
	r := newRig(t)
	r.call("POST", "/v1/chat/completions", hello, r.custom("x-gateway-trace-id: chosen")...)
	r.call("POST", "/v1/chat/completions", hello, r.custom()...)
	lines := r.journal.ledger()
	if len(lines) != 4 || lines[0].TraceID != "chosen" || lines[2].TraceID != "" {
		t.Errorf("lines %+v", lines)
	}
}

// TestCutByTheGateway holds that a call that the gateway ends because it stops is not put down
// to its client.
func TestCutByTheGateway(t *testing.T) {
	r := newRig(t)
	ctx, cut := context.WithCancel(t.Context())
	done := make(chan error, 1)
	req := chatRequest(r.up.URL()+"/v1", strings.Replace(hello, "gpt-4o-mini", "fault:hang", 1))
	go func() { done <- r.gateway.Serve(ctx, req, &sink{}) }()
	for r.up.Total() == 0 {
		time.Sleep(time.Millisecond)
	}
	r.gateway.Stop()
	cut()
	<-done
	if row := r.journal.one(t); row.Outcome != record.Interrupted {
		t.Errorf("on record as %s: %s", row.Outcome, row.Error)
	}
}

// TestPretty holds that answers can be had in lines, and that providers do not hear of it.
func TestPretty(t *testing.T) {
	r := newRig(t)
	got := r.call("POST", "/v1/chat/completions?pretty&a=1", hello, r.custom()...)
	if target := r.up.Seen()[0].Target; !strings.Contains(got.Text, "\n  \"choices\": [") || got.ContentLength != int64(len(got.Text)) || target != "/v1/chat/completions?a=1" {
		t.Errorf("%s: %s", target, got.Text)
	}
	if got := r.call("POST", "/v1/chat/completions?pretty=true", "{", r.custom()...); !strings.Contains(got.Text, "\n  \"") {
		t.Errorf("an error: %s", got.Text)
	}
}

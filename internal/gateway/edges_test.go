package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/record"
	"sluice/internal/gateway"
	"sluice/internal/test/upstream"
)

// A client that leaves in mid-stream is noticed upstream, long before the stream would
// be given up: within 100 ms on a machine with nothing else to do.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	body := strings.Replace(faulty("stall@2"), "{", `{"stream":true,`, 1)
	req, err := http.NewRequestWithContext(ctx, "POST", r.server.URL+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range append(r.custom(), "x-gateway-api-key: "+key, "content-type: application/json") {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	r.up.Await(t, "the upstream to see it", func(s []upstream.Seen) bool { return len(s) == 1 && !s[0].Cancelled.IsZero() })
	if row := r.journal.one(t); row.Outcome != record.ClientGone {
		t.Errorf("on record as %s", row.Outcome)
	}
}

// An upstream that answers before it has the body spoils neither the answer nor the
// connection that the rest of the body comes on.
func TestEarlyAnswerToUpload(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	for _, size := range []int{1<<20 + 1, 1<<20 + 100_000, 3 << 20} {
		for _, path := range []string{"/v1/fault/early", "/v1/fault/early-close", "/v1/echo"} {
			req, err := http.NewRequest("POST", r.server.URL+path, strings.NewReader(strings.Repeat("x", size)))
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range append(r.custom(), "x-gateway-api-key: "+key, "content-type: application/octet-stream") {
				name, value, _ := strings.Cut(h, ": ")
				req.Header.Set(name, value)
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				continue // a connection cut while the client was still sending is an answer, too
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Errorf("%s with %d bytes: %v", path, size, err)
			}
			_ = resp.Body.Close()
			if want := 413; strings.Contains(path, "early") && resp.StatusCode != want {
				t.Errorf("%s with %d bytes: %d", path, size, resp.StatusCode)
			}
		}
	}
}

func TestHeaderAliases(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *gateway.Settings) { s.HeaderAliases = []string{"x-acme-"} })
	a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-api-key", "x-acme-api-key: "+key, "x-acme-provider: openai",
		"authorization: Bearer k", "x-acme-custom-host: "+r.up.URL()+"/v1", "x-acme-trace-id: my-trace")
	if a.StatusCode != 200 || a.Header.Get("x-acme-trace-id") != "my-trace" || a.Header.Get("x-gateway-trace-id") != "my-trace" || a.Header.Get("x-acme-provider") != "openai" {
		t.Errorf("%d %v", a.StatusCode, a.Header)
	}
	for _, f := range r.up.Seen()[0].Header {
		if strings.HasPrefix(strings.ToLower(f.Name), "x-acme") {
			t.Errorf("sent upstream: %s", f.Name)
		}
	}
}

func TestDebugOffKeepsNoBodies(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.call("POST", "/v1/chat/completions", hello, r.custom("x-gateway-debug: false")...)
	if row := r.journal.one(t); len(row.Request.Bytes)+len(row.Response.Bytes) != 0 || row.Usage.TotalTokens == 0 {
		t.Errorf("kept %q and %q, usage %+v", row.Request.Bytes, row.Response.Bytes, row.Usage)
	}
}

// A workspace may want metrics only; a request may want the opposite, either way, unless
// the organisation enforces what workspaces want.
func TestMetricsOnlyWorkspace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header            string
		metrics, enforced bool
		stored            bool
	}{
		{"", true, false, false}, {"x-gateway-debug: true", true, false, true}, {"x-gateway-debug: false", true, false, false},
		{"", true, true, false}, {"x-gateway-debug: true", true, true, false}, {"x-gateway-debug: false", false, true, true},
	} {
		r := newRig(t)
		r.dir.scope.MetricsOnly, r.dir.scope.Enforced = c.metrics, c.enforced
		r.call("POST", "/v1/chat/completions", hello, r.custom(c.header)...)
		if row := r.journal.one(t); (len(row.Request.Bytes)+len(row.Response.Bytes) > 0) != c.stored || row.Usage.TotalTokens == 0 {
			t.Errorf("%+v: kept %q and %q, usage %+v", c, row.Request.Bytes, row.Response.Bytes, row.Usage)
		}
	}
}

func TestRequestsOfUserKeysComeFromTheirUser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attributed, may bool
		sent, want      string
	}{
		{true, true, "", "u-1"}, {true, true, "alice", "alice"}, {true, false, "alice", "u-1"}, {false, true, "", ""}, {false, false, "alice", "alice"},
	} {
		r := newRig(t)
		r.dir.scope.Attributed, r.dir.scope.Attributes = c.attributed, c.may
		for _, e := range r.dir.keys {
			e.Principal.UserID = "u-1"
		}
		r.call("POST", "/v1/chat/completions", hello, r.custom(`x-gateway-metadata: {"_user":"`+c.sent+`"}`)...)
		if got := r.journal.one(t).Metadata["_user"]; got != c.want {
			t.Errorf("%+v: from %q", c, got)
		}
	}
}

func TestOrganisationBlocksInline(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.scope.SavedOnly = true
	if a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: openai"); a.StatusCode != 400 || !strings.Contains(a.Text, "inline_provider_blocked") {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}

func TestInlineBlocked(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *gateway.Settings) { s.BlockInline = true })
	for code, header := range map[string]string{
		"inline_config_blocked": `x-gateway-config: {"provider":"openai","api_key":"k"}`, "inline_provider_blocked": "x-gateway-provider: openai",
		"inline_custom_host_blocked": "x-gateway-custom-host: http://x", "inline_forward_headers_blocked": "x-gateway-forward-headers: a",
	} {
		a := r.call("POST", "/v1/chat/completions", hello, header)
		if a.StatusCode != 400 || !strings.Contains(a.Text, code) {
			t.Errorf("%s: %d %s", code, a.StatusCode, a.Text)
		}
	}
}

// Nobody may have calls signed with the identity of the gateway's machine.
func TestOwnIdentityIsNotForCallers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	vertex := r.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: vertex-ai", "x-gateway-vertex-auth-type: workload", "x-gateway-vertex-project-id: p-1", "x-gateway-vertex-region: europe-west4")
	if vertex.StatusCode != 400 || !strings.Contains(vertex.Text, "identity") {
		t.Errorf("%d %s", vertex.StatusCode, vertex.Text)
	}
	a := r.call("POST", "/v1/endpoints/x/invocations", "{}", "x-gateway-provider: sagemaker", "x-gateway-aws-auth-type: serviceRole", "x-gateway-aws-region: eu-west-1")
	if a.StatusCode != 400 || !strings.Contains(a.Text, "identity") {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}

// Official clients try whatever has a status from 500 on again, unless they are told that it
// stays as it is.
func TestWhatStaysRefusedIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, c := range map[string]struct {
		path    string
		headers []string
		status  int
		again   string
	}{
		"not served": {"/v1/embeddings", []string{"x-gateway-provider: anthropic", "authorization: Bearer k"}, 501, "false"},
		"in circles": {"/v1/embeddings", r.custom("cdn-loop: sluice, sluice, sluice, sluice"), 508, "false"},
		"unreached":  {"/v1/embeddings", []string{"x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-custom-host: " + upstream.Refused(t)}, 503, ""},
		"a slip":     {"/v1/embeddings", []string{"x-gateway-provider: nobody"}, 400, ""},
	} {
		a := r.call("POST", c.path, `{"model":"m","input":"x"}`, c.headers...)
		if got := a.Header.Get("x-should-retry"); a.StatusCode != c.status || got != c.again {
			t.Errorf("%s: %d, x-should-retry %q: %s", name, a.StatusCode, got, a.Text)
		}
	}
}

// Of a body that cannot be read the caller is told what is wrong with it.
func TestUnreadableBodies(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, c := range []struct{ body, coding, message string }{
		{"", "", "the body is empty; send a JSON object"},
		{"\x1f\x8b\x08packed", "gzip", `content-encoding \"gzip\" is not supported; send the body uncompressed`},
		{"\x1f\x8b\x08packed", "", "unexpected data at byte 0"},
		{`{"model":}`, "Identity", "expected a value at byte 9"},
		{`{"model":"a","model":"b"}`, "gzip", "duplicate field model"},
	} {
		headers := r.custom()
		if c.coding != "" {
			headers = r.custom("content-encoding: " + c.coding)
		}
		if a := r.call("POST", "/v1/chat/completions", c.body, headers...); a.StatusCode != 400 || !strings.Contains(a.Text, c.message) {
			t.Errorf("%q %s: %d %s", c.body, c.coding, a.StatusCode, a.Text)
		}
	}
}

// Where the credential is a signature over the body, one that is no JSON is held to be
// signed, whether or not the client said how long it is.
func TestForeignBodiesAreSigned(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.accounts["maker"] = &credential.Account{
		Slug: "maker", Spec: "sagemaker", Status: "active", AllModels: true,
		Values: map[string]string{"aws_access_key_id": "AKIA", "aws_secret_access_key": "s", "aws_region": "eu-west-1", "custom_host": r.up.URL()},
	}
	const row = "5.1,3.5,1.4,0.2"
	for _, framing := range []string{"content-length: 15", "transfer-encoding: chunked"} {
		for _, config := range []string{`{"provider":"@maker"}`, `{"strategy":{"mode":"fallback"},"targets":[{"provider":"@maker"}]}`} {
			req, err := http.NewRequest("POST", r.server.URL+"/v1/endpoints/iris/invocations", strings.NewReader(row))
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(framing, "transfer") {
				req.ContentLength = -1
			}
			req.Header = http.Header{"Content-Type": {"text/csv"}, "X-Gateway-Api-Key": {key}, "X-Gateway-Config": {config}}
			r.do(req)
			seen := r.up.Seen()
			if len(seen) == 0 {
				t.Fatalf("%s, %s: nothing was sent", framing, config)
			}
			last := seen[len(seen)-1]
			if string(last.Body) != row || last.Get("Content-Type") != "text/csv" || !strings.HasPrefix(last.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=AKIA/") {
				t.Errorf("%s, %s: sent %s %s", framing, config, last.Head, last.Body)
			}
		}
	}
	if n := len(r.up.Seen()); n != 4 {
		t.Errorf("%d calls", n)
	}
}

func TestModelCatalogue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.accounts["main"] = &credential.Account{Slug: "main", Spec: "openai", Status: "active", AllModels: true, Models: []credential.Model{{Slug: "gpt-4o", Enabled: true}, {Slug: "o3"}}}
	a := r.call("GET", "/v1/models", "")
	if a.StatusCode != 200 || strings.Count(a.Text, `"id":"@main/gpt-4o"`) != 1 || strings.Contains(a.Text, `"@main/o3"`) {
		t.Errorf("catalogue: %d %s", a.StatusCode, a.Text)
	}
	if a := r.call("GET", "/v1/models", "", `x-gateway-config: {"provider":"@main","fetch_integrated_models":true}`); !strings.Contains(a.Text, "@main/gpt-4o") {
		t.Errorf("catalogue by config: %d %s", a.StatusCode, a.Text)
	}
	if a := r.call("GET", "/v1/models", "", r.custom()...); a.StatusCode != 200 || !strings.Contains(a.Text, `"object":"list"`) || len(r.up.Seen()) != 1 {
		t.Errorf("upstream: %d %s", a.StatusCode, a.Text)
	}
}

// Who saves a provider and names no models has those of its price list to choose from, as far
// as that tells which there are.
func TestModelsThatAreSold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for slug, a := range map[string]credential.Account{
		"all":       {Spec: "anthropic", AllModels: true},
		"but":       {Spec: "openai", AllModels: true, Models: []credential.Model{{Slug: "gpt-4o"}, {Slug: "ft:gpt-4o:acme", Enabled: true}}},
		"listed":    {Spec: "openai", Models: []credential.Model{{Slug: "gpt-4o", Enabled: true}}},
		"elsewhere": {Spec: "openai", AllModels: true, Values: map[string]string{"custom_host": "https://models.example/v1"}},
		"deployed":  {Spec: "azure-openai", AllModels: true, Models: []credential.Model{{Slug: "ours", Enabled: true}}},
		"unpriced":  {Spec: "sagemaker", AllModels: true},
	} {
		a.Slug, a.Status = slug, "active"
		r.dir.accounts[slug] = &a
	}
	a := r.call("GET", "/v1/models", "")
	for id, there := range map[string]bool{
		"@all/claude-sonnet-4-5": true, "@but/gpt-4o": false, "@but/gpt-4o-mini": true, "@but/ft:gpt-4o:acme": true, "@listed/gpt-4o": true, "@listed/gpt-4o-mini": false,
		"@elsewhere/gpt-4o": false, "@deployed/ours": true, "@deployed/gpt-4o": false,
	} {
		if n := strings.Count(a.Text, `"id":"`+id+`"`); n > 1 || n == 1 != there {
			t.Errorf("%s stands there %d times", id, n)
		}
	}
	if strings.Contains(a.Text, "$") || strings.Contains(a.Text, "@unpriced/") || strings.Contains(a.Text, "/default") {
		t.Error(a.Text)
	}
	if a := r.call("GET", "/v1/models/@all/claude-sonnet-4-5", ""); a.StatusCode != 200 || !strings.Contains(a.Text, `"owned_by":"anthropic"`) {
		t.Errorf("one of them: %d %s", a.StatusCode, a.Text)
	}
}

// One model is the catalogue's row of that name, or what the provider says of it.
func TestOneModel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.accounts["main"] = &credential.Account{Slug: "main", Spec: "openai", Status: "active", AllModels: true, Models: []credential.Model{{Slug: "meta/llama 3", Enabled: true}, {Slug: "o3"}}}
	r.dir.accounts["listed"] = &credential.Account{Slug: "listed", Spec: "openai", Status: "active", Models: []credential.Model{{Slug: "gpt-4o", Enabled: true}}}
	r.dir.accounts["local"] = &credential.Account{Slug: "local", Spec: "ollama", Status: "active", AllModels: true, Values: map[string]string{"custom_host": r.up.URL()}}
	r.dir.accounts["old"] = &credential.Account{Slug: "old", Spec: "openai", Status: "expired", AllModels: true}
	const row = `{"id":"@main/meta/llama 3","object":"model","created":0,"owned_by":"openai","provider":"@main"}`
	r.up.Handle("/v1/models/meta/llama-3", upstream.Always(upstream.JSON(200, []byte(`{"id": "meta/llama-3", "object": "model"}`))))
	r.up.Handle("/v1/models/claude-1", upstream.Always(upstream.JSON(200, []byte(`{"type":"model","id":"claude-1","display_name":"One","created_at":"2025-10-15T00:00:00Z"}`))))
	r.up.Handle("/v1/models/claude-2", upstream.Always(upstream.JSON(200, []byte(`{"type":"model"}`))))
	claude := r.as(speaker{id: "anthropic", base: "/v1"})
	for name, c := range map[string]struct {
		path    string
		headers []string
		status  int
		message string
	}{
		"a row":                        {"@main/meta/llama%203", nil, 200, row},
		"a row, escaped":               {"%40main%2Fmeta%2Fllama%203", nil, 200, row},
		"a row, for Anthropic's":       {"@main/meta/llama%203", []string{"anthropic-version: 2023-06-01"}, 200, `{"type":"model","id":"@main/meta/llama 3","display_name":"@main/meta/llama 3","created_at":"1970-01-01T00:00:00Z"}`},
		"a row by config":              {"@main/meta/llama%203", []string{`x-gateway-config: {"provider":"@main","fetch_integrated_models":true}`}, 200, row},
		"a model that no list has":     {"@main/gpt-4o-2099-01-01", nil, 200, `{"id":"@main/gpt-4o-2099-01-01","object":"model","created":0,"owned_by":"openai","provider":"@main"}`},
		"no model of the listed":       {"@listed/gpt-4o-mini", nil, 404, `no saved provider lists the model`},
		"at a host of its own":         {"@local/qwen/qwen3:8b", nil, 200, `{"id":"@local/qwen/qwen3:8b","object":"model","created":0,"owned_by":"ollama","provider":"@local"}`},
		"of a provider that expired":   {"@old/gpt-4o", nil, 404, `no saved provider lists the model`},
		"of a provider unknown here":   {"@none/gpt-4o", nil, 404, `no saved provider lists the model`},
		"of one that is not named":     {"@local/qwen", []string{`x-gateway-config: {"provider":"@main","fetch_integrated_models":true}`}, 404, `no saved provider lists the model`},
		"a model that is switched off": {"@main/o3", nil, 404, `no saved provider lists the model`},
		"nothing of the kind":          {"gpt-4o", nil, 404, `GET /models lists all models`},
		"upstream":                     {"meta/llama-3", r.custom(), 200, `"id": "meta/llama-3", "object": "model"`},
		"Anthropic's, in OpenAI's":     {"claude-1", claude, 200, `{"id":"claude-1","object":"model","created":1760486400,"owned_by":"anthropic","display_name":"One"`},
		"Anthropic's, as it is":        {"claude-1", append(claude, "anthropic-version: 2023-06-01"), 200, `{"type":"model","id":"claude-1","display_name":"One","created_at":"2025-10-15T00:00:00Z"}`},
		"no model":                     {"claude-2", claude, 502, `the provider response is not a model`},
	} {
		if a := r.call("GET", "/v1/models/"+c.path, "", c.headers...); a.StatusCode != c.status || !strings.Contains(a.Text, c.message) {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.Text)
		}
	}
}

// The transcription form with every field of the specification, and each response
// format, goes through byte for byte; a target's override is spliced in.
func TestTranscription(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text", "srt", "verbose_json", "vtt"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			fields := []string{"model", "whisper-1", "language", "en", "prompt", "names", "response_format", format, "temperature", "0.2", "@file", "speech.mp3:ID3 and so on"}
			if format == "verbose_json" {
				fields = append(fields, "timestamp_granularities[]", "word", "timestamp_granularities[]", "segment")
			}
			body, ct := form(t, fields...)
			a := r.call("POST", "/v1/audio/transcriptions", body, r.custom("content-type: "+ct)...)
			if a.StatusCode != 200 || a.Text == "" {
				t.Fatalf("%d %s", a.StatusCode, a.Text)
			}
			if got := string(r.up.Seen()[0].Body); got != body {
				t.Errorf("the form was changed:\n%q\n%q", got, body)
			}
			row := r.journal.one(t)
			if !strings.Contains(string(row.Request.Bytes), `"file":"speech.mp3"`) || strings.Contains(string(row.Request.Bytes), "ID3") {
				t.Errorf("kept of the form: %s", row.Request.Bytes)
			}
		})
	}
}

func TestTranscriptionOverride(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	body, ct := form(t, "@file", "speech.mp3:"+strings.Repeat("sound ", 400_000), "model", "whisper-1")
	cfg := `{"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1","override_params":{"model":"gpt-4o-transcribe"},"default_params":{"temperature":0.5}}`
	a := r.call("POST", "/v1/audio/transcriptions", body, "x-gateway-config: "+cfg, "content-type: "+ct)
	if a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	seen := r.up.Seen()[0]
	grown := len("gpt-4o-transcribe") - len("whisper-1")
	if seen.BodyErr != nil || seen.BodyBytes <= int64(len(body)+grown) {
		t.Errorf("%d bytes arrived of %d, %v", seen.BodyBytes, len(body), seen.BodyErr)
	}
}

// A conversation is relayed both ways, its end is mirrored, and it is on record
// with what it used.
func TestRealtime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	h := http.Header{"X-Gateway-Api-Key": {key}, "X-Gateway-Provider": {"openai"}, "Authorization": {"Bearer k"}, "X-Gateway-Custom-Host": {r.up.URL() + "/v1"}}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	c, _, err := websocket.Dial(ctx, r.server.URL+"/v1/realtime?model=gpt-realtime", &websocket.DialOptions{HTTPHeader: h})
	if err != nil {
		t.Fatal(err)
	}
	if _, first, err := c.Read(ctx); err != nil || !strings.Contains(string(first), "session.created") {
		t.Fatalf("%s %v", first, err)
	}
	for _, m := range []string{
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello there"}]}}`,
		`{"type":"response.create"}`,
	} {
		if err := c.Write(ctx, websocket.MessageText, []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	for {
		_, m, err := c.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(m), `"response.done"`) {
			break
		}
	}
	if err := c.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Error(err)
	}
	if row := r.journal.one(t); row.Outcome != record.OK || !row.Usage.Reported || row.Status != 101 {
		t.Errorf("record %+v", row)
	}
	refused, err := http.NewRequest("GET", r.server.URL+"/v1/realtime?model=x", nil)
	if err != nil {
		t.Fatal(err)
	}
	refused.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}}
	if a := r.do(refused); a.StatusCode != 401 {
		t.Errorf("without a key: %d %s", a.StatusCode, a.Text)
	}
}

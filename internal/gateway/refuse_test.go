package gateway_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/gateway"
)

// Every refusal has its status and body, names what is wrong, and costs nothing
// upstream. Source: contract/dataplane.md part 7.
func TestRefusals(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 80) + "1" + strings.Repeat("}", 80)
	cases := []struct {
		name    string
		method  string
		path    string
		body    string
		headers []string
		status  int
		message string // in the body
	}{
		{"no key", "POST", "/v1/chat/completions", hello, []string{"x-gateway-api-key"}, 401, `"code":"03"`},
		{"unknown key", "POST", "/v1/chat/completions", hello, []string{"x-gateway-api-key: sk-nobody-knows-this-one"}, 401, "unknown"},
		{"a JWT", "POST", "/v1/chat/completions", hello, []string{"x-gateway-api-key: a.b.c"}, 401, "JWT"},
		{"an Admin key", "POST", "/v1/chat/completions", hello, []string{"x-gateway-api-key: " + adminKey}, 403, "Admin key"},
		{"a key without the scope", "POST", "/v1/chat/completions", hello, []string{"x-gateway-api-key: " + narrowKey}, 403, "completions.write"},
		{"neither provider nor config", "POST", "/v1/chat/completions", hello, nil, 400, "x-gateway-provider"},
		{"unknown provider", "POST", "/v1/chat/completions", hello, []string{"x-gateway-provider: nobody"}, 400, "nobody"},
		{"unknown saved provider", "POST", "/v1/chat/completions", hello, []string{"x-gateway-provider: @nobody"}, 400, "@nobody"},
		{"unknown virtual key", "POST", "/v1/chat/completions", hello, []string{"x-gateway-virtual-key: nobody"}, 400, "@nobody"},
		{"unknown provider in the model", "POST", "/v1/chat/completions", `{"model":"@nobody/gpt-4o","messages":[]}`, nil, 400, "@nobody"},
		{"unknown config", "POST", "/v1/chat/completions", hello, []string{"x-gateway-config: pc-none"}, 400, "pc-none"},
		{"config that is no JSON", "POST", "/v1/chat/completions", hello, []string{"x-gateway-config: {nonsense"}, 400, "AB01"},
		{"config with an unknown field", "POST", "/v1/chat/completions", hello, []string{`x-gateway-config: {"provider":"openai","api_key":"k","nonsense":1}`}, 400, "nonsense"},
		{"config with a wrong type", "POST", "/v1/chat/completions", hello, []string{`x-gateway-config: {"provider":"openai","api_key":"k","retry":{"attempts":"three"}}`}, 400, "retry.attempts"},
		{"all weights zero", "POST", "/v1/chat/completions", hello, []string{`x-gateway-config: {"strategy":{"mode":"loadbalance"},"targets":[{"provider":"openai","api_key":"k","weight":0}]}`}, 400, "weight"},
		{"wrong content type", "POST", "/v1/chat/completions", hello, []string{"x-gateway-provider: openai", "content-type: text/plain"}, 400, "text/plain"},
		{"malformed JSON", "POST", "/v1/chat/completions", `{"model":"gpt-4o",`, []string{"x-gateway-provider: openai"}, 400, "JSON"},
		{"deep nesting", "POST", "/v1/chat/completions", deep, []string{"x-gateway-provider: openai"}, 400, "64"},
		{"a doubled model", "POST", "/v1/chat/completions", `{"model":"a","mod\u0065l":"b","messages":[]}`, []string{"x-gateway-provider: openai"}, 400, "model"},
		{"a doubled model on pass-through", "POST", "/v1/collections", `{"model":"a","model":"b"}`, []string{"x-gateway-provider: openai"}, 400, "model"},
		{"no model", "POST", "/v1/chat/completions", `{"messages":[]}`, []string{"x-gateway-provider: openai", "authorization: Bearer k"}, 400, "model"},
		{"no credential", "POST", "/v1/chat/completions", hello, []string{"x-gateway-provider: openai"}, 400, "key"},
		{"private custom host", "POST", "/v1/chat/completions", hello, []string{"x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-custom-host: http://10.0.0.1/v1"}, 400, "private"},
		{"metadata custom host", "POST", "/v1/chat/completions", hello, []string{"x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-custom-host: http://169.254.169.254/v1"}, 400, ""},
		{"metadata URL of a provider", "POST", "/v1/chat/completions", hello, []string{"x-gateway-provider: azure-ai", "authorization: Bearer k", "x-gateway-azure-foundry-url: http://169.254.169.254/models"}, 400, `"param":"azure_foundry_url"`},
		{"malformed custom host", "POST", "/v1/chat/completions", hello, []string{"x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-custom-host: ftp://example.com"}, 400, "http"},
		{"forward list that names itself", "POST", "/v1/chat/completions", hello, []string{"x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-forward-headers: x-gateway-forward-headers"}, 400, "x-gateway-forward-headers"},
		{"metadata service header forwarded", "POST", "/v1/chat/completions", hello, []string{"x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-forward-headers: Metadata-Flavor"}, 400, "metadata-flavor"},
		{"an endpoint the provider has not", "POST", "/v1/audio/speech", `{"model":"m","input":"x","voice":"v"}`, []string{"x-gateway-provider: deepseek", "authorization: Bearer k"}, 501, "deepseek"},
		{"messages on the Anthropic surface", "POST", "/v1/messages", hello, []string{"x-gateway-api-key"}, 401, `"type":"error"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			a := r.call(c.method, c.path, c.body, c.headers...)
			if a.StatusCode != c.status || !strings.Contains(a.Text, c.message) || !json.Valid([]byte(a.Text)) {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
			if a.Header.Get("x-gateway-trace-id") == "" || a.Header.Get("x-gateway-request-id") == "" {
				t.Error("no ids on the refusal")
			}
			if n := len(r.up.Seen()); n != 0 {
				t.Errorf("the refusal cost %d upstream calls", n)
			}
			for _, row := range r.journal.all() {
				if row.Outcome != record.Refused || row.Status != int32(c.status) {
					t.Errorf("recorded as %s %d", row.Outcome, row.Status)
				}
			}
		})
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *gateway.Settings) { s.MaxJSONBytes, s.MaxUploadBytes = 1000, 1000 })
	big := `{"model":"gpt-4o","messages":[],"pad":"` + strings.Repeat("x", 2000) + `"}`
	if a := r.call("POST", "/v1/chat/completions", big, r.custom()...); a.StatusCode != 413 {
		t.Errorf("JSON: %d %s", a.StatusCode, a.Text)
	}
	body, ct := form(t, "model", "whisper-1", "@file", "a.mp3:"+strings.Repeat("x", 2000))
	if a := r.call("POST", "/v1/audio/transcriptions", body, r.custom("content-type: "+ct)...); a.StatusCode != 413 {
		t.Errorf("form: %d %s", a.StatusCode, a.Text)
	}
	if n := len(r.up.Seen()); n != 0 {
		t.Errorf("%d upstream calls", n)
	}
}

// The transcription form is checked against the specification before anything is
// sent. Source: spec, Transcription request.
func TestTranscriptionRefusals(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		fields []string
		param  string
	}{
		{"file missing", []string{"model", "whisper-1"}, "file"},
		{"file sent as a name", []string{"model", "whisper-1", "file", "speech.mp3"}, "file"},
		{"format unknown", []string{"model", "whisper-1", "@file", "a.txt:abc"}, "file"},
		{"model missing", []string{"@file", "a.mp3:abc"}, "model"},
		{"temperature over 1", []string{"model", "whisper-1", "@file", "a.mp3:abc", "temperature", "1.5"}, "temperature"},
		{"temperature no number", []string{"model", "whisper-1", "@file", "a.mp3:abc", "temperature", "hot"}, "temperature"},
		{"response_format unknown", []string{"model", "whisper-1", "@file", "a.mp3:abc", "response_format", "xml"}, "response_format"},
		{"granularities without verbose_json", []string{"model", "whisper-1", "@file", "a.mp3:abc", "timestamp_granularities[]", "word"}, "timestamp_granularities[]"},
		{"granularity unknown", []string{"model", "whisper-1", "@file", "a.mp3:abc", "response_format", "verbose_json", "timestamp_granularities[]", "letter"}, "timestamp_granularities[]"},
		{"additional property", []string{"model", "whisper-1", "@file", "a.mp3:abc", "colour", "red"}, "colour"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			body, ct := form(t, c.fields...)
			a := r.call("POST", "/v1/audio/transcriptions", body, r.custom("content-type: "+ct)...)
			var e struct {
				Error struct{ Param, Message string }
			}
			if err := json.Unmarshal([]byte(a.Text), &e); err != nil || a.StatusCode != 400 || e.Error.Param != c.param || e.Error.Message == "" {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
			if n := len(r.up.Seen()); n != 0 {
				t.Errorf("the refusal cost %d upstream calls", n)
			}
		})
	}
}

// form writes a multipart form: pairs of name and value; "@name" is a file whose
// value is "filename:content".
func form(t testing.TB, pairs ...string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		name, file := strings.CutPrefix(pairs[i], "@")
		if !file {
			if err := w.WriteField(name, pairs[i+1]); err != nil {
				t.Fatal(err)
			}
			continue
		}
		fileName, content, _ := strings.Cut(pairs[i+1], ":")
		p, err := w.CreateFormFile(name, fileName)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

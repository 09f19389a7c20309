package gateway_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/record"
	"sluice/internal/gateway"
	"sluice/internal/test/upstream"
)

// quotedKey is a stored credential, and whole the form in which a provider quotes it.
const (
	quotedKey  = "sk-stored/0123456789+abcdef"
	quotedText = "Incorrect API key provided: " + quotedKey + ". You used sk-s...cdef."
)

// quoting is a rig with accounts that have quotedKey.
func quoting(t *testing.T, with ...func(*gateway.Settings)) *rig {
	t.Helper()
	r := newRig(t, with...)
	for _, spec := range []string{"openai", "anthropic"} {
		r.dir.accounts[spec+"-stored"] = &credential.Account{
			Slug: spec + "-stored", Spec: spec, Status: "active", AllModels: true, Values: map[string]string{"key": quotedKey, "custom_host": r.up.URL() + "/v1"},
		}
	}
	return r
}

// checkQuoted fails the test when the key is in what the client got or what is on record.
func checkQuoted(t *testing.T, r *rig, got string, wantMask bool) {
	t.Helper()
	for _, row := range r.journal.all() {
		text := row.Error
		for _, b := range row.Bodies() {
			text += " " + string(b.Plain(1<<20))
		}
		if strings.Contains(text, quotedKey[3:]) || strings.Contains(text, strings.ReplaceAll(quotedKey, "/", `\/`)) {
			t.Errorf("on record: %s", text)
		}
	}
	if strings.Contains(got, "0123456789") {
		t.Errorf("the client got %s", got)
	}
	if wantMask && (!strings.Contains(got, "provided: ***.") || !strings.Contains(got, "sk-s...cdef")) {
		t.Errorf("the client got %s", got)
	}
}

// TestErrors_QuoteNoStoredKey: what a provider quotes of the credential in an error reaches
// neither the caller nor the log, on routes with one shape of errors, translated ones and
// those that pass through, whole, encoded and streamed.
func TestErrors_QuoteNoStoredKey(t *testing.T) {
	t.Parallel()
	complete := `{"error":{"message":"` + quotedText + `","type":"invalid_request_error","code":"invalid_api_key"}}`
	chunk := `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hello"}}]}` + "\n\n"
	chunked := upstream.JSON(401, []byte(complete))
	chunked.Framing = upstream.Chunked
	gzipped := upstream.JSON(401, zip(t, complete))
	gzipped.Header = append(gzipped.Header, upstream.Field{Name: "Content-Encoding", Value: "gzip"})
	stream := strings.Replace(hello, "{", `{"stream":true,`, 1)
	for name, c := range map[string]struct {
		provider, path, body string
		response             upstream.Response
	}{
		"whole":                   {"openai", "/v1/chat/completions", hello, upstream.JSON(401, []byte(complete))},
		"whole, escaped":          {"openai", "/v1/chat/completions", hello, upstream.JSON(401, []byte(strings.ReplaceAll(complete, "/", `\/`)))},
		"encoded":                 {"openai", "/v1/chat/completions", hello, gzipped},
		"no JSON":                 {"openai", "/v1/chat/completions", hello, upstream.Response{Status: 500, Chunks: []upstream.Chunk{{Bytes: []byte(quotedText)}}}},
		"in an answer of success": {"openai", "/v1/chat/completions", hello, upstream.JSON(200, []byte(complete))},
		"translated":              {"anthropic", "/v1/chat/completions", hello, upstream.JSON(401, []byte(`{"type":"error","error":{"type":"authentication_error","message":"`+quotedText+`"}}`))},
		"to a caller of messages": {"openai", "/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`, upstream.JSON(401, []byte(complete))},
		"of a stream":             {"openai", "/v1/chat/completions", stream, upstream.JSON(401, []byte(complete))},
		"first event":             {"openai", "/v1/chat/completions", stream, events("data: " + complete + "\n\n")},
		"later event":             {"openai", "/v1/chat/completions", stream, events(chunk, "data: "+complete+"\n\n")},
		"passed through":          {"openai", "/v1/unknown/things", `{}`, upstream.JSON(401, []byte(complete))},
		"passed through, chunked": {"openai", "/v1/unknown/things", `{}`, chunked},
		"passed through, encoded": {"openai", "/v1/unknown/things", `{}`, gzipped},
		"passed through, event":   {"openai", "/v1/unknown/things", `{}`, events("data: {\"a\":1}\n\n", "data: "+complete+"\n\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := quoting(t)
			for _, path := range []string{c.path, "/v1/messages", "/v1/chat/completions", "/v1/responses"} {
				r.up.Handle(path, upstream.Always(c.response))
			}
			a := r.call("POST", c.path, c.body, "x-gateway-provider: @"+c.provider+"-stored")
			if n := a.Header.Get("Content-Length"); n != "" && n != strconv.Itoa(len(a.Text)) {
				t.Errorf("content-length %s of %d bytes", n, len(a.Text))
			}
			checkQuoted(t, r, a.Text, true)
		})
	}
}

// What is kept of a body that is cut off shows no beginning of the key.
func TestErrors_CutBodiesQuoteNoStoredKey(t *testing.T) {
	t.Parallel()
	r := quoting(t, func(s *gateway.Settings) { s.BodyLogBytes = strings.Index(quotedText, quotedKey) + 12 })
	r.up.Handle("/v1/chat/completions", upstream.Always(upstream.Response{Status: 500, Chunks: []upstream.Chunk{{Bytes: []byte(quotedText)}}}))
	r.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: @openai-stored")
	if row := r.journal.one(t); strings.Contains(string(row.Response.Bytes), "sk-s") || !strings.HasSuffix(string(row.Response.Bytes), "***") {
		t.Errorf("on record: %s", row.Response.Bytes)
	}
}

// An answer of success is relayed as it came, whatever it quotes.
func TestAnswersOfSuccessAreRelayedUntouched(t *testing.T) {
	t.Parallel()
	r := quoting(t)
	body := `{"note":"` + quotedKey + `"}`
	r.up.Handle("/v1/unknown/things", upstream.Always(upstream.JSON(200, []byte(body))))
	a := r.call("POST", "/v1/unknown/things", `{}`, "x-gateway-provider: @openai-stored")
	if row := r.journal.one(t); a.StatusCode != http.StatusOK || a.Text != body || row.Outcome != record.OK {
		t.Errorf("%d %s, %v", a.StatusCode, a.Text, row.Outcome)
	}
}

package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/tenant"
	"sluice/internal/test/upstream"
)

// promptForm returns the body of a form with a file and a prompt, and its content type.
func promptForm(file, prompt string) (body, contentType string) {
	const boundary = "xxBOUNDARYxx"
	part := func(head, value string) string {
		return "--" + boundary + "\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + value + "\r\n"
	}
	return part(`name="model"`, "m") + part(`name="prompt"`, prompt) + part(fmt.Sprintf(`name=%q; filename="a.mp3"`, file), "data") + "--" + boundary + "--\r\n", "multipart/form-data; boundary=" + boundary
}

// inputDoors are the calls that carry text to a model, apart from the conversations. The path of a call
// that is passed through is one of the provider. An unreadable one is refused only by enforced
// guardrails.
var inputDoors = []struct {
	name, path, body, provider string
	form                       string // field of the file of a form
	unreadable                 bool
}{
	{name: "count tokens", path: "/v1/messages/count_tokens", provider: "anthropic", body: `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":%q}]}`},
	{name: "input tokens", path: "/v1/responses/input_tokens", body: `{"model":"gpt-4o-mini","input":%q}`},
	{name: "rerank", path: "/v1/rerank", provider: "cohere", body: `{"model":"rerank-v3.5","query":"q","documents":["a",%q]}`},
	{name: "query of rerank", path: "/v1/rerank", provider: "cohere", body: `{"model":"rerank-v3.5","query":%q,"documents":["a"]}`},
	{name: "embeddings", path: "/v1/embeddings", body: `{"model":"text-embedding-3-small","input":["a",%q]}`},
	{name: "moderations", path: "/v1/moderations", body: `{"input":[{"type":"text","text":%q}]}`},
	{name: "image", path: "/v1/images/generations", body: `{"model":"gpt-image-1","prompt":%q}`},
	{name: "image form", path: "/v1/images/edits", form: "image"},
	{name: "speech", path: "/v1/audio/speech", body: `{"model":"tts-1","voice":"alloy","input":%q}`},
	{name: "instructions of speech", path: "/v1/audio/speech", body: `{"model":"tts-1","voice":"alloy","input":"a","instructions":%q}`},
	{name: "transcription form", path: "/v1/audio/transcriptions", form: "file"},
	{name: "translation form", path: "/v1/audio/translations", form: "file"},
	{name: "client secret", path: "/v1/realtime/client_secrets", body: `{"session":{"type":"realtime","model":"gpt-realtime","instructions":%q}}`},
	{name: "tools of a client secret", path: "/v1/realtime/client_secrets", body: `{"session":{"tools":[{"type":"function","name":"f","description":%q}]}}`},
	{name: "realtime session", path: "/v1/realtime/sessions", body: `{"model":"gpt-realtime","instructions":%q}`},
	{name: "transcription session", path: "/v1/realtime/transcription_sessions", body: `{"input_audio_transcription":{"model":"gpt-4o-transcribe","prompt":%q}}`},
	{name: "passed through Google", path: "/v1beta/models/gemini-2.5-flash:generateContent", provider: "google", body: `{"contents":[{"parts":[{"text":%q}]}]}`},
	{name: "passed through Google tokens", path: "/v1beta/models/gemini-2.5-flash:countTokens", provider: "google", body: `{"contents":[{"parts":[{"text":%q}]}]}`},
	{name: "passed through Bedrock", path: "/v1/proxy/model/amazon.nova-pro-v1/converse", body: `{"messages":[{"role":"user","content":[{"text":%q}]}]}`},
	{name: "passed through chat", path: "/v1/proxy/v2/chat/completions", body: `{"model":"m","messages":[{"role":"user","content":%q}]}`},
	{name: "passed through Messages", path: "/v1/proxy/v2/messages", body: `{"model":"m","messages":[{"role":"user","content":%q}]}`},
	{name: "passed through Responses", path: "/v1/proxy/v2/responses", body: `{"model":"m","input":%q}`},
	{name: "video", path: "/v1/proxy/v2/videos", body: `{"model":"sora-2","prompt":%q}`},
	{name: "message of a thread", path: "/v1/threads/thread_1/messages", body: `{"role":"user","content":%q}`, unreadable: true},
	{name: "batch of Messages", path: "/v1/proxy/v2/messages/batches", body: `{"requests":[{"custom_id":"a","params":{"messages":[{"role":"user","content":%q}]}}]}`, unreadable: true},
	{name: "unknown path", path: "/v1/proxy/v2/chat", body: `{"message":%q}`, unreadable: true},
	{name: "escaped path", path: "/v1/proxy/v2/chat%2Fcompletions", body: `{"model":"m","messages":[{"role":"user","content":%q}]}`, unreadable: true},
	{name: "call of a WebRTC client", path: "/v1/realtime/calls", body: `{"sdp":"v=0","session":{"instructions":%q}}`, unreadable: true},
}

// The same forbidden text is denied wherever it is sent, and does not reach the provider.
func TestGuardrails_JudgeTheInputOfEveryEndpoint(t *testing.T) {
	t.Parallel()
	for _, d := range inputDoors {
		for _, enforced := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, enforced %v", d.name, enforced), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				headers := r.denying(d.provider, enforced)
				kind := "content-type: application/json"
				body := strings.ReplaceAll(d.body, "%q", `"a forbidden text"`)
				if d.form != "" {
					var contentType string
					body, contentType = promptForm(d.form, "a forbidden text")
					kind = "content-type: " + contentType
				}
				a := r.call("POST", d.path, body, append(headers, kind)...)
				if d.unreadable && !enforced {
					if row := r.journal.one(t); !strings.Contains(row.Hooks, `"skipped":true`) {
						t.Errorf("%d %s, hooks %s", a.StatusCode, a.Text, row.Hooks)
					}
					return
				}
				if a.StatusCode != 446 || r.up.Total() != 0 {
					t.Errorf("%d %s, %d calls reached the provider", a.StatusCode, a.Text, r.up.Total())
				}
			})
		}
	}
}

// denying returns the headers of a call to the rig's upstream with a guardrail that denies.
func (r *rig) denying(provider string, enforced bool) []string {
	r.t.Helper()
	if provider == "" {
		provider = "openai"
	}
	members := `"input_guardrails":[{"id":"g1","deny":true,` + shorthandRule + `}]`
	if enforced {
		r.save("g1", rule, guardrail.Actions{Deny: true})
		r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}}})
		members = `"retry":{"attempts":0}`
	}
	host := r.up.URL()
	if provider != "google" {
		host += "/v1"
	}
	return []string{`x-gateway-config: {"provider":"` + provider + `","api_key":"k","custom_host":"` + host + `",` + members + `}`}
}

// outputDoors are the responses with text of a model, apart from the conversations.
var outputDoors = []struct {
	name, call, body, response, form string
	contentType                      string
	unreadable                       bool
}{
	{name: "transcription", call: "POST /v1/audio/transcriptions", form: "file", response: `{"text":"a forbidden text"}`},
	{name: "transcription as text", call: "POST /v1/audio/transcriptions", form: "file", response: "1\n00:00:00,000 --> 00:00:01,000\na forbidden text\n", contentType: "text/plain"},
	{name: "translation", call: "POST /v1/audio/translations", form: "file", response: `{"text":"a forbidden text"}`},
	{name: "chat passed through", call: "POST /v1/proxy/v2/chat/completions", body: `{"messages":[{"role":"user","content":"a"}]}`, response: `{"choices":[{"message":{"role":"assistant","content":"a forbidden text"}}]}`},
	{name: "Responses passed through", call: "POST /v1/proxy/v2/responses", body: `{"input":"a"}`, response: `{"output":[{"type":"message","content":[{"type":"output_text","text":"a forbidden text"}]}]}`},
	{name: "stored response", call: "GET /v1/responses/resp_1", response: `{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a forbidden text"}]}]}`},
	{name: "stored response passed through", call: "GET /v1/proxy/v2/responses/resp_1", response: `{"id":"resp_1","output":[{"type":"message","content":[{"type":"output_text","text":"a forbidden text"}]}]}`},
	{name: "stored chat passed through", call: "GET /v1/chat/completions/chatcmpl-1", response: `{"choices":[{"message":{"role":"assistant","content":"a forbidden text"}}]}`},
	{name: "unknown path", call: "POST /v1/proxy/v2/chat", body: `{"message":"a"}`, response: `{"text":"a forbidden text"}`, unreadable: true},
	{name: "messages of a thread", call: "GET /v1/threads/thread_1/messages", response: `{"data":[{"content":"a forbidden text"}]}`, unreadable: true},
	{name: "client secret", call: "POST /v1/realtime/client_secrets", body: `{"session":{"instructions":"a"}}`, response: `{"value":"ek_forbidden"}`, unreadable: true},
}

func TestGuardrails_JudgeTheOutputOfEveryEndpoint(t *testing.T) {
	t.Parallel()
	for _, d := range outputDoors {
		for _, mode := range []string{"inline", "enforced", "permitted"} {
			t.Run(d.name+", "+mode, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				members := `"output_guardrails":[{"id":"g1","deny":true,` + shorthandRule + `}]`
				if mode != "inline" {
					r.save("g1", rule, guardrail.Actions{Deny: true})
					r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{OutputGuardrails: []string{"g1"}}})
					r.dir.scope.PassUnreadable = mode == "permitted"
					members = `"retry":{"attempts":0}`
				}
				method, path, _ := strings.Cut(d.call, " ")
				response := upstream.JSON(200, []byte(d.response))
				if d.contentType != "" {
					response.Header = []upstream.Field{{Name: "Content-Type", Value: d.contentType}}
				}
				r.up.Script(upstream.Always(response))
				headers := []string{r.inline(members)}
				body := d.body
				if d.form != "" {
					var contentType string
					body, contentType = promptForm(d.form, "a")
					headers = append(headers, "content-type: "+contentType)
				}
				a := r.call(method, path, body, headers...)
				switch {
				case d.unreadable && mode != "enforced":
					if row := r.journal.one(t); a.StatusCode != 200 || !strings.Contains(row.Hooks, `"skipped":true`) {
						t.Errorf("%d %s, hooks %s", a.StatusCode, a.Text, row.Hooks)
					}
				case a.StatusCode != 446 || strings.Contains(a.Text, "a forbidden text"):
					t.Errorf("%d %s", a.StatusCode, a.Text)
				case d.unreadable && r.up.Total() != 0:
					t.Errorf("%d calls reached the provider", r.up.Total())
				}
			})
		}
	}
}

func TestGuardrails_JudgeStreamedTranscriptions(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"window", "hold"} {
		r := newRig(t)
		r.up.Script(upstream.Always(events(
			`data: {"type":"transcript.text.delta","delta":"a for"}`+"\n\n", `data: {"type":"transcript.text.delta","delta":"bidden text"}`+"\n\n",
			`data: {"type":"transcript.text.done","text":"a forbidden text"}`+"\n\n")))
		body, contentType := promptForm("file", "a")
		body = strings.Replace(body, "\r\n\r\nm\r\n", "\r\n\r\nm\r\n--xxBOUNDARYxx\r\nContent-Disposition: form-data; name=\"stream\"\r\n\r\ntrue\r\n", 1)
		a := r.call("POST", "/v1/audio/transcriptions", body, "content-type: "+contentType, r.inline(`"output_guardrails":[{"id":"g1","deny":true,"stream":"`+mode+`",`+shorthandRule+`}]`))
		if strings.Contains(a.Text, "bidden") {
			t.Errorf("%s: %d %s", mode, a.StatusCode, a.Text)
		}
		if row := r.journal.one(t); row.Status != 446 {
			t.Errorf("%s: record %d", mode, row.Status)
		}
	}
}

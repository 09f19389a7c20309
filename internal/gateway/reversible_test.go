package gateway_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/sealed"
	"sluice/internal/test/upstream"
)

// vaults returns a store of the values that reversible redaction hides.
func vaults(t testing.TB) *placeholder.Store {
	t.Helper()
	box, err := sealed.NewBox([]byte("sealing key of the tests"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := placeholder.NewStore(placeholder.Options{
		Secret: []byte("placeholders of the tests"), Sealer: box, Backend: placeholder.NewMemory(1<<20, time.Now), TTL: time.Hour, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	ann        = "ann@example.com"
	hideMail   = `"input_guardrails":[{"id":"hide","pii":{"categories":["EMAIL_ADDRESS"],"redact":"reversible"}}]`
	removeMail = `"input_guardrails":[{"id":"remove","pii":{"categories":["EMAIL_ADDRESS"],"redact":true}}]`
	aPlace     = `\[EMAIL_ADDRESS_[0-9a-f]+\]`
)

var placeRE = regexp.MustCompile(aPlace)

// echo makes the upstream answer a chat call with the last placeholder that it received.
func (r *rig) echo(path string, respond func(token string) upstream.Response) {
	r.up.Handle(path, func(s upstream.Seen) *upstream.Response {
		token := "none"
		if all := placeRE.FindAllString(string(s.Body), -1); len(all) > 0 {
			token = all[len(all)-1]
		}
		out := respond(token)
		return &out
	})
}

// recordedText returns everything that the record of an attempt keeps of texts.
func recordedText(row *record.Attempt) string {
	var b strings.Builder
	for _, body := range []record.Body{row.ClientRequest, row.Request, row.Reshaped, row.Response, row.ClientResponse} {
		b.Write(body.Bytes)
		b.WriteByte('\n')
	}
	return b.String() + row.Hooks + row.Error + row.Lookup
}

// expectHidden checks that a value is neither at the upstream nor in the records.
func (r *rig) expectHidden(t *testing.T, value string) {
	t.Helper()
	for _, s := range r.up.Seen() {
		if strings.Contains(string(s.Body), value) {
			t.Errorf("the provider received %s", s.Body)
		}
	}
	rows := r.journal.all()
	if len(rows) == 0 {
		t.Error("nothing is on record")
	}
	for i := range rows {
		if text := recordedText(&rows[i]); strings.Contains(text, value) {
			t.Errorf("the record has %s", text)
		}
	}
}

// A value is hidden from the provider, the log and the cache, and the caller receives it again, on each
// API and with each dialect of a provider, however the stream cuts the placeholder.
func TestReversibleRedaction_RestoresStreams(t *testing.T) {
	t.Parallel()
	for _, p := range streamingProviders {
		for _, s := range streamingSurfaces {
			for _, cut := range []string{"characters", "whole", "halves"} {
				t.Run(p.name+s.path+" "+cut, func(t *testing.T) {
					t.Parallel()
					r := newRig(t)
					r.echo(p.upstreamPath(s.path), func(token string) upstream.Response {
						text := "Write to " + token + " today, and to [EMAIL_ADDRESS_abcdef]."
						parts := []string{text}
						switch cut {
						case "characters":
							parts = strings.Split(text, "")
						case "halves":
							parts = []string{text[:20], text[20:]}
						}
						return p.eventsFor(s.path, parts)
					})
					body := strings.Replace(fmt.Sprintf(s.request, p.model), `"Hi"`, `"I am `+ann+`"`, 1)
					a := r.call("POST", s.path, body, append(p.headers(r), `x-gateway-config: {`+hideMail+`}`)...)
					if got := streamText(t, a.Text); got != "Write to "+ann+" today, and to [EMAIL_ADDRESS_abcdef]." || a.StatusCode != 200 {
						t.Errorf("%d %q: %s", a.StatusCode, got, a.Text)
					}
					r.journal.one(t)
					r.expectHidden(t, ann)
				})
			}
		}
	}
}

// streamText returns the text of a stream of one of the three APIs.
func streamText(t *testing.T, stream string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var e struct {
			Type    string
			Delta   json.RawMessage
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		var text string
		var parts struct{ Text string }
		switch {
		case len(e.Choices) > 0:
			text = e.Choices[0].Delta.Content
		case e.Type == "content_block_delta" && json.Unmarshal(e.Delta, &parts) == nil:
			text = parts.Text
		case e.Type == "response.output_text.delta" && json.Unmarshal(e.Delta, &text) == nil:
		}
		b.WriteString(text)
	}
	return b.String()
}

// Complete responses are restored, too, and the restored value is escaped as JSON.
func TestReversibleRedaction_RestoresResponses(t *testing.T) {
	t.Parallel()
	for _, s := range textSurfaces {
		for _, config := range []string{hideMail, hideMail + `,"output_guardrails":[{"id":"see","deny":true,"contains":{"words":["ann@"],"operator":"none"}}]`} {
			t.Run(s.path+config[len(hideMail):], func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.echo(s.path, func(token string) upstream.Response {
					return upstream.JSON(200, []byte(fmt.Sprintf(s.response, "to "+token)))
				})
				a := r.call("POST", s.path, fmt.Sprintf(s.request, "I am "+ann), r.inline(config))
				if a.StatusCode != 200 || !strings.Contains(a.Text, `"to `+ann+`"`) {
					t.Errorf("%d %s", a.StatusCode, a.Text)
				}
				if row := r.journal.one(t); !placeRE.Match(row.Response.Bytes) || !placeRE.Match(row.Request.Bytes) {
					t.Errorf("record: %s", recordedText(&row))
				}
				r.expectHidden(t, ann)
			})
		}
	}
}

// A value with characters that JSON escapes is restored inside the arguments of a tool call, on streams
// and in complete responses: the arguments parse.
func TestReversibleRedaction_RestoresToolArguments(t *testing.T) {
	t.Parallel()
	const secret = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n-----END PRIVATE KEY-----"
	token := regexp.MustCompile(`\[[A-Z_]+_[0-9a-f]{6}\]`)
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("stream ", stream), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/chat/completions", func(s upstream.Seen) *upstream.Response {
				arguments := fmt.Sprintf(`{"key":"%s","n":1}`, token.FindString(string(s.Body)))
				var out upstream.Response
				if !stream {
					out = upstream.JSON(200, []byte(fmt.Sprintf(`{"id":"c","object":"chat.completion","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":%s}}]},"finish_reason":"tool_calls"}]}`, quoted(arguments))))
					return &out
				}
				head := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"delta":`
				list := []string{head + `{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":null}]}` + "\n\n"}
				for _, c := range strings.Split(arguments, "") {
					list = append(list, head+`{"tool_calls":[{"index":0,"function":{"arguments":`+quoted(c)+`}}]},"finish_reason":null}]}`+"\n\n")
				}
				out = events(append(list, head+`{},"finish_reason":"tool_calls"}]}`+"\n\n", "data: [DONE]\n\n")...)
				return &out
			})
			body := fmt.Sprintf(`{"model":"gpt-4o-mini","stream":%v,"messages":[{"role":"user","content":%s}]}`, stream, quoted("use "+secret))
			a := r.call("POST", "/v1/chat/completions", body, r.inline(`"input_guardrails":[{"id":"hide","gateway.secrets":{"redact":"reversible"}}]`))
			var got struct{ Key string }
			if err := json.Unmarshal([]byte(argumentsOf(t, a.Text, stream)), &got); err != nil || got.Key != secret {
				t.Errorf("%v, %q: %d %s", err, got.Key, a.StatusCode, a.Text)
			}
			r.journal.one(t)
			r.expectHidden(t, "MIIEvQIBADANBgkqhkiG9w0")
		})
	}
}

// argumentsOf returns the arguments of the tool call in a chat response.
func argumentsOf(t *testing.T, text string, stream bool) string {
	t.Helper()
	type calls struct {
		Calls []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
	}
	type response struct {
		Choices []struct{ Message, Delta calls }
	}
	if !stream {
		text = "data: " + text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var e response
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		for _, c := range e.Choices {
			for _, call := range append(c.Message.Calls, c.Delta.Calls...) {
				b.WriteString(call.Function.Arguments)
			}
		}
	}
	return b.String()
}

// Over the turns of a conversation, a value has one placeholder, so that the bytes of earlier turns stay
// equal for the provider. A later call of the trace that contains only the placeholder gets the value.
func TestReversibleRedaction_IsStableOverTurns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.echo("/v1/chat/completions", func(token string) upstream.Response { return chatResponse("to " + token) })
	first := `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"I am ann@example.com"}`
	headers := []string{r.inline(hideMail), "x-gateway-trace-id: t1"}
	r.call("POST", "/v1/chat/completions", first+`]}`, headers...)
	r.call("POST", "/v1/chat/completions", first+`,{"role":"assistant","content":"to ann@example.com"},{"role":"user","content":"thanks"}]}`, headers...)
	seen := r.up.Seen()
	prefix := strings.TrimSuffix(string(seen[0].Body), "]}")
	if !strings.HasPrefix(string(seen[1].Body), prefix) {
		t.Errorf("the prefix changed: %s and %s", seen[0].Body, seen[1].Body)
	}
	token := placeRE.FindString(string(seen[0].Body))
	only := `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"repeat ` + token + `"}]}`
	for name, c := range map[string]struct {
		headers []string
		want    string
	}{
		"in the trace":       {headers, ann},
		"in another trace":   {[]string{r.inline(hideMail), "x-gateway-trace-id: t2"}, token},
		"without a trace":    {[]string{r.inline(hideMail)}, token},
		"for another caller": {append(headers[:2:2], "x-gateway-api-key: "+r.otherKey()), token},
	} {
		if a := r.call("POST", "/v1/chat/completions", only, c.headers...); !strings.Contains(a.Text, `"to `+c.want+`"`) {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.Text)
		}
	}
}

// otherKey adds a second key with all scopes of the workspace.
func (r *rig) otherKey() string {
	const other = "sk-another-key-of-the-tests-0"
	r.dir.add(keys.NewHasher([]byte("pepper of the tests")), other, access.WorkspaceService, workspace, access.Allowed(access.WorkspaceService)...)
	return other
}

// A Responses call that continues an earlier one gets the values of the earlier one, also after a stream.
func TestReversibleRedaction_FollowsTheChainOfResponses(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		r := newRig(t)
		r.up.Handle("/v1/responses", func(s upstream.Seen) *upstream.Response {
			text := "to " + placeRE.FindString(string(s.Body))
			out := upstream.JSON(200, []byte(fmt.Sprintf(textSurfaces[2].response, text)))
			if strings.Contains(string(s.Body), `"stream":true`) {
				out = streamingProviders[0].eventsFor("/v1/responses", strings.Split(text, ""))
			}
			return &out
		})
		a := r.call("POST", "/v1/responses", fmt.Sprintf(`{"model":"gpt-4o-mini","stream":%v,"input":"I am ann@example.com"}`, stream), r.inline(hideMail))
		if !strings.Contains(a.Text, `"to `+ann+`"`) {
			t.Fatalf("%d %s", a.StatusCode, a.Text)
		}
		token := placeRE.FindString(string(r.up.Seen()[0].Body))
		for id, want := range map[string]string{"resp_1": ann, "resp_2": token} {
			a := r.call("POST", "/v1/responses", fmt.Sprintf(`{"model":"gpt-4o-mini","input":"repeat %s","previous_response_id":%q}`, token, id), r.inline(hideMail))
			if !strings.Contains(a.Text, `"to `+want+`"`) {
				t.Errorf("after %s: %d %s", id, a.StatusCode, a.Text)
			}
		}
	}
}

// A stored response that is read later has the values of the caller who created it, and of no other.
func TestReversibleRedaction_RestoresStoredResponses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.echo("/v1/responses", func(token string) upstream.Response {
		out := upstream.JSON(200, []byte(fmt.Sprintf(textSurfaces[2].response, "to "+token)))
		r.up.Handle("/v1/responses/resp_1", upstream.Always(out))
		return out
	})
	r.call("POST", "/v1/responses", `{"model":"gpt-4o-mini","input":"I am ann@example.com"}`, r.inline(hideMail))
	if a := r.call("GET", "/v1/responses/resp_1", "", r.inline(hideMail)); !strings.Contains(a.Text, `"to `+ann+`"`) {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	if a := r.call("GET", "/v1/responses/resp_1", "", r.inline(hideMail), "x-gateway-api-key: "+r.otherKey()); strings.Contains(a.Text, ann) {
		t.Errorf("another caller: %d %s", a.StatusCode, a.Text)
	}
	r.expectHidden(t, ann)
}

// A value of the instructions is hidden, but a caller who makes the model repeat its placeholder does not
// receive it, unless the caller sent it as well.
func TestReversibleRedaction_KeepsTheInstructionsHidden(t *testing.T) {
	t.Parallel()
	for user, want := range map[string]bool{"which address?": false, "is it ann@example.com?": true} {
		r := newRig(t)
		r.echo("/v1/chat/completions", func(token string) upstream.Response { return chatResponse("to " + token) })
		a := r.call("POST", "/v1/chat/completions", `{"model":"gpt-4o-mini","messages":[{"role":"system","content":"Mail ann@example.com"},{"role":"user","content":"`+user+`"}]}`, r.inline(hideMail))
		if strings.Contains(a.Text, ann) != want || !want && !placeRE.MatchString(a.Text) {
			t.Errorf("%s: %s", user, a.Text)
		}
		r.expectHidden(t, ann)
	}
}

// The cache stores placeholders. A hit has the values of the caller who asks.
func TestReversibleRedaction_CachesPlaceholders(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		r := newRig(t)
		r.echo("/v1/chat/completions", func(token string) upstream.Response { return chatResponse("to " + token) })
		config := r.inline(hideMail + "," + simpleCache)
		ask := func(who, status string) {
			t.Helper()
			body := fmt.Sprintf(`{"model":"gpt-4o-mini","stream":%v,"messages":[{"role":"user","content":"I am %s"}]}`, stream && status == "HIT", who)
			a := r.call("POST", "/v1/chat/completions", body, config)
			expectStatus(t, a, status)
			text := a.Text
			if stream && status == "HIT" {
				text = `"` + streamText(t, a.Text) + `"`
			}
			if !strings.Contains(text, `"to `+who+`"`) {
				t.Errorf("%s: %s", who, a.Text)
			}
		}
		ask(ann, "MISS")
		ask("bob@example.com", "MISS")
		ask(ann, "HIT")
		ask("bob@example.com", "HIT")
		r.expectHidden(t, ann)
	}
}

// Where an irreversible and a reversible redaction find the same text, it is not restored.
func TestReversibleRedaction_DoesNotUndoAnother(t *testing.T) {
	t.Parallel()
	for _, checks := range []string{
		`"a":{"id":"gateway.pii","categories":["EMAIL_ADDRESS"],"redact":"reversible"},"b":{"id":"regexReplace","rule":"/ann@[a-z.]+/g","redactText":"[GONE]"}`,
		`"a":{"id":"regexReplace","rule":"/am ann/g","redactText":"[GONE]"},"b":{"id":"gateway.pii","categories":["EMAIL_ADDRESS"],"redact":"reversible"}`,
	} {
		r := newRig(t)
		r.up.Handle("/v1/chat/completions", func(s upstream.Seen) *upstream.Response {
			out := chatResponse(strings.ReplaceAll(string(s.Body), `"`, "'"))
			return &out
		})
		a := r.call("POST", "/v1/chat/completions", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"I am ann@example.com!"}]}`, r.inline(`"input_guardrails":[{"id":"both",`+checks+`}]`))
		if a.StatusCode != 200 || strings.Contains(a.Text, "ann@e") || !strings.Contains(string(r.up.Seen()[0].Body), "[GONE]") {
			t.Errorf("%d %s, sent %s", a.StatusCode, a.Text, r.up.Seen()[0].Body)
		}
	}
}

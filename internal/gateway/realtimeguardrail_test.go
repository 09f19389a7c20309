package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/tenant"
)

// realtimeUpstream is a provider of realtime conversations that records what it receives. It responds to an
// event of type response.create with the events of its response, and to "bye" by closing. TOKEN_A and
// TOKEN_B in these events are the parts of the last placeholder that it received.
type realtimeUpstream struct {
	url      string
	received chan string
}

func newRealtimeUpstream(t *testing.T, response ...string) *realtimeUpstream {
	t.Helper()
	l := &realtimeUpstream{received: make(chan string, 64)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(1 << 20)
		fill := strings.NewReplacer()
		for {
			_, b, err := c.Read(r.Context())
			if err != nil {
				return
			}
			if token := placeRE.FindString(string(b)); token != "" {
				fill = strings.NewReplacer("TOKEN_A", token[:9], "TOKEN_B", token[9:])
			}
			if string(b) != ping {
				l.received <- string(b)
			}
			var head struct {
				Type       string `json:"type"`
				EventID    string `json:"event_id"`
				ResponseID string `json:"response_id"`
			}
			if json.Unmarshal(b, &head) != nil {
				continue
			}
			switch head.Type {
			case "response.create":
				for _, e := range response {
					_ = c.Write(r.Context(), websocket.MessageText, []byte(fill.Replace(e)))
				}
			case "response.cancel": // it had ended
				_ = c.Write(r.Context(), websocket.MessageText, []byte(`{"type":"error","error":{"type":"invalid_request_error","event_id":"`+head.EventID+`"}}`))
			case "ping":
				_ = c.Write(r.Context(), websocket.MessageText, []byte(pong))
			}
		}
	}))
	t.Cleanup(s.Close)
	l.url = s.URL
	return l
}

// all returns the events that the provider received so far.
func (l *realtimeUpstream) all() (out []string) {
	for {
		select {
		case e := <-l.received:
			out = append(out, e)
		default:
			return out
		}
	}
}

// ping is answered with pong. Neither is recorded.
const ping, pong = `{"type":"ping"}`, `{"type":"pong"}`

// exchangeEvents opens a conversation with a config, sends events, and returns what the client received. Two pings
// follow: what the gateway sends to the provider before the first pong arrives before the second ping.
func (r *rig) exchangeEvents(t *testing.T, l *realtimeUpstream, members string, events ...string) (got []string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	config := `{"provider":"openai","custom_host":"` + l.url + `/v1","api_key":"k"` + members + `}`
	c, _, err := r.socketTo(ctx, l.url, "/v1/realtime?model=gpt-realtime", "X-Gateway-Config: "+config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	c.SetReadLimit(1 << 20)
	for _, e := range append(events, ping) {
		if err := c.Write(ctx, websocket.MessageText, []byte(e)); err != nil {
			t.Fatal(err)
		}
	}
	for pongs := 0; pongs < 2; {
		_, b, err := c.Read(ctx)
		if err != nil {
			t.Fatalf("%v after %q", err, got)
		}
		if string(b) != pong {
			got = append(got, string(b))
			continue
		}
		if pongs++; pongs == 1 {
			if err := c.Write(ctx, websocket.MessageText, []byte(ping)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	return got
}

// clientTexts are events of a client with a text in each place where one can be.
var clientTexts = map[string]string{
	"instructions of the session":  `{"type":"session.update","event_id":"e1","session":{"type":"realtime","instructions":%q}}`,
	"description of a tool":        `{"type":"session.update","event_id":"e1","session":{"tools":[{"type":"function","name":"f","description":%q}]}}`,
	"parameter of a tool":          `{"type":"session.update","event_id":"e1","session":{"tools":[{"type":"function","name":"f","parameters":{"properties":{"a":{"description":%q}}}}]}}`,
	"prompt of the transcription":  `{"type":"session.update","event_id":"e1","session":{"audio":{"input":{"transcription":{"prompt":%q}}}}}`,
	"text of the user":             `{"type":"conversation.item.create","event_id":"e1","item":{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}}`,
	"text of the system":           `{"type":"conversation.item.create","event_id":"e1","item":{"type":"message","role":"system","content":[{"type":"input_text","text":%q}]}}`,
	"text of the assistant":        `{"type":"conversation.item.create","event_id":"e1","item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}}`,
	"result of a tool":             `{"type":"conversation.item.create","event_id":"e1","item":{"type":"function_call_output","call_id":"c","output":%q}}`,
	"instructions of the response": `{"type":"response.create","event_id":"e1","response":{"instructions":%q}}`,
	"input of the response":        `{"type":"response.create","event_id":"e1","response":{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"b"}]}]}}`,
	"event of another type":        `{"type":"conversation.item.replace","event_id":"e1","item":{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}}`,
}

func TestRealtime_DeniedEventsAreNotSentAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	for where, event := range clientTexts {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			r, l := newRig(t), newRealtimeUpstream(t)
			got := r.exchangeEvents(t, l, `,"input_guardrails":[{"id":"g1","deny":true,`+shorthandRule+`}]`, fmt.Sprintf(event, "a harmless text"), fmt.Sprintf(event, "a forbidden text"))
			if len(got) != 1 || !strings.Contains(got[0], `"type":"hooks_failed","code":"guardrail_denied"`) || !strings.Contains(got[0], `"event_id":"e1"`) || strings.Contains(got[0], "forbidden") {
				t.Errorf("the client got %q", got)
			}
			if sent := l.all(); len(sent) != 1 || sent[0] != fmt.Sprintf(event, "a harmless text") {
				t.Errorf("the provider got %q", sent)
			}
			if row := r.journal.one(t); row.Status != 101 || !strings.Contains(row.Hooks, `"deny":true`) {
				t.Errorf("record %d, hooks %s", row.Status, row.Hooks)
			}
		})
	}
}

func TestRealtime_SendsTheRedactedText(t *testing.T) {
	t.Parallel()
	for where, event := range clientTexts {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			r, l := newRig(t), newRealtimeUpstream(t)
			got := r.exchangeEvents(t, l, `,"input_mutators":[{"id":"m1","regexReplace":{"rule":"forbidden","redactText":"***"}}]`, fmt.Sprintf(event, "a forbidden text"))
			if sent := l.all(); len(got) != 0 || len(sent) != 1 || sent[0] != fmt.Sprintf(event, "a *** text") {
				t.Errorf("the client got %q, the provider %q", got, sent)
			}
		})
	}
}

// response returns the events of a response with a text, a transcript or arguments in two deltas.
func realtimeResponse(kind string, first, second string) []string {
	complete := quoted(first + second)
	delta := func(event, text string) string {
		return fmt.Sprintf(`{"type":"response.%s","response_id":"r1","item_id":"i1","output_index":0,"content_index":0,"delta":%s}`, event, quoted(text))
	}
	out := []string{
		`{"type":"response.created","response":{"id":"r1","status":"in_progress","output":[]}}`,
		`{"type":"response.output_item.added","response_id":"r1","output_index":0,"item":{"id":"i1","type":"message","role":"assistant","content":[]}}`,
	}
	var item string
	switch kind {
	case "text":
		item = `{"id":"i1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":` + complete + `}]}`
		out = append(out, delta("output_text.delta", first), delta("output_text.delta", second),
			`{"type":"response.output_text.done","response_id":"r1","item_id":"i1","content_index":0,"text":`+complete+`}`,
			`{"type":"response.content_part.done","response_id":"r1","item_id":"i1","content_index":0,"part":{"type":"output_text","text":`+complete+`}}`)
	case "transcript":
		item = `{"id":"i1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_audio","transcript":` + complete + `}]}`
		out = append(out, delta("output_audio.delta", "UklGRg=="), delta("output_audio_transcript.delta", first), delta("output_audio_transcript.delta", second),
			`{"type":"response.output_audio_transcript.done","response_id":"r1","item_id":"i1","content_index":0,"transcript":`+complete+`}`)
	case "arguments":
		first, second = `{"a":"`+first, second+`"}`
		complete = quoted(first + second)
		item = `{"id":"i1","type":"function_call","name":"f","call_id":"c","arguments":` + complete + `}`
		out = append(out, delta("function_call_arguments.delta", first), delta("function_call_arguments.delta", second),
			`{"type":"response.function_call_arguments.done","response_id":"r1","item_id":"i1","arguments":`+complete+`}`)
	}
	return append(out,
		`{"type":"conversation.item.done","item":`+item+`}`,
		`{"type":"response.output_item.done","response_id":"r1","output_index":0,"item":`+item+`}`,
		`{"type":"response.done","response":{"id":"r1","status":"completed","output":[`+item+`],"usage":{"total_tokens":140,"input_tokens":100,"output_tokens":40}}}`,
		`{"type":"conversation.item.retrieved","item":`+item+`}`)
}

func TestRealtime_ReleasesNothingOfADeniedResponse(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"text", "transcript", "arguments"} {
		for _, mode := range []string{"window", "hold"} {
			t.Run(kind+" "+mode, func(t *testing.T) {
				t.Parallel()
				r, l := newRig(t), newRealtimeUpstream(t, realtimeResponse(kind, "a for", "bidden text")...)
				got := strings.Join(r.exchangeEvents(t, l, `,"output_guardrails":[{"id":"g1","deny":true,"stream":"`+mode+`",`+shorthandRule+`}]`, asking), "\n")
				for _, leak := range []string{"bidden", "a for", "UklGRg", `"response_id":"r1","item_id"`} {
					if strings.Contains(got, leak) {
						t.Errorf("%q was released: %s", leak, got)
					}
				}
				for _, want := range []string{`"code":"guardrail_denied"`, `"status":"incomplete","output":[],"usage":{"total_tokens":140`, `"reason":"content_filter"`} {
					if !strings.Contains(got, want) {
						t.Errorf("the client lacks %s: %s", want, got)
					}
				}
				if strings.Count(got, `"type":"error"`) != 1 {
					t.Errorf("the error of the gateway's own event was relayed: %s", got)
				}
				sent := strings.Join(l.all(), "\n")
				if !strings.Contains(sent, `"type":"response.cancel"`) || !strings.Contains(sent, `"type":"conversation.item.delete"`) || !strings.Contains(sent, `"item_id":"i1"`) {
					t.Errorf("the provider got %s", sent)
				}
				if row := r.journal.one(t); !strings.Contains(row.Hooks, `"deny":true`) || row.Usage.TotalTokens != 140 {
					t.Errorf("usage %+v, hooks %s", row.Usage, row.Hooks)
				}
			})
		}
	}
}

func TestRealtime_ReplacesTextInEveryEventOfAResponse(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"text", "transcript", "arguments"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r, l := newRig(t), newRealtimeUpstream(t, realtimeResponse(kind, "a for", "bidden text")...)
			got := strings.Join(r.exchangeEvents(t, l, `,"output_mutators":[{"id":"m1","regexReplace":{"rule":"forbidden","redactText":"***"}}]`, asking), "\n")
			if strings.Contains(got, "bidden") || strings.Count(got, "a *** text") < 5 || strings.Contains(got, `"type":"error"`) {
				t.Errorf("the client got %s", got)
			}
		})
	}
}

func TestRealtime_BenignResponsesAreByteEqual(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"text", "transcript", "arguments"} {
		for _, mode := range []string{"window", "hold", "report"} {
			r := newRig(t)
			response := realtimeResponse(kind, "a harm", "less text")
			l := newRealtimeUpstream(t, response...)
			got := r.exchangeEvents(t, l, `,"output_guardrails":[{"id":"g1","deny":true,"stream":"`+mode+`",`+shorthandRule+`}]`, asking)
			if strings.Join(got, "\n") != strings.Join(response, "\n") {
				t.Errorf("%s %s: got\n%s\nwant\n%s", kind, mode, strings.Join(got, "\n"), strings.Join(response, "\n"))
			}
		}
	}
}

func TestRealtime_HooksThatReportChangeNothing(t *testing.T) {
	t.Parallel()
	r, response := newRig(t), realtimeResponse("text", "a for", "bidden text")
	l := newRealtimeUpstream(t, response...)
	got := r.exchangeEvents(t, l, `,"output_guardrails":[{"id":"g1","deny":true,"stream":"report",`+shorthandRule+`}]`, asking)
	if strings.Join(got, "\n") != strings.Join(response, "\n") {
		t.Errorf("got %q", got)
	}
	if row := r.journal.one(t); !strings.Contains(row.Hooks, `"verdict":false`) {
		t.Errorf("hooks %s", row.Hooks)
	}
}

// Audio is text that cannot be read: an enforced guardrail that denies refuses it unless the organisation
// permits it. Others let it pass, and the log shows that they skipped it.
func TestRealtime_AudioIsRefusedByEnforcedGuardrails(t *testing.T) {
	t.Parallel()
	const audioEvent = `{"type":"input_audio_buffer.append","event_id":"e1","audio":"UklGRg=="}`
	const part = `{"type":"conversation.item.create","event_id":"e1","item":{"type":"message","role":"user","content":[{"type":"input_audio","audio":"UklGRg=="}]}}`
	for name, c := range map[string]struct {
		enforced, permitted, refused bool
	}{"enforced": {true, false, true}, "permitted": {true, true, false}, "of the caller": {false, false, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, l := newRig(t), newRealtimeUpstream(t, realtimeResponse("transcript", "a harm", "less text")...)
			config := ""
			if c.enforced {
				r.save("g1", rule, guardrail.Actions{Deny: true})
				r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}, OutputGuardrails: []string{"g1"}}})
				r.dir.scope.PassUnreadable = c.permitted
			} else {
				config = `,"input_guardrails":[{"id":"g1","deny":true,` + shorthandRule + `}],"output_guardrails":[{"id":"g1","deny":true,` + shorthandRule + `}]`
			}
			got := strings.Join(r.exchangeEvents(t, l, config, audioEvent, part, asking), "\n")
			sent := strings.Join(l.all(), "\n")
			if strings.Contains(got, "UklGRg") == c.refused || strings.Contains(sent, "UklGRg") == c.refused {
				t.Errorf("the client got %s, the provider %s", got, sent)
			}
			if denials := strings.Count(got, "guardrail_denied"); (denials == 3) != c.refused {
				t.Errorf("%d denials: %s", denials, got)
			}
			if row := r.journal.one(t); strings.Contains(row.Hooks, `"skipped":true`) == c.refused {
				t.Errorf("hooks %s", row.Hooks)
			}
		})
	}
}

// Hooks that read no text refuse a conversation before the provider is called.
func TestRealtime_IsRefusedByHooksWithoutText(t *testing.T) {
	t.Parallel()
	r, l := newRig(t), newRealtimeUpstream(t)
	config := `{"provider":"openai","custom_host":"` + l.url + `/v1","api_key":"k","input_guardrails":[{"deny":true,"modelWhitelist":{"models":["gpt-4o-mini"]}}]}`
	_, resp, err := r.socketTo(t.Context(), l.url, "/v1/realtime?model=gpt-realtime", "X-Gateway-Config: "+config)
	if err == nil || resp == nil || resp.StatusCode != 446 {
		t.Errorf("got %v, %v, want 446", resp, err)
	}
}

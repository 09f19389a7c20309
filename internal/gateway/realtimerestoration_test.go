package gateway_test

import (
	"strings"
	"testing"

	"github.com/coder/websocket"

	"sluice/internal/test/upstream"
)

// userText returns an event with a text of the user.
func userText(text string) string {
	return `{"type":"conversation.item.create","event_id":"e1","item":{"type":"message","role":"user","content":[{"type":"input_text","text":` + quoted(text) + `}]}}`
}

// Every event of a response has the caller's value again, however the events cut its placeholder, also
// after an output guardrail that holds them. The provider and the log have the placeholder.
func TestRealtime_RestoresReversibleRedactions(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"text", "transcript", "arguments"} {
		for name, config := range map[string]string{
			"input hook alone": "", "with an output hook": `,"output_guardrails":[{"id":"see","deny":true,` + shorthandRule + `}]`,
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				r, l := newRig(t), newRealtimeUpstream(t, realtimeResponse(kind, "to TOKEN_A", "TOKEN_B or [EMAIL_ADDRESS_abcdef]")...)
				got := strings.Join(r.exchangeEvents(t, l, `,`+hideMail+config, userText("I am "+ann), asking), "\n")
				if strings.Count(got, "to "+ann+" or [EMAIL_ADDRESS_abcdef]") < 5 || strings.Count(got, "[EMAIL") != strings.Count(got, "_abcdef]") {
					t.Errorf("the client got %s", got)
				}
				if sent := strings.Join(l.all(), "\n"); strings.Contains(sent, ann) || !placeRE.MatchString(sent) {
					t.Errorf("the provider got %s", sent)
				}
				if row := r.journal.one(t); strings.Contains(recordedText(&row), ann) {
					t.Errorf("the record has %s", recordedText(&row))
				}
			})
		}
	}
}

// A value of one turn is restored in later turns of the WebSocket that send only its placeholder. Values of the instructions and of other callers stay hidden.
func TestRealtime_RestoresOnlyWhatTheCallerSent(t *testing.T) {
	t.Parallel()
	r, l := newRig(t), newRealtimeUpstream(t, realtimeResponse("text", "to TOKEN_A", "TOKEN_B today")...)
	r.exchangeEvents(t, l, `,`+hideMail, userText("I am "+ann))
	token := placeRE.FindString(strings.Join(l.all(), "\n"))
	const other = "bob@example.com"
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"in a later turn":         {[]string{userText("I am " + ann), asking, userText("repeat " + token), asking}, ann},
		"typed by another caller": {[]string{userText("repeat " + token), asking}, token},
		"with another value":      {[]string{userText("I am " + other), userText("repeat " + token), asking}, token},
		"only in the instruction": {[]string{`{"type":"session.update","session":{"type":"realtime","instructions":"Hide ` + ann + `"}}`, asking}, token},
	} {
		got := strings.Join(r.exchangeEvents(t, l, `,`+hideMail, c.events...), "\n")
		last := got[strings.LastIndex(got, `"response.output_item.done"`):]
		if !strings.Contains(last, `"to `+c.want+` today"`) {
			t.Errorf("%s: the client got %s", name, got)
		}
	}
}

// A later call of the trace restores what the caller sent on a WebSocket.
func TestRealtime_KeepsValuesForItsTrace(t *testing.T) {
	t.Parallel()
	r, l := newRig(t), newRealtimeUpstream(t)
	config := `X-Gateway-Config: {"provider":"openai","custom_host":"` + l.url + `/v1","api_key":"k",` + hideMail + `}`
	c, _, err := r.socketTo(t.Context(), l.url, "/v1/realtime?model=gpt-realtime", config, "X-Gateway-Trace-Id: t1")
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	for _, e := range []string{userText("I am " + ann), ping} {
		if err := c.Write(t.Context(), websocket.MessageText, []byte(e)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := c.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Fatal(err)
	}
	r.journal.one(t) // it has ended
	token := placeRE.FindString(strings.Join(l.all(), "\n"))
	r.echo("/v1/chat/completions", func(token string) upstream.Response { return chatResponse("to " + token) })
	for trace, want := range map[string]string{"t1": ann, "t2": token} {
		body := `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"repeat ` + token + `"}]}`
		if a := r.call("POST", "/v1/chat/completions", body, r.inline(hideMail), "x-gateway-trace-id: "+trace); !strings.Contains(a.Text, `"to `+want+`"`) {
			t.Errorf("trace %s: %s", trace, a.Text)
		}
	}
}

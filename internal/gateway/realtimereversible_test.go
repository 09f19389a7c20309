package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// repeatingProvider is a provider of realtime conversations. Its responses repeat the instructions and
// the texts of the items that it received on the same connection.
type repeatingProvider struct {
	url  string
	kind string // of its responses: "text", "transcript" or "arguments"

	mu       sync.Mutex
	received []string // all events
}

func newRepeatingProvider(t *testing.T, kind string) *repeatingProvider {
	t.Helper()
	p := &repeatingProvider{kind: kind}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(1 << 20)
		p.serve(r.Context(), c)
	}))
	t.Cleanup(s.Close)
	p.url = s.URL
	return p
}

func (p *repeatingProvider) serve(ctx context.Context, c *websocket.Conn) {
	var texts []string
	for {
		_, b, err := c.Read(ctx)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.received = append(p.received, string(b))
		p.mu.Unlock()
		var e struct {
			Type    string
			Session struct{ Instructions string }
			Item    struct{ Content []struct{ Text string } }
		}
		if json.Unmarshal(b, &e) != nil {
			continue
		}
		switch e.Type {
		case "session.update":
			texts = append(texts, e.Session.Instructions)
		case "conversation.item.create":
			for _, part := range e.Item.Content {
				texts = append(texts, part.Text)
			}
		case "response.create":
			text := strings.Join(texts, ", ")
			cut := len(text) - 3 // a placeholder is cut over two deltas
			for _, out := range realtimeResponse(p.kind, text[:cut], text[cut:]) {
				_ = c.Write(ctx, websocket.MessageText, []byte(out))
			}
		}
	}
}

// placeholder returns the placeholder that the provider received for a turn which begins so.
func (p *repeatingProvider) placeholder(t *testing.T, beginning string) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.received {
		if _, rest, ok := strings.Cut(e, beginning); ok {
			return placeRE.FindString(rest)
		}
	}
	t.Fatalf("the provider received no %q: %q", beginning, p.received)
	return ""
}

// dialogue is a realtime conversation of a caller.
type dialogue struct {
	t   *testing.T
	ctx context.Context
	c   *websocket.Conn
}

// converseHiding opens a conversation under reversible redaction.
func (r *rig) converseHiding(t *testing.T, p *repeatingProvider, members string, headers ...string) *dialogue {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(stop)
	config := `X-Gateway-Config: {"provider":"openai","custom_host":"` + p.url + `/v1","api_key":"k",` + hideMail + members + `}`
	c, _, err := r.socketTo(ctx, p.url, "/v1/realtime?model=gpt-realtime", append(headers, config)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.CloseNow() })
	c.SetReadLimit(1 << 20)
	return &dialogue{t, ctx, c}
}

func (k *dialogue) send(event string) {
	k.t.Helper()
	if err := k.c.Write(k.ctx, websocket.MessageText, []byte(event)); err != nil {
		k.t.Fatal(err)
	}
}

// turn sends a text of the user and returns the events of the response.
func (k *dialogue) turn(text string) string {
	k.t.Helper()
	k.send(fmt.Sprintf(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}}`, text))
	k.send(asking)
	var b strings.Builder
	for !strings.Contains(b.String(), "conversation.item.retrieved") {
		_, e, err := k.c.Read(k.ctx)
		if err != nil {
			k.t.Fatalf("%v after %s", err, b.String())
		}
		b.Write(append(e, '\n'))
	}
	return b.String()
}

// expectTexts checks that each event with text has all of some texts and none of others.
func expectTexts(t *testing.T, got string, with, without []string) {
	t.Helper()
	for _, text := range with {
		if n := strings.Count(got, text); n < 5 {
			t.Errorf("%q is in %d events: %s", text, n, got)
		}
	}
	for _, text := range without {
		if strings.Contains(got, text) {
			t.Errorf("%q was sent to the client: %s", text, got)
		}
	}
}

// On one WebSocket, the values that the client itself sent are restored in every event of later turns,
// also after a turn with only their placeholder. A value of the instructions stays hidden, and a
// look-alike stays as it is.
func TestRealtime_RestoresTheValuesOfItsOwnConversation(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"text", "transcript", "arguments"} {
		for name, members := range map[string]string{
			"alone":                        ``,
			"with a hook that decides":     `,"output_guardrails":[{"id":"see","deny":true,"contains":{"words":["ann@"],"operator":"none"}}]`,
			"with a hook that reports":     `,"output_guardrails":[{"id":"see","deny":true,"stream":"report","contains":{"words":["ann@"],"operator":"none"}}]`,
			"with an asynchronous hook":    `,"output_guardrails":[{"id":"see","async":true,"contains":{"words":["ann@"],"operator":"none"}}]`,
			"with a redaction of the rest": `,"output_mutators":[{"id":"m","regexReplace":{"rule":"please","redactText":"***"}}]`,
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				r, p := newRig(t), newRepeatingProvider(t, kind)
				k := r.converseHiding(t, p, members)
				k.send(`{"type":"session.update","session":{"type":"realtime","instructions":"Mail boss@example.com"}}`)
				first := k.turn("I am " + ann + " and not [EMAIL_ADDRESS_abcdef]")
				token, hidden := p.placeholder(t, "I am "), p.placeholder(t, "Mail ")
				expectTexts(t, first, []string{"I am " + ann + " and not [EMAIL_ADDRESS_abcdef]", "Mail " + hidden}, []string{token, "boss@"})
				second := k.turn("repeat " + token + " and " + hidden)
				expectTexts(t, second, []string{"repeat " + ann + " and " + hidden}, []string{token, "boss@"})
				third := k.turn("it is boss@example.com")
				expectTexts(t, third, []string{"it is boss@example.com"}, []string{token, hidden})
				if sent := strings.Join(p.received, "\n"); strings.Contains(sent, "@example.com") {
					t.Errorf("the provider received %s", sent)
				}
				if err := k.c.Close(websocket.StatusNormalClosure, ""); err != nil {
					t.Error(err)
				}
				if row := r.journal.one(t); strings.Contains(recordedText(&row), "@example.com") {
					t.Errorf("the record has %s", recordedText(&row))
				}
			})
		}
	}
}

// A placeholder of one conversation is a plain text in each other one, whoever holds it: another caller
// at the same time, or the same caller on a second WebSocket. A trace joins those of one caller.
func TestRealtime_RestoresNoValueOfAnotherConversation(t *testing.T) {
	t.Parallel()
	r, p := newRig(t), newRepeatingProvider(t, "text")
	other := "X-Gateway-Api-Key: " + r.otherKey()
	const trace = "X-Gateway-Trace-Id: t1"
	k := r.converseHiding(t, p, "", trace)
	k.turn("I am " + ann)
	token := p.placeholder(t, "I am ")
	closed := 0
	for name, headers := range map[string][]string{"the same caller": nil, "another caller": {other}, "another caller in the trace": {other, trace}} {
		t.Run(name, func(t *testing.T) {
			second := r.converseHiding(t, p, "", headers...)
			got := second.turn("bob@example.com asks for " + token)
			expectTexts(t, got, []string{"bob@example.com asks for " + token}, []string{ann})
			if err := second.c.Close(websocket.StatusNormalClosure, ""); err != nil {
				t.Fatal(err)
			}
			closed++
			r.journal.some(t, closed) // its values are stored
		})
	}
	if err := k.c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Fatal(err)
	}
	r.journal.some(t, closed+1)
	later := r.converseHiding(t, p, "", trace)
	expectTexts(t, later.turn("once more "+token), []string{"once more " + ann}, nil)
}

// Two callers at the same time each get their own values.
func TestRealtime_RestoresOwnValuesOfConcurrentCallers(t *testing.T) {
	t.Parallel()
	r, p := newRig(t), newRepeatingProvider(t, "text")
	dialogues := map[string]*dialogue{"ann": r.converseHiding(t, p, ""), "bob": r.converseHiding(t, p, "", "X-Gateway-Api-Key: "+r.otherKey())}
	var all sync.WaitGroup
	for name, k := range dialogues {
		all.Go(func() {
			for i := range 10 {
				mail := fmt.Sprintf("%s%d@example.com", name, i)
				got := k.turn("mail " + mail)
				if n := strings.Count(got, mail); n < 5 || placeRE.MatchString(got) {
					t.Errorf("%s: %s", mail, got)
				}
			}
		})
	}
	all.Wait()
}

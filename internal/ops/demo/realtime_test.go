package demo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/ops/demo"
)

// A conversation: the session is told of and changed, items are repeated, and the
// answer echoes the last text with its usage. What is no event gets an error.
func TestRealtime(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ws, res, err := websocket.Dial(ctx, p.url+"/v1/realtime?model=demo-realtime", &websocket.DialOptions{Subprotocols: []string{"realtime", "openai-beta.realtime-v1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	if res.Header.Get("Sec-WebSocket-Protocol") != "realtime" {
		t.Errorf("protocol %s", res.Header)
	}
	steps := []struct {
		send string
		want []string // types of the events that come
		has  string   // in the last of them
	}{
		{"", []string{"session.created"}, `"model":"demo-realtime"`},
		{`{"type":"session.update","session":{"instructions":"be kind","id":"mine"}}`, []string{"session.updated"}, `"id":"sess_demo","instructions":"be kind"`},
		{`{"type":"conversation.item.create","item":{"id":"i1","type":"message","role":"user","content":[{"type":"input_text","text":"hello there"}]}}`, []string{"conversation.item.created"}, `"id":"i1"`},
		{`{"type":"response.create"}`, append(append([]string{"response.created"}, repeat("response.output_text.delta", 11)...), "response.output_text.done", "response.done"), `"total_tokens":13`},
		{`{"type":"conversation.item.delete","item_id":"i1"}`, []string{"conversation.item.deleted"}, `"item_id":"i1"`},
		{`{"type":"no.such"}`, []string{"error"}, `no.such`},
		{`not JSON`, []string{"error"}, `invalid_request_error`},
	}
	ids := map[string]bool{}
	for _, s := range steps {
		if s.send != "" {
			if err := ws.Write(ctx, websocket.MessageText, []byte(s.send)); err != nil {
				t.Fatal(err)
			}
		}
		var text strings.Builder
		for i, want := range s.want {
			_, b, err := ws.Read(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var e struct {
				Type, Delta, Text string
				ID                string `json:"event_id"`
			}
			if err := json.Unmarshal(b, &e); err != nil || e.Type != want || e.ID == "" || ids[e.ID] {
				t.Fatalf("%v: %s, want a fresh %s", err, b, want)
			}
			ids[e.ID] = true
			text.WriteString(e.Delta)
			if e.Text != "" && e.Text != text.String() {
				t.Errorf("pieces %q of %q", text.String(), e.Text)
			}
			if i == len(s.want)-1 && !strings.Contains(string(b), s.has) {
				t.Errorf("no %s in %s", s.has, b)
			}
		}
	}
	if err := ws.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Error(err)
	}
}

func repeat(s string, n int) []string {
	return strings.Fields(strings.Repeat(s+" ", n))
}

// Messages over the limit end the conversation.
func TestRealtimeLimit(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, p.url+"/v1/realtime?model=m", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	_ = ws.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"type":%q}`, strings.Repeat("x", 2<<20)))
	for err == nil {
		_, _, err = ws.Read(ctx)
	}
	if websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("ended by %v", err)
	}
}

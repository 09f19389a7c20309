package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// realtimeIdle is how long a silent realtime connection remains open.
const realtimeIdle = 5 * time.Minute

// realtimeEvent contains the fields of a client's event that the script reads.
type realtimeEvent struct {
	Type    string         `json:"type"`
	ItemID  string         `json:"item_id"`
	Session map[string]any `json:"session"`
	Item    struct {
		ID      string  `json:"id"`
		Type    string  `json:"type"`
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"item"`
}

// conversation is one realtime connection. It belongs to its handler.
type conversation struct {
	conn  *websocket.Conn
	model string
	sent  int
	turns []message // the newest maxTurns
}

// realtime serves a WebSocket: it sends the session, repeats received items, and responds to
// response.create with the echo of the last text and its usage.
// Source: https://platform.openai.com/docs/api-reference/realtime, read 2026-11.
func realtime(w http.ResponseWriter, r *http.Request) error {
	name := r.URL.Query().Get("model")
	if name == "" {
		return badParam("model", "you must provide a model parameter")
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"realtime"}, InsecureSkipVerify: true})
	if err != nil {
		return nil // Accept has sent the response
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(maxMessage)
	c := &conversation{conn: conn, model: name}
	c.run(r.Context())
	return nil
}

// run serves until the client disconnects, is silent too long or cannot be written to.
func (c *conversation) run(ctx context.Context) {
	err := c.send(ctx, "session.created", map[string]any{"session": c.session(nil)})
	for err == nil {
		var ev realtimeEvent
		if ev, err = c.receive(ctx); err == nil {
			err = c.handle(ctx, ev)
		}
	}
}

// receive reads the next event; an unreadable one has no type.
func (c *conversation) receive(ctx context.Context) (ev realtimeEvent, err error) {
	ctx, cancel := context.WithTimeout(ctx, realtimeIdle)
	defer cancel()
	_, b, err := c.conn.Read(ctx)
	if err != nil || json.Unmarshal(b, &ev) != nil {
		return realtimeEvent{}, err
	}
	return ev, nil
}

func (c *conversation) handle(ctx context.Context, ev realtimeEvent) error {
	switch ev.Type {
	case "session.update":
		return c.send(ctx, "session.updated", map[string]any{"session": c.session(ev.Session)})
	case "conversation.item.create":
		return c.addItem(ctx, ev)
	case "conversation.item.delete":
		return c.send(ctx, "conversation.item.deleted", map[string]any{"item_id": ev.ItemID})
	case "response.create":
		return c.respond(ctx)
	}
	detail := map[string]any{"type": "invalid_request_error", "code": "invalid_value", "message": fmt.Sprintf("Invalid value: %q", ev.Type), "param": "type", "event_id": nil}
	return c.send(ctx, "error", map[string]any{"error": detail})
}

// session returns the session object: the default fields, then those that the client set.
func (c *conversation) session(set map[string]any) map[string]any {
	s := map[string]any{"type": "realtime", "output_modalities": []string{"text"}}
	for k, v := range set {
		s[k] = v
	}
	s["id"], s["object"], s["model"] = "sess_demo", "realtime.session", c.model
	return s
}

func (c *conversation) addItem(ctx context.Context, ev realtimeEvent) error {
	c.turns = append(c.turns, message{Role: ev.Item.Role, Content: ev.Item.Content})
	c.turns = c.turns[max(0, len(c.turns)-maxTurns):]
	id := orElse(ev.Item.ID, fmt.Sprintf("item_demo_%d", c.sent))
	return c.send(ctx, "conversation.item.created", map[string]any{"item": realtimeItem(id, ev.Item.Role, "input_text", string(ev.Item.Content))})
}

func realtimeItem(id, role, kind, echoed string) map[string]any {
	return map[string]any{
		"id": id, "object": "realtime.item", "type": "message", "status": "completed", "role": role,
		"content": []map[string]any{{"type": kind, "text": echoed}},
	}
}

// respond echoes the last text: created, a delta for each word, done.
func (c *conversation) respond(ctx context.Context) error {
	q := chatRequest{Model: c.model, Messages: c.turns}
	echoed := q.echo()
	id, itemID := fmt.Sprintf("resp_demo_%d", c.sent), fmt.Sprintf("item_demo_%d", c.sent)
	response := map[string]any{"id": id, "object": "realtime.response", "status": "in_progress", "output": []any{}, "usage": nil}
	err := c.send(ctx, "response.created", map[string]any{"response": response})
	event := func(more map[string]any) map[string]any {
		more["response_id"], more["item_id"], more["output_index"], more["content_index"] = id, itemID, 0, 0
		return more
	}
	for _, p := range textChunks(echoed) {
		if err == nil {
			err = c.send(ctx, "response.output_text.delta", event(map[string]any{"delta": p}))
		}
	}
	if err == nil {
		err = c.send(ctx, "response.output_text.done", event(map[string]any{"text": echoed}))
	}
	if err != nil {
		return err
	}
	inputTokens, out := q.tokens(), Tokens(echoed)
	response["status"] = "completed"
	response["output"] = []any{realtimeItem(itemID, "assistant", "output_text", echoed)}
	response["usage"] = map[string]any{
		"total_tokens": inputTokens + out, "input_tokens": inputTokens, "output_tokens": out,
		"input_token_details":  map[string]any{"text_tokens": inputTokens, "audio_tokens": 0, "cached_tokens": 0},
		"output_token_details": map[string]any{"text_tokens": out, "audio_tokens": 0},
	}
	return c.send(ctx, "response.done", map[string]any{"response": response})
}

// send numbers and writes one event.
func (c *conversation) send(ctx context.Context, kind string, members map[string]any) error {
	members["type"], members["event_id"] = kind, fmt.Sprintf("event_demo_%d", c.sent)
	c.sent++
	b, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return c.conn.Write(ctx, websocket.MessageText, b)
}

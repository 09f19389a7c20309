package screening

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/gateway/realtime"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// Judge runs the guardrails of one conversation. Two goroutines call it, one for each side. The errors
// of its methods end the conversation.
type Judge interface {
	// Event judges an event of the client. The body of the verdict is the event to send instead.
	Event(ctx context.Context, event []byte) (Verdict, error)
	// Output judges text of the provider in the form of a Responses response:
	// {"output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}.
	Output(ctx context.Context, body []byte) (Verdict, error)
	// Audio returns the reason why audio is refused in a direction; empty if it passes. Audio is text
	// that cannot be read.
	Audio(p guardrail.Phase) string
	// Mode reports whether Output decides about the text, and whether it reads it at all.
	Mode() (decides, reads bool)
}

// Verdict is what guardrails decided.
type Verdict struct {
	Denied  bool
	Message string // of the denial
	Body    []byte // the changed body; nil if nothing changed
}

// Limits of a conversation. (ours)
const (
	maxHeldBytes   = 16 << 20 // of events that wait for their verdict, and of texts that have one
	maxDeniedItems = 4096     // whose text must stay hidden; the conversation ends with the next
)

// Screen judges the events of one conversation. It implements realtime.Guard: one goroutine may call
// FromClient and another one FromProvider.
type Screen struct {
	judge  Judge
	prefix string // of the ids of the events that the gateway sends
	count  atomic.Int64

	// The fields below belong to the goroutine of FromProvider.
	open       map[string]*heldItem // items whose text is not judged yet, by id
	heldBytes  int
	known      map[string]string // judged texts of the current response, with what replaces them
	knownBytes int
	responses  map[string]bool // denied responses that have not ended, by id
	items      map[string]bool // denied items, by id
	deletions  []string        // denied items to delete at the provider after their response
}

// heldItem are the events of an item in their order.
type heldItem struct {
	response string
	events   [][]byte
}

// New returns the screen of a conversation. id is unique: the id of its request.
func New(j Judge, id string) *Screen {
	return &Screen{
		judge: j, prefix: "gateway_" + id + "_", open: make(map[string]*heldItem), known: make(map[string]string),
		responses: make(map[string]bool), items: make(map[string]bool),
	}
}

// FromClient implements realtime.Guard. A denied event is not sent: its client gets an error event, and
// the conversation goes on.
func (s *Screen) FromClient(ctx context.Context, event []byte) (realtime.Passed, error) {
	if hasAudio(event) {
		if why := s.judge.Audio(guardrail.Input); why != "" {
			return s.refused(why, jsonedit.Text(event, "event_id")), nil
		}
	}
	if texts, err := passage.RequestShape(passage.Realtime, event); err == nil && len(texts.Passages()) == 0 {
		return realtime.Passed{Up: [][]byte{event}}, nil
	}
	v, err := s.judge.Event(ctx, event)
	switch {
	case err != nil:
		return realtime.Passed{}, err
	case v.Denied:
		return s.refused(v.Message, jsonedit.Text(event, "event_id")), nil
	case v.Body != nil:
		event = v.Body
	}
	return realtime.Passed{Up: [][]byte{event}}, nil
}

// refused returns the error event of a denial. about is the id of the denied event; empty for none.
func (s *Screen) refused(message, about string) realtime.Passed {
	out := append([]byte(`{"type":"error","event_id":`), jsonedit.Quote(s.nextID())...)
	out = append(append(out, `,"error":{"type":"hooks_failed","code":"guardrail_denied","message":`...), jsonedit.Quote(message)...)
	out = append(out, `,"param":null,"event_id":`...)
	if about == "" {
		out = append(out, "null"...)
	} else {
		out = append(out, jsonedit.Quote(about)...)
	}
	return realtime.Passed{Down: [][]byte{append(out, "}}"...)}}
}

func (s *Screen) nextID() string { return s.prefix + strconv.FormatInt(s.count.Add(1), 10) }

// FromProvider implements realtime.Guard.
func (s *Screen) FromProvider(ctx context.Context, event []byte) (realtime.Passed, error) {
	decides, reads := s.judge.Mode()
	if !reads {
		return pass(event), nil
	}
	e := readHead(event)
	switch {
	case e.kind == "error" && strings.HasPrefix(jsonedit.Text(event, "error", "event_id"), s.prefix):
		return realtime.Passed{}, nil // an event of the gateway came too late
	case s.responses[e.response], s.items[e.item]:
		return s.afterDenial(&e), nil
	case e.ofClient:
		return pass(event), nil
	}
	if hasAudio(event) || e.isAudio() {
		if why := s.judge.Audio(guardrail.Output); why != "" {
			return s.deny(&e, why)
		}
	}
	var out realtime.Passed
	if !decides {
		out = pass(event)
	}
	released, err := s.hold(ctx, &e, decides)
	if decides {
		out = released
	}
	return out, err
}

func pass(event []byte) realtime.Passed { return realtime.Passed{Down: [][]byte{event}} }

// hold keeps an event until the text of its item is complete, and returns what the verdict releases.
func (s *Screen) hold(ctx context.Context, e *head, decides bool) (realtime.Passed, error) {
	switch {
	case e.kind == "response.done":
		return s.release(ctx, e, s.take(func(_ string, i *heldItem) bool { return i.response == e.response }))
	case e.endsItem():
		return s.release(ctx, e, s.take(func(id string, _ *heldItem) bool { return id == e.item }))
	case e.isAudio() && !decides:
		return realtime.Passed{}, nil
	case e.isDelta(), s.open[e.item] != nil:
	default:
		return s.release(ctx, e, nil)
	}
	if s.heldBytes += len(e.event); s.heldBytes > maxHeldBytes {
		if !decides {
			s.take(func(string, *heldItem) bool { return true })
			return realtime.Passed{}, nil
		}
		return s.deny(e, "the response is too large to be judged by the guardrails")
	}
	i := s.open[e.item]
	if i == nil {
		i = &heldItem{response: e.response}
		s.open[e.item] = i
	}
	i.events = append(i.events, e.event)
	return realtime.Passed{}, nil
}

// take removes held items and returns their events.
func (s *Screen) take(selects func(id string, i *heldItem) bool) [][]byte {
	var out [][]byte
	for id, i := range s.open {
		if !selects(id, i) {
			continue
		}
		for _, e := range i.events {
			s.heldBytes -= len(e)
		}
		out = append(out, i.events...)
		delete(s.open, id)
	}
	return out
}

// release judges the texts of held events and of the event that completes them, and returns the events
// as the verdict leaves them.
func (s *Screen) release(ctx context.Context, e *head, held [][]byte) (realtime.Passed, error) {
	g := newTexts(append(held, e.event))
	if body := g.unjudged(s.known); body != nil {
		v, err := s.judge.Output(ctx, body)
		if err != nil {
			return realtime.Passed{}, err
		}
		if v.Denied {
			return s.deny(e, v.Message)
		}
		if !g.note(s, v.Body) {
			return s.deny(e, "a guardrail changed the response to one that the gateway cannot send as events")
		}
	}
	out := realtime.Passed{Down: g.rewritten(s.known)}
	if e.kind == "response.done" || s.knownBytes > maxHeldBytes {
		clear(s.known)
		s.knownBytes = 0
	}
	return out, nil
}

// deny ends the response of an event: nothing more of it is released.
func (s *Screen) deny(e *head, why string) (realtime.Passed, error) {
	out := s.refused(why, "")
	if e.item != "" {
		if len(s.items) == maxDeniedItems {
			return out, fault.Newf(fault.GuardrailDenied, "the guardrails denied more than %d items of this conversation", maxDeniedItems)
		}
		s.items[e.item] = true
		s.deletions = append(s.deletions, e.item)
	}
	if e.response == "" {
		s.take(func(id string, _ *heldItem) bool { return id == e.item })
		return out, nil
	}
	s.responses[e.response] = true
	for id, i := range s.open {
		if i.response == e.response && len(s.items) < maxDeniedItems {
			s.items[id] = true
			s.deletions = append(s.deletions, id)
		}
	}
	s.take(func(_ string, i *heldItem) bool { return i.response == e.response })
	if e.kind == "response.done" {
		for item := range jsonedit.Elements(e.output()) {
			if id := jsonedit.Text(item, "id"); id != "" && len(s.items) < maxDeniedItems {
				s.items[id] = true
				s.deletions = append(s.deletions, id)
			}
		}
		after := s.afterDenial(e)
		return realtime.Passed{Up: after.Up, Down: append(out.Down, after.Down...)}, nil
	}
	cancel := append(append([]byte(`{"type":"response.cancel","event_id":`), jsonedit.Quote(s.nextID())...), `,"response_id":`...)
	out.Up = [][]byte{append(append(cancel, jsonedit.Quote(e.response)...), '}')}
	return out, nil
}

// afterDenial returns what follows of a denied response: its end, without text. Its items are deleted
// at the provider, so that later responses do not continue from them.
func (s *Screen) afterDenial(e *head) (out realtime.Passed) {
	if e.kind != "response.done" {
		return out
	}
	delete(s.responses, e.response)
	for _, id := range s.deletions {
		gone := append(append([]byte(`{"type":"conversation.item.delete","event_id":`), jsonedit.Quote(s.nextID())...), `,"item_id":`...)
		out.Up = append(out.Up, append(append(gone, jsonedit.Quote(id)...), '}'))
	}
	s.deletions = s.deletions[:0]
	if ended := e.filtered(); ended != nil {
		out.Down = [][]byte{ended}
	}
	return out
}

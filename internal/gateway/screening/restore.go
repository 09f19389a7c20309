package screening

import (
	"context"
	"strings"

	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/gateway/realtime"
	"sluice/internal/kernel/jsonedit"
)

// Restorer restores what reversible redaction hid in the events that the client receives. It implements
// realtime.Guard around another one: one goroutine may call FromClient and another one FromProvider.
// Create one with NewRestorer.
type Restorer struct {
	guard    realtime.Guard
	vault    *placeholder.Vault
	complete func(event []byte) []byte

	// The fields below belong to the goroutine of FromProvider.
	channels map[channel]*restoredText // texts that are not complete
}

var _ realtime.Guard = (*Restorer)(nil)

// maxChannels is the number of texts of a conversation that are restored at the same time. (ours)
const maxChannels = 1024

// NewRestorer returns a guard that restores the values of a vault in what another guard passes to the
// client. complete restores an event that contains complete texts.
func NewRestorer(guard realtime.Guard, v *placeholder.Vault, complete func(event []byte) []byte) *Restorer {
	return &Restorer{guard: guard, vault: v, complete: complete, channels: make(map[channel]*restoredText)}
}

// FromClient implements realtime.Guard.
func (r *Restorer) FromClient(ctx context.Context, event []byte) (realtime.Passed, error) {
	return r.guard.FromClient(ctx, event)
}

// FromProvider implements realtime.Guard.
func (r *Restorer) FromProvider(ctx context.Context, event []byte) (realtime.Passed, error) {
	passed, err := r.guard.FromProvider(ctx, event)
	if err != nil || r.vault.Len() == 0 {
		return passed, err
	}
	down := make([][]byte, 0, len(passed.Down))
	for _, e := range passed.Down {
		down = r.restore(down, e)
	}
	passed.Down = down
	return passed, nil
}

// restore appends what the client receives in place of an event.
func (r *Restorer) restore(out [][]byte, event []byte) [][]byte {
	e := readHead(event)
	switch {
	case e.isAudio():
		return append(out, event)
	case e.isDelta():
		return r.restoreDelta(out, &e)
	}
	return append(r.flush(out, &e), r.complete(event))
}

// restoreDelta restores a part of a text. Reasoning stays: clients send it back.
func (r *Restorer) restoreDelta(out [][]byte, e *head) [][]byte {
	fragment := jsonedit.Text(e.event, "delta")
	if fragment == "" || strings.Contains(e.kind, "reasoning") {
		return append(out, e.event)
	}
	c := channelOf(e.kind, e.event)
	t := r.channels[c]
	if t == nil {
		if len(r.channels) == maxChannels {
			return append(out, e.event)
		}
		t = &restoredText{response: e.response, stream: r.vault.Stream(e.format())}
		r.channels[c] = t
	}
	return t.feed(out, e.event, fragment)
}

// format returns how values appear in the text of a delta.
func (e *head) format() placeholder.Channel {
	if strings.Contains(e.kind, "arguments") {
		return placeholder.JSON
	}
	return placeholder.Plain
}

// flush ends the texts to which an event belongs, and appends what was held of them.
func (r *Restorer) flush(out [][]byte, e *head) [][]byte {
	for c, t := range r.channels {
		if c.item == e.item && e.item != "" || e.kind == "response.done" && t.response == e.response {
			out = t.close(out)
			delete(r.channels, c)
		}
	}
	return out
}

// restoredText is a text that arrives in events. Events whose text ends in what may be the start of a
// placeholder are held, and sent unchanged if it is none.
type restoredText struct {
	response string
	stream   *placeholder.Stream
	held     []heldDelta
	ready    string // restored text of the held events: equal to the start of their text
}

// heldDelta is an event with a fragment of a text.
type heldDelta struct {
	event    []byte
	fragment string
}

// feed appends the events that can be sent after another one with a fragment of the text.
func (t *restoredText) feed(out [][]byte, event []byte, fragment string) [][]byte {
	t.held = append(t.held, heldDelta{event, fragment})
	t.ready += t.stream.Feed(fragment)
	text := ""
	for _, h := range t.held {
		text += h.fragment
	}
	done, rest := text[:len(text)-t.stream.Held()], text[len(text)-t.stream.Held():]
	if t.ready != done {
		out = append(out, withDelta(t.held[0].event, t.ready))
		t.held, t.ready = t.held[:0], ""
		if rest != "" {
			t.held = append(t.held, heldDelta{withDelta(event, rest), rest})
		}
		return out
	}
	for len(t.held) > 0 && len(t.held[0].fragment) <= len(t.ready) {
		out = append(out, t.held[0].event)
		t.held, t.ready = t.held[1:], t.ready[len(t.held[0].fragment):]
	}
	return out
}

// close appends the events that are held.
func (t *restoredText) close(out [][]byte) [][]byte {
	for _, h := range t.held {
		out = append(out, h.event)
	}
	return out
}

// withDelta returns an event with another fragment of its text.
func withDelta(event []byte, text string) []byte {
	return applied(event, jsonedit.Set("delta", jsonedit.Quote(text)))
}

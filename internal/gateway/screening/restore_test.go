package screening_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/gateway/realtime"
	"sluice/internal/gateway/screening"
)

// openGuard passes every event.
type openGuard struct{}

func (openGuard) FromClient(_ context.Context, event []byte) (realtime.Passed, error) {
	return realtime.Passed{Up: [][]byte{event}}, nil
}

func (openGuard) FromProvider(_ context.Context, event []byte) (realtime.Passed, error) {
	return realtime.Passed{Down: [][]byte{event}}, nil
}

// delta is an event with a fragment of a text.
type delta struct {
	Type     string `json:"type"`
	Response string `json:"response_id"`
	Item     string `json:"item_id"`
	Delta    string `json:"delta"`
}

type failer interface {
	Helper()
	Fatal(args ...any)
}

func (d delta) event(t failer) []byte {
	t.Helper()
	out, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// restored sends deltas and the end of their item through a restorer, and returns the events that the
// client receives.
func restored(t failer, v *placeholder.Vault, deltas ...delta) (out [][]byte) {
	t.Helper()
	r := screening.NewRestorer(openGuard{}, v, func(event []byte) []byte { return event })
	send := func(event []byte) {
		passed, err := r.FromProvider(context.Background(), event)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, passed.Down...)
	}
	for _, d := range deltas {
		send(d.event(t))
	}
	send([]byte(itemEnd))
	return out
}

const itemEnd = `{"type":"response.output_item.done","response_id":"r1","item":{"id":"i1"}}`

// texts returns the text of the deltas of each item.
func texts(t failer, events [][]byte) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, e := range events {
		var d delta
		if err := json.Unmarshal(e, &d); err != nil {
			t.Fatal(err, string(e))
		}
		out[d.Item] += d.Delta
	}
	return out
}

// Wherever the events cut a text, its placeholders are restored, and nothing else changes.
func TestRestorer_RestoresTextsAtEveryCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := placeholder.NewVault([]byte("secret of the tests"), placeholder.Scope{Caller: "ann"})
		value := rapid.SampledFrom([]string{"ann@example.com", `a "quoted" \ value`, "line\nline"}).Draw(t, "value")
		name := v.Hide("EMAIL_ADDRESS", value)
		kind := rapid.SampledFrom([]string{"response.output_text.delta", "response.output_audio_transcript.delta", "response.function_call_arguments.delta"}).Draw(t, "kind")
		parts := []string{"Hi ", name, "[EMAIL_ADDRESS_abcdef]", "[", "]", "[EMAIL", name[:len(name)-3], "ä"}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 8).Draw(t, "parts"), "")
		var deltas []delta
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			deltas = append(deltas, delta{Type: kind, Response: "r1", Item: "i1", Delta: string(rest[:n])})
			rest = rest[n:]
		}
		want := v.Restore(text)
		if strings.Contains(kind, "arguments") {
			want = v.RestoreJSONText(text)
		}
		events := restored(t, v, deltas...)
		if got := texts(t, events)["i1"]; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		if string(events[len(events)-1]) != itemEnd {
			t.Fatalf("the last event is %s", events[len(events)-1])
		}
	})
}

func TestRestorer_EventsWithoutPlaceholdersAreByteEqual(t *testing.T) {
	t.Parallel()
	v := placeholder.NewVault([]byte("secret of the tests"), placeholder.Scope{Caller: "ann"})
	v.Hide("EMAIL_ADDRESS", "ann@example.com")
	var deltas []delta
	var want []string
	for _, part := range []string{"see ", "[", "EMAIL", "_ADDRESS", "_none", "]", " and [1]", "", " [", "EM"} {
		d := delta{Type: "response.output_text.delta", Response: "r1", Item: "i1", Delta: part}
		deltas, want = append(deltas, d), append(want, string(d.event(t)))
	}
	var got []string
	for _, e := range restored(t, v, deltas...) {
		got = append(got, string(e))
	}
	if want = append(want, itemEnd); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRestorer_KeepsTextsOfItemsApart(t *testing.T) {
	t.Parallel()
	v := placeholder.NewVault([]byte("secret of the tests"), placeholder.Scope{Caller: "ann"})
	name := v.Hide("EMAIL_ADDRESS", "ann@example.com")
	part := func(item, text string) delta {
		return delta{Type: "response.output_text.delta", Response: "r1", Item: item, Delta: text}
	}
	got := texts(t, restored(t, v, part("i1", name[:5]), part("i2", "x"+name[:9]), part("i1", name[5:]), part("i2", name[9:])))
	if got["i1"] != "ann@example.com" || got["i2"] != "xann@example.com" {
		t.Errorf("got %q", got)
	}
}

package dialecttest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// Read feeds the pieces of a stream to a decoder, closes it and returns copies of its
// events.
func Read(d dialect.EventDecoder, chunks ...[]byte) ([]llm.Event, error) {
	var events []llm.Event
	emit := func(e *llm.Event) { events = append(events, copyEvent(e)) }
	for _, p := range chunks {
		buf := append([]byte(nil), p...) // a decoder must keep nothing of what it is fed
		if err := d.Feed(buf, emit); err != nil {
			return events, err
		}
		for i := range buf {
			buf[i] = '#'
		}
	}
	return events, d.Close(emit)
}

// copyEvent is a copy of an event that outlives the call which handed it out.
func copyEvent(e *llm.Event) llm.Event {
	out := *e
	out.Raw = slices.Clone(e.Raw)
	if e.Media != nil {
		media := *e.Media
		out.Media = &media
	}
	if e.Usage != nil {
		usage := *e.Usage
		out.Usage = &usage
	}
	return out
}

// SplitEverywhere proves that a decoder reads a stream alike however it is cut: at
// each place in two, and into single bytes. Deltas that follow each other count as
// one, and ids that the decoder made are told by their order. It returns the events of
// the whole.
func SplitEverywhere(t testing.TB, stream []byte, newDecoder func() dialect.EventDecoder) []llm.Event {
	t.Helper()
	full, err := Read(newDecoder(), stream)
	if err != nil {
		t.Fatalf("the whole stream: %v", err)
	}
	want := Merge(full)
	check := func(name string, chunks ...[]byte) {
		t.Helper()
		events, err := Read(newDecoder(), chunks...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := Merge(events); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: the events differ:\n%s", name, strings.Join(differences(reflect.ValueOf(want), reflect.ValueOf(got)), "\n"))
		}
	}
	for i := range stream {
		check(fmt.Sprintf("split at byte %d", i), stream[:i], stream[i:])
	}
	single := make([][]byte, len(stream))
	for i := range stream {
		single[i] = stream[i : i+1]
	}
	check("byte by byte", single...)
	return full
}

// Merge joins deltas of one block that follow each other and gives the ids of tool
// calls that look made up, "call_" and more than 20 characters, numbers in their
// order.
func Merge(events []llm.Event) []llm.Event {
	var out []llm.Event
	ids := 0
	for i := range events {
		e := copyEvent(&events[i])
		if e.Kind == llm.EventBlock && e.Part == llm.CallPart && strings.HasPrefix(e.ID, "call_") && len(e.ID) > 20 {
			ids++
			e.ID = fmt.Sprintf("call_%d", ids)
		}
		if n := len(out); n > 0 && joins(&out[n-1], &e) {
			out[n-1].Text += e.Text
			if e.Media != nil {
				out[n-1].Media.Data += e.Media.Data
			}
			continue
		}
		out = append(out, e)
	}
	return out
}

func joins(a, b *llm.Event) bool {
	if a.Kind != b.Kind || a.Choice != b.Choice || a.Block != b.Block {
		return false
	}
	switch a.Kind {
	case llm.EventText, llm.EventArguments, llm.EventSignature:
		return true
	case llm.EventMedia:
		return a.Media != nil && b.Media != nil
	default:
		return false
	}
}

package responder_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/dialect"
	"sluice/internal/test/upstream/responder"
)

// checkText checks an answer of the default size: its words, and 100 tokens.
func checkText(text, tokens string) func(*testing.T, []byte) {
	return func(t *testing.T, b []byte) {
		if len(b) != 1024 || !gjson.ValidBytes(b) || !strings.HasPrefix(gjson.GetBytes(b, text).Str, "lorem ipsum ") || gjson.GetBytes(b, tokens).Int() != 100 {
			t.Errorf("%d bytes: %s", len(b), b)
		}
	}
}

// isMessageStream checks the grammar of a stream of n pieces of text.
func isMessageStream(n int) func(*testing.T, []byte) {
	return func(t *testing.T, b []byte) {
		var names []string
		var text strings.Builder
		for event := range strings.SplitSeq(strings.TrimSuffix(string(b), "\n\n"), "\n\n") {
			name, data, _ := strings.Cut(strings.TrimPrefix(event, "event: "), "\ndata: ")
			if !gjson.Valid(data) || gjson.Get(data, "type").Str != name {
				t.Fatalf("event %q", event)
			}
			names = append(names, name)
			text.WriteString(gjson.Get(data, "delta.text").Str)
		}
		areEvents(t, names, text.String(), n, "message_start content_block_start", "content_block_delta", "content_block_stop message_delta message_stop")
	}
}

// isConverseStream reads n pieces of text out of the messages of an AWS event stream.
func isConverseStream(n int) func(*testing.T, []byte) {
	return func(t *testing.T, b []byte) {
		var r dialect.FrameReader
		var names []string
		var text strings.Builder
		err := r.Feed(b, func(f *dialect.Frame) error {
			names = append(names, string(f.Name))
			text.WriteString(gjson.GetBytes(f.Payload, "delta.text").Str)
			return nil
		})
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		areEvents(t, names, text.String(), n, "messageStart", "contentBlockDelta", "contentBlockStop messageStop metadata")
	}
}

// areEvents checks the names of events, of which n bring text, and the times in it.
func areEvents(t *testing.T, names []string, text string, n int, before, each, after string) {
	t.Helper()
	want := before + strings.Repeat(" "+each, n) + " " + after
	if got := strings.Join(names, " "); got != want {
		t.Errorf("events %s\nwant %s", got, want)
	}
	times := strings.Split(text, responder.SentKeyword)[1:]
	last := ""
	for _, stamp := range times {
		ns, err := strconv.ParseInt(stamp[:19], 10, 64)
		if ago := time.Since(time.Unix(0, ns)); err != nil || stamp[:19] < last || ago < 0 || ago > time.Minute {
			t.Errorf("%v: sent %s ago", err, ago)
		}
		last = stamp[:19]
	}
	if len(times) != n {
		t.Errorf("%d times, want %d", len(times), n)
	}
}

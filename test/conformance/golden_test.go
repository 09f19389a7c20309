package conformance

import (
	"encoding/json"
	"flag"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/wire"
	"sluice/internal/test/upstream"
)

var update = flag.Bool("update", false, "rewrite what follows from requests and upstream replies")

// TestTranscripts plays every transcript and compares what came of it.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	all := transcripts(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			for _, tr := range all[name] {
				if tr.frames == "" { // conversations are TestRealtime's
					t.Run(tr.name(), func(t *testing.T) { r.prove(t, tr, r.play) })
				}
			}
		})
	}
}

// prove compares a transcript with what play makes of it, or rewrites it.
func (r *rig) prove(t *testing.T, want *transcript, play func(*testing.T, *transcript) *transcript) {
	t.Helper()
	got := play(t, want)
	if t.Failed() {
		return
	}
	if *update {
		if err := got.write(); err != nil {
			t.Fatal(err)
		}
		return
	}
	same(t, "reply", want.response.String(), got.response.String())
	same(t, "usage", want.usage, got.usage)
	same(t, "outcome", want.outcome, got.outcome)
	for i := range want.exchanges {
		same(t, "upstream-request", want.exchanges[i].request.String(), got.exchanges[i].request.String())
	}
}

func same(t *testing.T, section, want, got string) {
	t.Helper()
	if want != got {
		t.Errorf("%s differs\n--- got ---\n%s\n--- want ---\n%s", section, got, want)
	}
}

// play sends the request, gives the upstream's replies and returns the transcript of
// what was seen on both sides.
func (r *rig) play(t *testing.T, recorded *transcript) *transcript {
	t.Helper()
	r.t = t
	r.up.Script(upstream.InTurn(replies(recorded)...))
	before := r.up.Total()
	r.journal.take()
	out := *recorded
	out.response = steady(essential(r.call(recorded.request)), sentTexts(recorded)...)
	seen := r.up.Seen()[before:]
	if len(seen) != len(recorded.exchanges) {
		t.Fatalf("the provider saw %d calls, want %d; the client saw\n%s", len(seen), len(recorded.exchanges), out.response)
	}
	out.exchanges = slices.Clone(recorded.exchanges)
	for i := range seen {
		out.exchanges[i].request = steadyRequest(r.received(t, &seen[i]), sentTexts(recorded)...)
	}
	out.usage, out.outcome = r.usage(t, recorded.exchanges[len(recorded.exchanges)-1].response)
	return &out
}

// received is an upstream request as a transcript shows it.
func (r *rig) received(t *testing.T, s *upstream.Seen) message {
	t.Helper()
	if s.BodyErr != nil {
		t.Errorf("the provider could not read the body: %v", s.BodyErr)
	}
	if !r.tunnel.led(s.Host) {
		t.Errorf("the provider was called for %s on a connection to another host", s.Host)
	}
	if strings.Contains(string(s.Head)+string(s.Body), gatewayKey) {
		t.Error("the gateway's own key went to the provider")
	}
	m := message{first: s.Method + " https://" + s.Host + s.Target, body: string(s.Body)}
	for _, f := range s.Header {
		switch name := strings.ToLower(f.Name); name {
		case "host", "content-length", "transfer-encoding", "cdn-loop": // every call of a custom host has the last one
		default:
			m.header.Add(name, f.Value)
		}
	}
	return m.sorted()
}

// usage is what the record of the call says, after a look at the rest of it.
func (r *rig) usage(t *testing.T, last message) (usage, outcome string) {
	t.Helper()
	rows := r.journal.take()
	if len(rows) != 1 {
		t.Fatalf("%d records, want one", len(rows))
	}
	row := &rows[0]
	if strconv.Itoa(int(row.Upstream)) != last.first {
		t.Errorf("the record says that the provider answered %d, it answered %s", row.Upstream, last.first)
	}
	if failed := last.first >= "400"; failed && row.Outcome != record.Failed {
		t.Errorf("outcome %s with status %s", row.Outcome, last.first)
	} else if !failed && row.Outcome != record.OK {
		outcome = string(row.Outcome)
	}
	b, err := json.Marshal(row.Usage)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), outcome
}

// essential leaves out of an answer what is about its connection, and what is the
// same for every provider and proved elsewhere.
func essential(m message) message {
	m.header = slices.DeleteFunc(m.header, func(f wire.Field) bool {
		switch f.Name {
		case "date", "connection", "content-length", "transfer-encoding",
			"x-gateway-trace-id", "x-gateway-request-id", "x-gateway-cache-status", "x-gateway-retry-attempt-count", "x-gateway-last-used-option-index":
			return true
		}
		return false
	})
	return m
}

// sentTexts is what the client and the provider said.
func sentTexts(tr *transcript) []string {
	texts := []string{tr.request.body}
	for _, x := range tr.exchanges {
		texts = append(texts, x.response.String())
	}
	return texts
}

// replies are the provider's answers for the scripted upstream. A stream goes out
// event by event, as providers write it.
func replies(tr *transcript) []upstream.Response {
	var out []upstream.Response
	for _, x := range tr.exchanges {
		status, _ := strconv.Atoi(x.response.first) // what is no number is no 200 and shows
		response := upstream.Response{Status: status, Chunks: []upstream.Chunk{{Bytes: []byte(x.response.body)}}}
		for _, f := range x.response.header {
			response.Header = append(response.Header, upstream.Field{Name: f.Name, Value: f.Value})
		}
		if strings.HasPrefix(x.response.header.Get("content-type"), "text/event-stream") {
			response.Framing, response.Chunks = upstream.Chunked, events(x.response.body)
		}
		out = append(out, response)
	}
	return out
}

func events(body string) []upstream.Chunk {
	end := "\n\n"
	for _, e := range []string{"\r\n\r\n", "\n\n", "\n"} {
		if strings.Contains(body, e) {
			end = e
			break
		}
	}
	var ps []upstream.Chunk
	for ev := range strings.SplitAfterSeq(body, end) {
		if ev != "" {
			ps = append(ps, upstream.Chunk{Bytes: []byte(ev)})
		}
	}
	return ps
}

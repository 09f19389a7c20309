package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/replay"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/test/upstream"
)

// A replay goes the way of every call, with the key's limits and on the ledger, and is
// marked in the record.
func TestReplay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle(geminiPath, upstream.Always(upstream.JSON(200, []byte(geminiResponse))))
	r.call("POST", "/v1/chat/completions", strings.Replace(hello, "{", `{"stream":true,`, 1), r.custom("x-gateway-metadata: {\"team\":\"search\"}")...)
	logged := r.journal.one(t)
	inline := `{"provider":"google","api_key":"AIza-upstream","custom_host":"` + r.up.URL() + `"}`
	call, err := replay.NewCall(&logged, replay.Change{Model: "gemini-2.5-flash", Config: inline})
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.gateway.Replay(t.Context(), key, "10.0.0.1", call)
	if err != nil {
		t.Fatal(err)
	}
	if out.Status != 200 || replay.Text(out.Body) != "Hello" || out.Cut || out.Type != "application/json" {
		t.Errorf("answer %d %s %s", out.Status, out.Type, out.Body)
	}
	rows := r.journal.all()
	if len(rows) != 2 {
		t.Fatalf("%d records, want two", len(rows))
	}
	row := rows[1]
	if row.Source != record.FromReplay || row.ReplayOf != logged.ID || row.Stream || row.Remote != "10.0.0.1" || row.Metadata["team"] != "search" || row.KeyID != logged.KeyID {
		t.Errorf("record %+v", row)
	}
	if out.Record.ID != row.ID || out.Record.Spend.Cost != row.Spend.Cost || row.Spend.Cost == 0 || out.Record.Usage.TotalTokens != 6 || len(out.Record.Response.Bytes) > 0 {
		t.Errorf("told %+v of %+v", out.Record, row)
	}
	lines := r.journal.ledger()
	if len(lines) != 4 { // two reserved, two closed
		t.Fatalf("%d lines on the ledger: %+v", len(lines), lines)
	}
	for _, l := range lines {
		if want := map[string]string{row.ID: logged.ID}[l.ID]; l.ReplayOf != want {
			t.Errorf("the line %s %s is marked as a replay of %q, want %q", l.ID, l.State, l.ReplayOf, want)
		}
	}
	if string(row.ClientRequest.Bytes) == "" || strings.Contains(string(row.ClientRequest.Bytes), `"stream":true`) {
		t.Errorf("sent %s", row.ClientRequest.Bytes)
	}
}

// What the gateway refuses is a refusal; what a provider answers is an answer.
func TestReplayRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(503, []byte(`{"error":{"message":"busy"}}`))))
	r.call("POST", "/v1/chat/completions", hello, r.custom()...)
	logged := r.journal.one(t)
	good := `{"provider":"openai","api_key":"sk-upstream","custom_host":"` + r.up.URL() + `/v1"}`
	for name, c := range map[string]struct {
		key, config string
		refused     fault.Code
	}{
		"a provider that fails":   {key, good, ""},
		"no such config":          {key, "pc-none", fault.InvalidRequest},
		"no such provider":        {key, `{"provider":"@none"}`, fault.InvalidRequest},
		"a key without the scope": {narrowKey, good, fault.Forbidden},
		"an Admin key":            {adminKey, good, fault.Forbidden},
		"a key that nobody knows": {"sk-unknown", good, fault.Unauthenticated},
	} {
		call, err := replay.NewCall(&logged, replay.Change{Config: c.config})
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.gateway.Replay(t.Context(), c.key, "", call)
		switch {
		case c.refused != "":
			if !fault.Has(err, c.refused) {
				t.Errorf("%s: %+v, %v, want %s", name, out, err, c.refused)
			}
		case err != nil || out.Status != 503 || !strings.Contains(string(out.Body), "busy") || out.Record.Outcome != record.Failed:
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	h := wire.Header{{Name: "authorization", Value: "Bearer " + key}}
	if got := r.gateway.Credential(h); got != key || len(h) != 1 {
		t.Errorf("credential %q", got)
	}
}

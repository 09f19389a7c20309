package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/domain/audit"
)

func TestKeeperSignsWhenItIsDue(t *testing.T) {
	t.Parallel()
	r := newRig(t, audit.Policy{Rows: 5, Interval: time.Hour})
	round := func(want int) {
		t.Helper()
		if err := r.checkpointer.Sign(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if got := len(r.points[org]); got != want {
			t.Errorf("%d checkpoints, want %d", got, want)
		}
	}
	round(0)
	r.add(org, 1)
	round(1) // the first one comes at once
	r.add(org, 4)
	round(1)
	r.add(org, 1)
	round(2) // five rows
	r.add(org, 1)
	r.clock.now = r.clock.now.Add(59 * time.Minute)
	round(2)
	r.clock.now = r.clock.now.Add(time.Minute)
	round(3)
	r.clock.now = r.clock.now.Add(time.Hour)
	round(3) // nothing new
	r.add(org, 12)
	round(6) // one for each five rows, and the rest
	r.verify(t, r.export(t, org, audit.Range{}))
}

// Each checkpoint stands in the program's log in a form that a verification takes.
func TestCheckpointsArePublished(t *testing.T) {
	t.Parallel()
	r := sample(t)
	var published []audit.Checkpoint
	for line := range strings.Lines(r.log.String()) {
		var entry struct{ Msg, Checkpoint string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		c, ok := audit.ParseCheckpoint([]byte(entry.Checkpoint))
		if !ok || !c.Holds(r.signer.Public()) {
			t.Fatalf("%s", line)
		}
		published = append(published, *c)
	}
	if len(published) != 3 || published[2].Seq != 22 {
		t.Errorf("%+v", published)
	}
	for _, bad := range []string{"", "{}", `{"type":"row"}`, `{"type":"checkpoint"}`, `{"type":"checkpoint","organisation_id":"a"}x`} {
		if _, ok := audit.ParseCheckpoint([]byte(bad)); ok {
			t.Errorf("%q is a checkpoint", bad)
		}
	}
}

// What somebody changed in the database gets no signature, and is said once.
func TestKeeperRefusesToSignWhatDoesNotVerify(t *testing.T) {
	t.Parallel()
	other := newSigner(t)
	for name, change := range map[string]func(r *rig){
		"an edited row":                 func(r *rig) { r.rows[org][23].ActorID = "nobody" },
		"a row that is gone":            func(r *rig) { r.rows[org] = append(r.rows[org][:23:23], r.rows[org][24:]...) },
		"the last row is gone":          func(r *rig) { r.rows[org] = r.rows[org][:24] },
		"an edited checkpoint":          func(r *rig) { r.points[org][2].Hash = audit.Genesis },
		"the last checkpoint is gone":   func(r *rig) { r.points[org] = r.points[org][:2] },
		"a row that follows another":    func(r *rig) { r.rows[org][22].Chain(22, audit.Genesis) },
		"a checkpoint of another's key": func(r *rig) { r.points[org][2] = r.points[org][2].SignedBy(other) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := sample(t)
			r.log.Reset()
			change(r)
			before := len(r.points[org])
			r.sign(t)
			r.sign(t)
			if n := len(r.points[org]); n != before {
				t.Errorf("%d checkpoints more", n-before)
			}
			if n := strings.Count(r.log.String(), "audit trail verification failed"); n != 1 {
				t.Errorf("said %d times: %s", n, r.log)
			}
		})
	}
}

// At its end Run signs what is left.
func TestKeeperSignsAtShutdown(t *testing.T) {
	t.Parallel()
	r := sample(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := r.checkpointer.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if got := r.verify(t, r.export(t, org, audit.Range{})); got.Unsigned != 0 {
		t.Errorf("%d rows are not signed", got.Unsigned)
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	r := newRig(t, audit.Policy{Rows: 10, Interval: time.Hour, Retention: 36 * time.Hour})
	r.add(org, 15)
	r.sign(t)
	r.clock.now = r.clock.now.Add(24 * time.Hour)
	r.add(org, 10)
	r.sign(t)
	if err := r.checkpointer.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.verify(t, r.export(t, org, audit.Range{})); got.Rows != 25 {
		t.Errorf("nothing is old enough, but %d rows are left", got.Rows)
	}
	r.clock.now = r.clock.now.Add(24 * time.Hour)
	if err := r.checkpointer.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := r.verify(t, r.export(t, org, audit.Range{}))
	if got.Rows != 10 || got.Header.First != 16 || got.Last.First != 16 || got.Last.Count != 10 || !strings.Contains(got.String(), "rows 1 to 15 have expired") {
		t.Errorf("%+v\n%s", got, got)
	}
	// who deletes more than that is found
	r.rows[org] = r.rows[org][2:]
	flawed(t, r, r.export(t, org, audit.Range{}), audit.Options{}, audit.Deleted, "row 16")
}

// However rows come, are signed and grow old, what is kept verifies, begins behind a
// checkpoint, and holds every row that is young enough.
func TestPruningKeepsTheChain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		retention := time.Duration(rapid.IntRange(1, 48).Draw(rt, "keep")) * time.Hour
		r := newRig(t, audit.Policy{Rows: int64(rapid.IntRange(1, 8).Draw(rt, "checkpoint")), Interval: time.Hour, Retention: retention})
		var written []time.Time // when each row was written
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			n := rapid.IntRange(0, 9).Draw(rt, "rows")
			r.add(org, n)
			for range n {
				written = append(written, r.clock.now)
			}
			if rapid.Bool().Draw(rt, "sign") {
				r.sign(t)
			}
			r.clock.now = r.clock.now.Add(time.Duration(rapid.IntRange(0, 30).Draw(rt, "hours")) * time.Hour)
			if err := r.checkpointer.Prune(t.Context()); err != nil {
				rt.Fatal(err)
			}
		}
		if len(written) == 0 {
			return
		}
		r.sign(t)
		got := r.verify(t, r.export(t, org, audit.Range{}))
		young := slices.IndexFunc(written, func(w time.Time) bool { return r.clock.now.Sub(w) < retention })
		if first := got.Header.First; young >= 0 && first > int64(young)+1 || got.Rows != int64(len(written))-first+1 {
			rt.Fatalf("of %d rows, the first young one %d, are left %d from %d on", len(written), young+1, got.Rows, first)
		}
	})
}

func TestPublicKeys(t *testing.T) {
	t.Parallel()
	key := newSigner(t).Public()
	for _, text := range []string{key.Base64(), key.PEM(), " " + key.Base64() + "\n", "\n" + key.PEM() + "\n"} {
		if got, err := audit.ParsePublicKey(text); err != nil || !bytes.Equal(got, key) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, bad := range []string{"", "abc", key.Base64()[:20], key.PEM() + "more", strings.Replace(key.PEM(), "PUBLIC", "PRIVATE", 2), "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"} {
		if _, err := audit.ParsePublicKey(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if _, err := audit.NewSigner([]byte("short")); err == nil {
		t.Error("a short seed was taken")
	}
}

// The encodings never change: an export of today verifies in ten years.
func TestEncodingsAreFixed(t *testing.T) {
	t.Parallel()
	row := audit.Row{
		OrgID: "o", ID: "i", Timestamp: "2026-11-20T10:00:00.000Z", ActorKind: "user", ActorID: "u", WorkspaceID: "w", Resource: "configs", Action: "update",
		TargetID: "t", Method: "PUT", URI: "/v1/ü", Status: 200, RequestID: "r", ClientIP: "::1", Details: "{}",
	}
	row.Chain(0, audit.Genesis)
	if got := string(row.Canonical()); got != "\x00\x00\x00\x13sluice-audit-row-v1\x00\x00\x00\x01o\x00\x00\x00\x011\x00\x00\x00\x01i\x00\x00\x00\x182026-11-20T10:00:00.000Z\x00\x00\x00\x04user\x00\x00\x00\x01u\x00\x00\x00\x01w\x00\x00\x00\x07configs\x00\x00\x00\x06update\x00\x00\x00\x01t\x00\x00\x00\x03PUT\x00\x00\x00\x06/v1/ü\x00\x00\x00\x03200\x00\x00\x00\x01r\x00\x00\x00\x03::1\x00\x00\x00\x02{}" {
		t.Errorf("row: %q", got)
	}
	if want := "82cb33efa2bab72593fc54902b6945a3c5f20cfba662cf36c0e36409ff14d131"; row.Hash != want {
		t.Errorf("hash %s", row.Hash)
	}
	s, err := audit.NewSigner(bytes.Repeat([]byte{7}, audit.SeedBytes))
	if err != nil {
		t.Fatal(err)
	}
	c := audit.Checkpoint{OrgID: "o", Number: 2, Seq: 12, Hash: row.Hash, Timestamp: "2026-11-20T10:00:00.000Z", First: 3}.SignedBy(s)
	if want := "mGENVHGp45YWbPfwn8iQOYZVupqlQUaiMpaiy/MT+RdtjUK88MGm99k8N7qULBdGfEeGu73Q6W27VboC7r43Aw=="; c.Signature != want || c.Count != 10 {
		t.Errorf("signature %s, count %d", c.Signature, c.Count)
	}
}

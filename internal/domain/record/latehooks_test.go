package record_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
)

func TestLateHooks_ComeBackAsTheyWereStored(t *testing.T) {
	t.Parallel()
	want := record.LateHooks{
		ID: recordtest.Chat(0).ID, Entry: recordtest.Chat(1).ID, OrgID: recordtest.Org, Started: recordtest.Epoch,
		TraceID: "trace", SpanID: "span", Number: 3, Hooks: `{"after_request_hooks":[{"id":"é"}]}`,
	}
	b, err := want.Encode()
	if err != nil || !record.IsLateHooks(b) || record.IsCorrection(b) {
		t.Fatalf("%q, %v", b, err)
	}
	var got record.LateHooks
	if err := got.Decode(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if line, err := record.ClosingOf(b); line != nil || err != nil {
		t.Errorf("closing %q, %v; want none", line, err)
	}
	for _, bad := range []string{"", "H", "H{", "C{}", "H[]"} {
		if new(record.LateHooks).Decode([]byte(bad)) == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestAttempt_AddHooksJoinsResultsByPhase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		recorded string
		late     []string
		want     string
	}{
		"none are added":            {`{"odd"}`, nil, `{"odd"}`},
		"the first results":         {"", []string{`{"before_request_hooks":[{"id":1}]}`}, `{"before_request_hooks":[{"id":1}],"after_request_hooks":[]}`},
		"results follow each other": {`{"before_request_hooks":[1],"after_request_hooks":[2]}`, []string{`{"after_request_hooks":[3]}`, `{"before_request_hooks":[4]}`}, `{"before_request_hooks":[1,4],"after_request_hooks":[2,3]}`},
		"unreadable ones are left":  {`{"before_request_hooks":[1]}`, []string{"?"}, `{"before_request_hooks":[1],"after_request_hooks":[]}`},
	} {
		a := record.Attempt{Hooks: c.recorded}
		if a.AddHooks(c.late...); a.Hooks != c.want {
			t.Errorf("%s: %s, want %s", name, a.Hooks, c.want)
		}
	}
}

package requestlogtest

import (
	"fmt"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
)

// lateHooks are results of the n-th chat that arrived later.
func lateHooks(n int, guardrail string) *record.LateHooks {
	a := recordtest.Chat(n)
	return &record.LateHooks{
		ID: a.ID, Entry: ident.NewID(), OrgID: a.OrgID, Started: a.Started,
		Hooks: fmt.Sprintf(`{"before_request_hooks":[],"after_request_hooks":[{"id":%q,"async":true}]}`, guardrail),
	}
}

// testLateHooks writes results of guardrails before, with and after their rows. They are found with
// their row, in the order of their arrival, by its organisation alone, and end when the row ends.
func testLateHooks(t *testing.T, rows requestlog.RowStore) {
	put := func(attempts []*record.Attempt, late ...*record.LateHooks) {
		t.Helper()
		err := rows.Write(t.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
			for _, h := range late {
				if err := to.AddHooks(h); err != nil {
					return requestlog.Progress{}, err
				}
			}
			for _, a := range attempts {
				if err := to.Add(a, bodies.Ref{}); err != nil {
					return requestlog.Progress{}, err
				}
			}
			return requestlog.Progress{}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	found := func(n int, want string) {
		t.Helper()
		got, _, err := rows.Find(t.Context(), recordtest.Org, "", recordtest.Chat(n).ID)
		if err != nil || got.Hooks != want {
			t.Errorf("row %d: hooks %s, %v; want %s", n, got.Hooks, err, want)
		}
	}
	judged := recordtest.Chat(1)
	judged.Hooks = `{"before_request_hooks":[{"id":"in"}],"after_request_hooks":[{"id":"out"}]}`
	stranger := lateHooks(0, "of another organisation")
	stranger.OrgID = "another"
	put(nil, lateHooks(0, "before"), stranger)
	put([]*record.Attempt{recordtest.Chat(0), judged, recordtest.Chat(2)}, lateHooks(1, "with"))
	put(nil, lateHooks(1, "after é"))
	found(0, `{"before_request_hooks":[],"after_request_hooks":[{"id":"before","async":true}]}`)
	found(1, `{"before_request_hooks":[{"id":"in"}],"after_request_hooks":[{"id":"out"},{"id":"with","async":true},{"id":"after é","async":true}]}`)
	found(2, "")

	blanked(t, rows, requestlog.RetentionCutoffs{Before: judged.Started})
	again := []*record.Attempt{recordtest.Chat(0), recordtest.Chat(1)}
	for _, a := range again { // rows with the same ids show what is left
		a.Started = a.Started.Add(time.Microsecond)
	}
	put(again[:1])
	found(0, "")
	deleted(t, rows, requestlog.RetentionCutoffs{Workspaces: map[string]time.Time{recordtest.Workspace: recordtest.Chat(2).Started}})
	put(again[1:])
	found(1, "")
}

package control_test

import (
	"strconv"
	"strings"
	"testing"

	"sluice/internal/limits/quota"
)

// use does what traffic will do: it adds to all budgets of a carrier (of an integration in
// one workspace: "<integration>/<workspace>"), or to the counter of a policy for a value
// key.
func (w *world) use(t *testing.T, text string) {
	t.Helper()
	parts := strings.SplitN(text, " ", 3)
	units, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	deltas := []quota.Delta{{SubjectID: parts[0], Units: units}}
	if len(parts) == 3 {
		deltas[0].ValueKey = parts[2]
	} else if deltas, err = w.ofAll(t, parts[0], units); err != nil {
		t.Fatal(err)
	}
	if err := w.store.AddUsage(t.Context(), deltas); err != nil {
		t.Fatal(err)
	}
}

func (w *world) ofAll(t *testing.T, subjectID string, units int64) ([]quota.Delta, error) {
	subjectID, workspaceID, _ := strings.Cut(subjectID, "/")
	meters, err := w.store.Meters(t.Context(), w.store, quota.MeterQuery{SubjectID: subjectID, WorkspaceID: workspaceID, Counters: true})
	var deltas []quota.Delta
	for _, m := range meters {
		deltas = append(deltas, quota.Delta{SubjectID: subjectID, BudgetKey: m.BudgetKey, Units: units})
	}
	return deltas, err
}

package app

import (
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/domain/tenant"
	"sluice/internal/storage/journal"
)

// What applications send of their own is kept as the workspace wants it.
func TestRecordsOfApplicationsObeyTheirWorkspace(t *testing.T) {
	t.Parallel()
	j, err := journal.Open(journal.Options{Dir: t.TempDir(), SegmentBytes: 64 << 10, MaxRecordBytes: 32 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	d := redactingJournal{j, func(id string) *tenant.Scope {
		return map[string]*tenant.Scope{"metrics": {MetricsOnly: true}, "whole": {}}[id]
	}}
	for _, workspaceID := range []string{"metrics", "whole", "unknown"} {
		a := recordtest.Chat(1)
		a.WorkspaceID = workspaceID
		if err := d.Append(a); err != nil {
			t.Fatal(err)
		}
		if len(a.Request.Bytes) == 0 {
			t.Error("the caller's record was changed")
		}
	}
	bodyBytes := map[string]int{}
	j.Records().Read(record.Position{}, func(e record.Entry) bool {
		a := e.Attempt
		bodyBytes[a.WorkspaceID] = len(a.Request.Bytes) + len(a.Response.Bytes)
		if a.Request.Size == 0 || a.Usage.TotalTokens == 0 {
			t.Errorf("%s: %d bytes, %+v", a.WorkspaceID, a.Request.Size, a.Usage)
		}
		return true
	})
	if bodyBytes["metrics"] != 0 || bodyBytes["whole"] == 0 || bodyBytes["unknown"] == 0 {
		t.Errorf("kept %v bytes, want none in the workspace of metrics", bodyBytes)
	}
}

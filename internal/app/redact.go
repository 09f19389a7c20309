package app

import (
	"sluice/internal/domain/record"
	"sluice/internal/domain/tenant"
	"sluice/internal/storage/journal"
)

// redactingJournal accepts the records that applications send, custom logs and spans. In a
// workspace that stores only metrics it removes their bodies, as for the workspace's requests.
// Source: contract/content-and-observability.md 3.2.
type redactingJournal struct {
	*journal.Journal
	findScope func(workspaceID string) *tenant.Scope // returns nil for an unknown workspace
}

// Append writes a record to the journal. It does not change the caller's record.
func (d redactingJournal) Append(a *record.Attempt) error {
	if s := d.findScope(a.WorkspaceID); s != nil && s.MetricsOnly {
		b := *a
		for _, body := range b.Bodies() {
			*body = record.Body{Size: body.Size}
		}
		a = &b
	}
	return d.Journal.Append(a)
}

func (a *traffic) redactingJournal() redactingJournal {
	return redactingJournal{a.journal, func(id string) *tenant.Scope { return a.directory.Current().FindWorkspace(id) }}
}

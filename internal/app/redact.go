package app

import (
	"sluice/internal/journal"
	"sluice/internal/record"
	"sluice/internal/tenant"
)

// redactingJournal takes the records that applications send of their own, custom logs and spans.
// In a workspace that wants metrics only they come without bodies, as those of its
// requests do.
// Source: contract/content-and-observability.md 3.2.
type redactingJournal struct {
	*journal.Journal
	findScope func(workspaceID string) *tenant.Scope // nil for one that nobody knows
}

// Append puts a record into the journal. The record itself is left as it is.
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

func (a *App) redactingJournal() redactingJournal {
	return redactingJournal{a.journal, func(id string) *tenant.Scope { return a.directory.Current().FindWorkspace(id) }}
}

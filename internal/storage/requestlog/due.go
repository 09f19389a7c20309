package requestlog

import (
	"maps"
	"slices"
	"time"

	"sluice/internal/domain/record"
)

// RetentionCutoffs selects the rows that are due for a kind of retention: those that started
// before the time of their workspace. The zero RetentionCutoffs selects no row. It is immutable.
type RetentionCutoffs struct {
	Before     time.Time            // of every workspace
	Workspaces map[string]time.Time // by id, of those with a shorter retention: later times
}

// For returns the cutoff of a workspace.
func (d RetentionCutoffs) For(workspaceID string) time.Time {
	return later(d.Before, d.Workspaces[workspaceID])
}

// Has reports whether a row is due.
func (d RetentionCutoffs) Has(a *record.Attempt) bool { return a.Started.Before(d.For(a.WorkspaceID)) }

// Or selects rows that either of the two selects.
func (d RetentionCutoffs) Or(o RetentionCutoffs) RetentionCutoffs { return d.with(o, later) }

// And selects rows that both select.
func (d RetentionCutoffs) And(o RetentionCutoffs) RetentionCutoffs { return d.with(o, earlier) }

func (d RetentionCutoffs) with(o RetentionCutoffs, choose func(a, b time.Time) time.Time) RetentionCutoffs {
	out := RetentionCutoffs{Before: choose(d.Before, o.Before), Workspaces: map[string]time.Time{}}
	for _, list := range []map[string]time.Time{d.Workspaces, o.Workspaces} {
		for id := range list {
			out.Workspaces[id] = choose(d.For(id), o.For(id))
		}
	}
	return out
}

// Until restricts the cutoffs to rows that started no later than a time.
func (d RetentionCutoffs) Until(t time.Time) RetentionCutoffs {
	return d.And(RetentionCutoffs{Before: t.Add(time.Microsecond)}) // rows store times in microseconds
}

// RetentionBatch is a part of the cutoffs with a single time.
type RetentionBatch struct {
	Before     time.Time
	Workspaces []string // nil for all of them
}

// Waves splits the cutoffs into batches that together select the same rows. The first batch
// applies to every workspace; each further batch applies to the workspaces that share a time.
func (d RetentionCutoffs) Waves() []RetentionBatch {
	var out []RetentionBatch
	if !d.Before.IsZero() {
		out = append(out, RetentionBatch{Before: d.Before})
	}
	workspacesByTime := map[time.Time][]string{}
	for _, id := range slices.Sorted(maps.Keys(d.Workspaces)) {
		if t := d.Workspaces[id]; t.After(d.Before) {
			workspacesByTime[t] = append(workspacesByTime[t], id)
		}
	}
	for _, t := range slices.SortedFunc(maps.Keys(workspacesByTime), time.Time.Compare) {
		out = append(out, RetentionBatch{Before: t, Workspaces: workspacesByTime[t]})
	}
	return out
}

// RetentionCutoffs returns the cutoffs of the batch alone.
func (w RetentionBatch) RetentionCutoffs() RetentionCutoffs {
	if w.Workspaces == nil {
		return RetentionCutoffs{Before: w.Before}
	}
	d := RetentionCutoffs{Workspaces: make(map[string]time.Time, len(w.Workspaces))}
	for _, id := range w.Workspaces {
		d.Workspaces[id] = w.Before
	}
	return d
}

// Blank removes from an attempt the details of the call: the caller and their address, what the
// client sent about itself, and the error. It preserves what statistics need: times, status,
// tokens, cost, and the owner.
func Blank(a *record.Attempt) {
	a.SpanID, a.ParentSpan, a.SpanName, a.KeyName = "", "", "", ""
	a.Path, a.UpstreamURL, a.Remote, a.TargetPath = "", "", "", ""
	a.Error, a.Dropped, a.Metadata = "", "", nil
	a.PromptID, a.PromptVersionID = "", ""
	a.Spend.Terms, a.Spend.Basis = "", ""
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

package logstore

import (
	"maps"
	"slices"
	"time"

	"sluice/internal/record"
)

// RetentionCutoffs says which rows are due for a kind of retention: those that started before the time
// of their workspace. The zero Due is of no row. It is not changed once it is made.
type RetentionCutoffs struct {
	Before     time.Time            // of every workspace
	Workspaces map[string]time.Time // by id, of those that keep less: later times
}

// For is the time of a workspace.
func (d RetentionCutoffs) For(workspaceID string) time.Time {
	return later(d.Before, d.Workspaces[workspaceID])
}

// Has reports whether a row is due.
func (d RetentionCutoffs) Has(a *record.Attempt) bool { return a.Started.Before(d.For(a.WorkspaceID)) }

// Or is due when one of the two is.
func (d RetentionCutoffs) Or(o RetentionCutoffs) RetentionCutoffs { return d.with(o, later) }

// And is due when both are.
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

// Until is the part of what is due that started no later than a time.
func (d RetentionCutoffs) Until(t time.Time) RetentionCutoffs {
	return d.And(RetentionCutoffs{Before: t.Add(time.Microsecond)}) // the unit in which rows keep times
}

// RetentionBatch is the part of what is due that one time decides.
type RetentionBatch struct {
	Before     time.Time
	Workspaces []string // nil for all of them
}

// Waves are the parts of what is due: together they are all of it. The first is that of
// every workspace; one further each for the workspaces that have a time in common.
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

// RetentionCutoffs is what the wave alone has.
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

// Blank takes from an attempt what is about the call alone: who made it from where, what
// it said of itself, and why it failed. What figures are worked out from stays: times,
// status, tokens, cost, and whose it was.
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

package logstore

import (
	"maps"
	"slices"
	"time"

	"sluice/internal/record"
)

// Due says which rows are due for a kind of retention: those that started before the time
// of their workspace. The zero Due is of no row. It is not changed once it is made.
type Due struct {
	Before     time.Time            // of every workspace
	Workspaces map[string]time.Time // by id, of those that keep less: later times
}

// Of is the time of a workspace.
func (d Due) Of(workspaceID string) time.Time { return later(d.Before, d.Workspaces[workspaceID]) }

// Has reports whether a row is due.
func (d Due) Has(a *record.Attempt) bool { return a.Started.Before(d.Of(a.WorkspaceID)) }

// Or is due when one of the two is.
func (d Due) Or(o Due) Due { return d.with(o, later) }

// And is due when both are.
func (d Due) And(o Due) Due { return d.with(o, earlier) }

func (d Due) with(o Due, of func(a, b time.Time) time.Time) Due {
	out := Due{Before: of(d.Before, o.Before), Workspaces: map[string]time.Time{}}
	for _, list := range []map[string]time.Time{d.Workspaces, o.Workspaces} {
		for id := range list {
			out.Workspaces[id] = of(d.Of(id), o.Of(id))
		}
	}
	return out
}

// Until is the part of what is due that started no later than a time.
func (d Due) Until(t time.Time) Due {
	return d.And(Due{Before: t.Add(time.Microsecond)}) // the unit in which rows keep times
}

// Wave is the part of what is due that one time decides.
type Wave struct {
	Before     time.Time
	Workspaces []string // nil for all of them
}

// Waves are the parts of what is due: together they are all of it. The first is that of
// every workspace; one further each for the workspaces that have a time in common.
func (d Due) Waves() []Wave {
	var out []Wave
	if !d.Before.IsZero() {
		out = append(out, Wave{Before: d.Before})
	}
	at := map[time.Time][]string{}
	for _, id := range slices.Sorted(maps.Keys(d.Workspaces)) {
		if t := d.Workspaces[id]; t.After(d.Before) {
			at[t] = append(at[t], id)
		}
	}
	for _, t := range slices.SortedFunc(maps.Keys(at), time.Time.Compare) {
		out = append(out, Wave{Before: t, Workspaces: at[t]})
	}
	return out
}

// Due is what the wave alone has.
func (w Wave) Due() Due {
	if w.Workspaces == nil {
		return Due{Before: w.Before}
	}
	d := Due{Workspaces: make(map[string]time.Time, len(w.Workspaces))}
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

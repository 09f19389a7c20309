package logstoretest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/fault"
	"sluice/internal/logstore"
	"sluice/internal/logstore/bodies"
	"sluice/internal/record"
)

// Memory is a back end that forgets everything when the process ends. It is for
// tests that need no database; it passes the suite. Before and After, when set,
// are called in a Write before and after it takes effect; an error of either is
// that of Write, so that a test sees both ways in which a commit can fail.
type Memory struct {
	Before, After func() error

	mu       sync.Mutex // guards what follows
	rows     []memoryRow
	progress logstore.Progress
}

type memoryRow struct {
	record.Attempt
	ref bodies.Ref
}

var _ logstore.Rows = (*Memory)(nil)

// Progress implements logstore.Rows.
func (m *Memory) Progress(context.Context) (logstore.Progress, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.progress, nil
}

// Write implements logstore.Rows.
func (m *Memory) Write(_ context.Context, fill func(logstore.Add) (logstore.Progress, error)) error {
	var rows []memoryRow
	p, err := fill(func(a *record.Attempt, ref bodies.Ref) error {
		rows = append(rows, memoryRow{clean(*a), ref})
		return nil
	})
	if err != nil {
		return err
	}
	if m.Before != nil {
		if err := m.Before(); err != nil {
			return err
		}
	}
	m.mu.Lock()
	m.rows = append(m.rows, rows...)
	m.progress = logstore.Progress{Next: record.Position{Seq: p.Next.Seq}, Bodies: p.Bodies}
	m.mu.Unlock()
	if m.After != nil {
		return m.After()
	}
	return nil
}

// clean is what a row keeps of an attempt.
func clean(a record.Attempt) record.Attempt {
	a = kept(a)
	a.Path = strings.ToValidUTF8(a.Path, "\uFFFD")
	pairs := a.Metadata
	a.Metadata = nil
	for k, v := range pairs {
		if a.Metadata == nil {
			a.Metadata = map[string]string{}
		}
		a.Metadata[strings.ToValidUTF8(k, "\uFFFD")] = strings.ToValidUTF8(v, "\uFFFD")
	}
	return a
}

// List implements logstore.Rows.
func (m *Memory) List(_ context.Context, q record.Query) (record.Page, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var page record.Page
	for i := range m.rows {
		if matches(&m.rows[i].Attempt, q) {
			page.Rows = append(page.Rows, m.rows[i].Attempt)
		}
	}
	if q.Count {
		page.Total = int64(len(page.Rows))
	}
	order := func(a, b record.Attempt) int {
		c := cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
		if q.Newest {
			return -c
		}
		return c
	}
	slices.SortFunc(page.Rows, order)
	if q.After != "" {
		started, id, err := q.After.Split()
		if err != nil {
			return record.Page{}, err
		}
		at := record.Attempt{ID: id, Started: started}
		page.Rows = slices.DeleteFunc(page.Rows, func(a record.Attempt) bool { return order(a, at) <= 0 })
	}
	page.Rows = page.Rows[min(q.Offset, len(page.Rows)):]
	if size := q.PageSize(); len(page.Rows) > size {
		page.Rows = page.Rows[:size]
		page.Next = record.CursorAt(page.Rows[size-1].Started, page.Rows[size-1].ID)
	}
	return page, nil
}

func matches(a *record.Attempt, q record.Query) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	in := func(want []string, have string) bool { return len(want) == 0 || slices.Contains(want, have) }
	status := func(r record.StatusRange) bool { return r.Min <= a.Status && a.Status <= r.Max }
	return a.OrgID == q.OrgID && is(q.WorkspaceID, a.WorkspaceID) && is(q.TraceID, a.TraceID) && is(q.RequestID, a.RequestID) &&
		in(q.Models, a.Model) && in(q.Providers, a.Provider) && in(q.KeyIDs, a.KeyID) && is(q.UserID, a.UserID) && in(q.Configs, a.ConfigID) && in(q.ProviderIDs, a.ProviderID) &&
		q.Total.Has(a.Tokens()) && q.Input.Has(a.Usage.InputTokens) && q.Output.Has(a.Usage.OutputTokens) &&
		!a.Started.Before(q.From) && (q.To.IsZero() || a.Started.Before(q.To)) &&
		(len(q.Statuses) == 0 || slices.ContainsFunc(q.Statuses, status))
}

// Find implements logstore.Rows.
func (m *Memory) Find(_ context.Context, orgID, workspaceID, id string) (record.Attempt, bodies.Ref, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		a := &m.rows[i].Attempt
		if a.ID == id && a.OrgID == orgID && (workspaceID == "" || a.WorkspaceID == workspaceID) {
			return *a, m.rows[i].ref, nil
		}
	}
	return record.Attempt{}, bodies.Ref{}, fault.New(fault.NotFound, "there is no log with this id")
}

// Delete implements logstore.Rows.
func (m *Memory) Delete(_ context.Context, before time.Time) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.rows)
	m.rows = slices.DeleteFunc(m.rows, func(r memoryRow) bool { return r.Started.Before(before) })
	return int64(n - len(m.rows)), nil
}

// FirstBodies implements logstore.Rows.
func (m *Memory) FirstBodies(_ context.Context, from time.Time) (file uint32, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		if r := &m.rows[i]; r.ref.File > 0 && !r.Started.Before(from) && (file == 0 || r.ref.File < file) {
			file = r.ref.File
		}
	}
	return file, nil
}

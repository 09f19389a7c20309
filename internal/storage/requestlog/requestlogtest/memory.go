package requestlogtest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/ledger"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
)

// Memory is a back end in memory, for tests that do not need a database. It passes the
// suite. Write calls Before before it takes effect, and After afterwards; nil functions are
// not called. Write returns an error of either, so that a test can cover both ways in which
// a commit fails.
type Memory struct {
	Before, After func() error
	// Now returns the time of a Write; nil means the machine's clock.
	Now func() time.Time

	mu       sync.Mutex // guards the fields below
	rows     []memoryRow
	arrived  time.Time // of the last Write
	progress requestlog.Progress
	trail    []record.Correction
	late     []record.LateHooks
	feedback memoryFeedback
}

type memoryRow struct {
	record.Billed
	ref     bodies.Ref
	arrived time.Time // different for each Write
	blank   bool      // only metrics count the row
}

var _ requestlog.RowStore = (*Memory)(nil)

// Progress implements requestlog.RowStore.
func (m *Memory) Progress(context.Context) (requestlog.Progress, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.progress, nil
}

// Write implements requestlog.RowStore.
func (m *Memory) Write(_ context.Context, fill func(requestlog.Sink) (requestlog.Progress, error)) error {
	var w memoryWrite
	p, err := fill(&w)
	if err != nil {
		return err
	}
	if m.Before != nil {
		if err := m.Before(); err != nil {
			return err
		}
	}
	m.mu.Lock()
	clock := time.Now
	if m.Now != nil {
		clock = m.Now
	}
	now := clock().UTC().Truncate(time.Microsecond)
	if next := m.arrived.Add(time.Microsecond); now.Before(next) {
		now = next
	}
	m.arrived = now
	for i := range w.rows {
		w.rows[i].arrived = now
	}
	m.rows = append(m.rows, w.rows...)
	for i := range w.trail {
		m.correct(&w.trail[i])
	}
	m.late = append(m.late, w.late...)
	m.progress = requestlog.Progress{Next: record.Position{Seq: p.Next.Seq}, BodyStore: p.BodyStore}
	m.mu.Unlock()
	if m.After != nil {
		return m.After()
	}
	return nil
}

// memoryWrite collects what a Write stores.
type memoryWrite struct {
	rows  []memoryRow
	trail []record.Correction
	late  []record.LateHooks
}

// Add implements requestlog.Sink.
func (w *memoryWrite) Add(a *record.Attempt, ref bodies.Ref) error {
	var line ledger.Entry
	w.rows = append(w.rows, memoryRow{Billed: record.Billed{Attempt: clean(*a), Charged: requestlog.ChargedOf(a.Closing, &line)}, ref: ref})
	return nil
}

// Correct implements requestlog.Sink.
func (w *memoryWrite) Correct(c *record.Correction) error {
	correction := *c
	correction.Closing = nil
	w.trail = append(w.trail, correction)
	return nil
}

// AddHooks implements requestlog.Sink.
func (w *memoryWrite) AddHooks(h *record.LateHooks) error {
	w.late = append(w.late, *h)
	return nil
}

// correct stores a correction and gives its row the new cost. Callers hold mu.
func (m *Memory) correct(c *record.Correction) {
	m.trail = append(m.trail, *c)
	i := slices.IndexFunc(m.rows, func(r memoryRow) bool { return r.ID == c.ID })
	if i < 0 {
		return
	}
	s := &m.rows[i].Spend
	s.Cost, s.Unpriced, s.Version, s.Terms = c.After.Cost, c.After.Unpriced, c.After.Version, c.After.Terms
	m.rows[i].Charged.Nano = c.After.Cost
}

// Corrections implements requestlog.RowStore.
func (m *Memory) Corrections(_ context.Context, id string) (out []record.Correction, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.trail {
		if c.ID == id {
			out = append(out, c)
		}
	}
	return out, nil
}

// clean returns the part of an attempt that a row stores.
func clean(a record.Attempt) record.Attempt {
	a = stored(a)
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

// List implements requestlog.RowStore.
func (m *Memory) List(_ context.Context, q record.Query) (record.Page, error) {
	rows, next, total, err := m.page(q, func(*memoryRow) bool { return true })
	page := record.Page{Rows: make([]record.Attempt, len(rows)), Next: next}
	if q.Count {
		page.Total = int64(total)
	}
	for i := range rows {
		page.Rows[i] = rows[i].Attempt
		if q.ByArrival {
			page.Arrived = append(page.Arrived, record.CursorAt(rows[i].arrived, rows[i].ID))
		}
	}
	return page, err
}

// RowWithBody implements requestlog.RowStore.
func (m *Memory) RowWithBody(_ context.Context, q record.Query) (requestlog.BodiedPage, error) {
	rows, next, _, err := m.page(q, func(r *memoryRow) bool { return r.ref != bodies.Ref{} })
	page := requestlog.BodiedPage{RowStore: make([]requestlog.RowWithBody, len(rows)), Next: next}
	for i := range rows {
		page.RowStore[i] = requestlog.RowWithBody{Attempt: rows[i].Attempt, Ref: rows[i].ref}
	}
	return page, err
}

// Billed implements requestlog.RowStore.
func (m *Memory) Billed(_ context.Context, q record.Query) (record.BilledPage, error) {
	rows, next, _, err := m.page(q, func(r *memoryRow) bool { return r.Spend.State != "" && r.Spend.State != "released" })
	page := record.BilledPage{Rows: make([]record.Billed, len(rows)), Next: next}
	for i := range rows {
		page.Rows[i] = rows[i].Billed
	}
	return page, err
}

// page returns a page of the rows that q and matches select, and the number of all such rows.
func (m *Memory) page(q record.Query, matches func(*memoryRow) bool) (rows []memoryRow, next record.Cursor, total int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		if !m.rows[i].blank && m.matches(&m.rows[i].Attempt, q) && matches(&m.rows[i]) {
			rows = append(rows, m.rows[i])
		}
	}
	total = len(rows)
	sortTime := func(r *memoryRow) time.Time {
		if q.ByArrival {
			return r.arrived
		}
		return r.Started
	}
	order := func(a, b memoryRow) int {
		c := cmp.Or(sortTime(&a).Compare(sortTime(&b)), cmp.Compare(a.ID, b.ID))
		if q.Newest {
			return -c
		}
		return c
	}
	slices.SortFunc(rows, order)
	if q.After != "" {
		after, id, err := q.After.Split()
		if err != nil {
			return nil, "", 0, err
		}
		last := memoryRow{Billed: record.Billed{Attempt: record.Attempt{ID: id, Started: after}}, arrived: after}
		rows = slices.DeleteFunc(rows, func(r memoryRow) bool { return order(r, last) <= 0 })
	}
	rows = rows[min(q.Offset, len(rows)):]
	if size := q.PageSize(); len(rows) > size {
		rows = rows[:size]
		next = record.CursorAt(sortTime(&rows[size-1]), rows[size-1].ID)
	}
	return rows, next, total, nil
}

// matches reports whether a query selects an attempt. Callers hold mu.
func (m *Memory) matches(a *record.Attempt, q record.Query) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	isIn := func(want []string, have string) bool { return len(want) == 0 || slices.Contains(want, have) }
	status := func(r record.StatusRange) bool { return r.Min <= a.Status && a.Status <= r.Max }
	for key, want := range q.Metadata {
		if have, there := a.Metadata[key]; !there || have != want {
			return false
		}
	}
	cost, known := a.Cost()
	return a.OrgID == q.OrgID && is(q.WorkspaceID, a.WorkspaceID) && isIn(q.TraceIDs, a.TraceID) && isIn(q.SpanIDs, a.SpanID) && is(q.RequestID, a.RequestID) &&
		isIn(q.Models, a.Model) && isIn(q.Providers, a.Provider) && (len(q.Pairs) == 0 || slices.Contains(q.Pairs, record.Pair{Provider: a.Provider, Model: a.Model})) &&
		isIn(q.KeyIDs, a.KeyID) && is(q.UserID, a.UserID) && isIn(q.Configs, a.ConfigID) && isIn(q.ProviderIDs, a.ProviderID) &&
		isIn(q.PromptSlugs, a.PromptSlug) && isIn(q.CacheStatuses, a.CacheStatus) &&
		q.Total.Has(a.Tokens()) && q.Input.Has(a.Usage.InputTokens) && q.Output.Has(a.Usage.OutputTokens) &&
		(q.Cost.Open() || known && q.Cost.Has(cost)) && (q.Weighted.Open() || m.feedback.averageIn(a, q.Weighted)) &&
		!a.Started.Before(q.From) && (q.To.IsZero() || a.Started.Before(q.To)) &&
		(len(q.Statuses) == 0 || slices.ContainsFunc(q.Statuses, status))
}

// Find implements requestlog.RowStore.
func (m *Memory) Find(_ context.Context, orgID, workspaceID, id string) (record.Attempt, bodies.Ref, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		a := &m.rows[i].Attempt
		if !m.rows[i].blank && a.ID == id && a.OrgID == orgID && (workspaceID == "" || a.WorkspaceID == workspaceID) {
			found := *a
			found.AddHooks(m.lateHooks(a)...)
			return found, m.rows[i].ref, nil
		}
	}
	return record.Attempt{}, bodies.Ref{}, fault.New(fault.NotFound, "no log has this id")
}

// lateHooks returns the results of guardrails that arrived after the record of an attempt. Callers hold
// mu.
func (m *Memory) lateHooks(a *record.Attempt) (out []string) {
	for i := range m.late {
		if h := &m.late[i]; h.ID == a.ID && h.OrgID == a.OrgID {
			out = append(out, h.Hooks)
		}
	}
	return out
}

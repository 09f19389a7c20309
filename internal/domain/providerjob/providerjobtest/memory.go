// Package providerjobtest has a store of open jobs in memory, for tests.
package providerjobtest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sluice/internal/domain/providerjob"
	"sluice/internal/kernel/lease"
)

// Memory keeps open jobs and leases, and adds up what jobs are charged. The zero value is
// empty. Safe for concurrent use.
type Memory struct {
	mu      sync.Mutex // guards what follows
	rows    map[string]*row
	leases  map[string]string
	used    map[string]int64 // by carrier and measure
	settled int
	failure error
}

type row struct {
	body []byte
	key  string
	node string
	due  time.Time
	made time.Time
	done bool
}

var (
	_ providerjob.Store = (*Memory)(nil)
	_ lease.Store       = (*Memory)(nil)
)

// Fail has every call fail with an error; nil ends that.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failure = err
}

// Used is what jobs added to a counter, "key/cost".
func (m *Memory) Used(counter string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used[counter]
}

// Settled is how many jobs were settled.
func (m *Memory) Settled() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.settled
}

// Jobs are the open jobs, the oldest first.
func (m *Memory) Jobs() []*providerjob.Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*providerjob.Job
	for _, r := range m.rows {
		list = append(list, r.job())
	}
	slices.SortFunc(list, func(a, b *providerjob.Job) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

func (r *row) job() *providerjob.Job {
	j, err := providerjob.Decode(r.body)
	if err != nil {
		panic(err)
	}
	j.Settled = r.done
	return j
}

// AddJob implements providerjob.Store.
func (m *Memory) AddJob(_ context.Context, j *providerjob.Job, node string, due time.Time) error {
	body, err := j.Encode()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err = errors.Join(err, m.failure); err != nil {
		return err
	}
	if m.rows == nil {
		m.rows = map[string]*row{}
	}
	if m.rows[j.ID] == nil {
		m.rows[j.ID] = &row{body: body, key: j.Key(), node: node, due: due, made: j.Created}
		m.add(j.Opening())
	}
	return nil
}

// DueJobs implements providerjob.Store.
func (m *Memory) DueJobs(_ context.Context, node string, now, created time.Time, limit int) ([]*providerjob.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*providerjob.Job
	for _, r := range m.rows {
		if !r.due.After(now) && (r.node == "" || r.node == node || !r.made.After(created)) && len(list) < limit {
			list = append(list, r.job())
		}
	}
	return list, m.failure
}

// FindJob implements providerjob.Store.
func (m *Memory) FindJob(_ context.Context, id string) (*providerjob.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.rows[id]; r != nil {
		return r.job(), m.failure
	}
	return nil, m.failure
}

// PostponeJob implements providerjob.Store.
func (m *Memory) PostponeJob(_ context.Context, j *providerjob.Job, due time.Time) error {
	body, err := j.Encode()
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.rows[j.ID]; r != nil {
		r.body, r.due = body, due
	}
	return errors.Join(err, m.failure)
}

// SetJobDue implements providerjob.Store.
func (m *Memory) SetJobDue(_ context.Context, key, node string, due time.Time) (found bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rows {
		if r.key == key {
			found, r.due = true, due
			if r.node != "" {
				r.node = node
			}
		}
	}
	return found, m.failure
}

// SettleJob implements providerjob.Store.
func (m *Memory) SettleJob(_ context.Context, j *providerjob.Job, _ time.Time, deltas []providerjob.Delta) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[j.ID]
	if r == nil || r.done || m.failure != nil {
		return m.failure
	}
	r.done = true
	m.settled++
	m.add(deltas)
	return nil
}

func (m *Memory) add(deltas []providerjob.Delta) {
	if m.used == nil {
		m.used = map[string]int64{}
	}
	for _, d := range deltas {
		m.used[d.Subject+"/"+string(d.Measure)] += d.Units
	}
}

// DropJob implements providerjob.Store.
func (m *Memory) DropJob(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failure == nil {
		delete(m.rows, id)
	}
	return m.failure
}

// CountJobs implements providerjob.Store.
func (m *Memory) CountJobs(context.Context) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.rows), m.failure
}

// TakeLease implements lease.Book. A lease does not run out.
func (m *Memory) TakeLease(_ context.Context, name, holder string, _ time.Duration) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leases == nil {
		m.leases = map[string]string{}
	}
	if h := m.leases[name]; h != "" && h != holder {
		return false, nil
	}
	m.leases[name] = holder
	return true, nil
}

// ReleaseLease implements lease.Book.
func (m *Memory) ReleaseLease(_ context.Context, name, holder string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leases[name] == holder {
		delete(m.leases, name)
	}
	return nil
}

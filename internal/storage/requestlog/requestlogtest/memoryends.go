package requestlogtest

import (
	"context"
	"slices"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
)

// Delete implements requestlog.Rows.
func (m *Memory) Delete(_ context.Context, due requestlog.RetentionCutoffs) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gone := map[string]bool{}
	m.rows = slices.DeleteFunc(m.rows, func(r memoryRow) bool {
		gone[r.ID] = due.Has(&r.Attempt)
		return gone[r.ID]
	})
	m.trail = slices.DeleteFunc(m.trail, func(c record.Correction) bool { return gone[c.ID] || c.Started.Before(due.Before) })
	m.late = slices.DeleteFunc(m.late, func(h record.LateHooks) bool { return gone[h.ID] || h.Started.Before(due.Before) })
	return count(gone), nil
}

// Blank implements requestlog.Rows.
func (m *Memory) Blank(_ context.Context, due requestlog.RetentionCutoffs) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	blanked := map[string]bool{}
	for i := range m.rows {
		if r := &m.rows[i]; !r.blank && due.Has(&r.Attempt) {
			requestlog.Blank(&r.Attempt)
			r.blank, blanked[r.ID] = true, true
		}
	}
	m.trail = slices.DeleteFunc(m.trail, func(c record.Correction) bool { return blanked[c.ID] })
	m.late = slices.DeleteFunc(m.late, func(h record.LateHooks) bool { return blanked[h.ID] })
	return count(blanked), nil
}

func count(ids map[string]bool) (n int64) {
	for _, is := range ids {
		if is {
			n++
		}
	}
	return n
}

// DueFiles implements requestlog.Rows.
func (m *Memory) DueFiles(_ context.Context, node string, due requestlog.RetentionCutoffs) (files []uint32, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		if r := &m.rows[i]; r.hasBodiesOf(node) && due.Has(&r.Attempt) && !slices.Contains(files, r.ref.File) {
			files = append(files, r.ref.File)
		}
	}
	return files, nil
}

// hasBodiesOf reports whether a row has bodies in a file of a node.
func (r *memoryRow) hasBodiesOf(node string) bool {
	return r.ref.File > 0 && r.ref.File != bodies.Single && r.ref.Node == node
}

// RetainedSpans implements requestlog.Rows.
func (m *Memory) RetainedSpans(_ context.Context, node string, file uint32, due requestlog.RetentionCutoffs) (spans []bodies.Span, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		if r := &m.rows[i]; r.hasBodiesOf(node) && r.ref.File == file && !due.Has(&r.Attempt) {
			spans = append(spans, r.ref.Span())
		}
	}
	return spans, nil
}

// DueKeys implements requestlog.Rows.
func (m *Memory) DueKeys(_ context.Context, due requestlog.RetentionCutoffs) (keys []string, _ requestlog.RetentionCutoffs, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		if r := &m.rows[i]; r.ref.File == bodies.Single && due.Has(&r.Attempt) {
			keys = append(keys, r.ref.Key)
		}
	}
	return keys, due, nil
}

// Forget implements requestlog.Rows.
func (m *Memory) Forget(_ context.Context, node string, file uint32, due requestlog.RetentionCutoffs) (n int64, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		r := &m.rows[i]
		if due.Has(&r.Attempt) && r.ref.File == file && (file == bodies.Single || r.hasBodiesOf(node)) {
			r.ref = bodies.Ref{}
			n++
		}
	}
	return n, nil
}

// FirstFile implements requestlog.Rows.
func (m *Memory) FirstFile(_ context.Context, node string) (file uint32, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		if r := &m.rows[i]; r.hasBodiesOf(node) && (file == 0 || r.ref.File < file) {
			file = r.ref.File
		}
	}
	return file, nil
}

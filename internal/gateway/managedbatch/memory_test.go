package managedbatch_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/domain/batch"
	"sluice/internal/kernel/fault"
)

// memory is a store in memory, with a copy of each object.
type memory struct {
	mu      sync.Mutex // guards what follows
	files   []*batch.File
	chunks  map[string]map[int][]byte
	batches map[string][]byte
	order   []string
	leases  map[string]string
}

func newMemory() *memory {
	return &memory{chunks: map[string]map[int][]byte{}, batches: map[string][]byte{}, leases: map[string]string{}}
}

func (m *memory) TakeLease(_ context.Context, name, holder string, _ time.Duration) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.leases[name]; h != "" && h != holder {
		return false, nil
	}
	m.leases[name] = holder
	return true, nil
}

func (m *memory) ReleaseLease(_ context.Context, name, holder string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leases[name] == holder {
		delete(m.leases, name)
	}
	return nil
}

func (m *memory) AddChunk(_ context.Context, c batch.Chunk) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addChunk(c)
	return nil
}

func (m *memory) addChunk(c batch.Chunk) {
	if m.chunks[c.FileID] == nil {
		m.chunks[c.FileID] = map[int][]byte{}
	}
	m.chunks[c.FileID][c.Number] = slices.Clone(c.Data)
}

func (m *memory) FindChunk(_ context.Context, id string, n int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if data, ok := m.chunks[id][n]; ok {
		return data, nil
	}
	return nil, fault.New(fault.NotFound, "")
}

func (m *memory) SaveFile(_ context.Context, f *batch.File) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := *f
	m.files = append(m.files, &c)
	return nil
}

func (m *memory) FindFile(_ context.Context, workspace, id string, now time.Time) (*batch.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.files {
		if f.ID == id && f.WorkspaceID == workspace && now.Before(f.Expires) {
			c := *f
			return &c, nil
		}
	}
	return nil, fault.New(fault.NotFound, "")
}

func (m *memory) ListFiles(_ context.Context, p batch.Page, purpose string) (list []*batch.File, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range slices.Backward(m.files) {
		if f.WorkspaceID == p.WorkspaceID && (purpose == "" || f.Purpose == purpose) {
			list = append(list, f)
		}
	}
	return list[:min(len(list), p.Limit)], nil
}

func (m *memory) DeleteFile(_ context.Context, workspace, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.files)
	m.files = slices.DeleteFunc(m.files, func(f *batch.File) bool { return f.ID == id && f.WorkspaceID == workspace })
	if len(m.files) == before {
		return fault.New(fault.NotFound, "")
	}
	delete(m.chunks, id)
	return nil
}

func (m *memory) AddBatch(_ context.Context, b *batch.Batch, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, err := b.Encode()
	m.batches[b.ID], m.order = body, append(m.order, b.ID)
	return err
}

func (m *memory) FindBatch(_ context.Context, workspace, id string) (*batch.Batch, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.find(workspace, id)
}

func (m *memory) find(workspace, id string) (*batch.Batch, error) {
	body, ok := m.batches[id]
	if !ok {
		return nil, fault.New(fault.NotFound, "")
	}
	b, err := batch.Decode(body)
	if err == nil && workspace != "" && b.WorkspaceID != workspace {
		return nil, fault.New(fault.NotFound, "")
	}
	return b, err
}

func (m *memory) ListBatches(_ context.Context, p batch.Page) (list []*batch.Batch, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Backward(m.order) {
		if b, err := m.find(p.WorkspaceID, id); err == nil && len(list) < p.Limit {
			list = append(list, b)
		}
	}
	return list, nil
}

func (m *memory) UpdateBatch(_ context.Context, id string, change func(*batch.Batch) (*batch.Added, error)) (*batch.Batch, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, err := m.find("", id)
	if err != nil {
		return nil, err
	}
	added, err := change(b)
	if err != nil {
		return nil, err
	}
	if m.batches[id], err = b.Encode(); err != nil || added == nil {
		return b, err
	}
	for _, c := range added.Chunks {
		m.addChunk(c)
	}
	m.files = append(m.files, added.Files...)
	return b, nil
}

func (m *memory) DueBatches(_ context.Context, now time.Time, limit int) (ids []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range m.order {
		if b, err := m.find("", id); err == nil && !b.State.Ended() && !b.Due.After(now) && len(ids) < limit {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (m *memory) SweepBatches(context.Context, time.Time) error { return nil }

// box marks what it seals, so that a test sees what is stored in plain text.
type box struct{}

func (box) Seal(plain []byte, context string) ([]byte, error) {
	sealed := []byte(context + "\x00")
	for _, c := range plain {
		sealed = append(sealed, c^0x55)
	}
	return sealed, nil
}

func (box) Open(data []byte, context string) ([]byte, error) {
	rest, ok := strings.CutPrefix(string(data), context+"\x00")
	if !ok {
		return nil, fault.New(fault.Internal, "sealed in another context")
	}
	plain := []byte(rest)
	for i := range plain {
		plain[i] ^= 0x55
	}
	return plain, nil
}

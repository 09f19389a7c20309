package catalog

import (
	"cmp"
	"slices"
	"time"
)

// LoadError is a file that could not be read, or that had no prices in it. Until a good one
// is there, the last good one counts, or else the next source.
type LoadError struct {
	Folder   Folder
	Provider string
	Source   string // its name
	Error    string
	Since    time.Time // of the latest attempt that failed
}

// faults remember what went wrong with files. The zero value is ready to use.
type faults struct {
	byFile map[file]LoadError
	total  uint64
}

// Faults are the files that are bad now, by folder and provider.
func (c *Catalog) Faults() []LoadError {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]LoadError, 0, len(c.faults.byFile))
	for _, f := range c.faults.byFile {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b LoadError) int {
		return cmp.Or(cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.Provider, b.Provider))
	})
	return out
}

// Failures is how often a file could not be read since the start.
func (c *Catalog) Failures() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.faults.total
}

// failed notes that a source has no good file. Of files that nobody can ask for by name
// there are no more than maxFiles.
func (c *Catalog) failed(f file, source string, err error, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.faults.byFile == nil || len(c.faults.byFile) >= maxFiles {
		c.faults.byFile = make(map[file]LoadError)
	}
	c.faults.byFile[f] = LoadError{f.folder, f.provider, source, err.Error(), now}
	c.faults.total++
}

// clearErrors notes that no source failed.
func (c *Catalog) clearErrors(f file) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.faults.byFile, f)
}

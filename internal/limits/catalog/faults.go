package catalog

import (
	"cmp"
	"slices"
	"time"
)

// LoadError describes a file that could not be read or contained invalid prices. Until a valid
// file is read, the last valid one applies, or else the next source.
type LoadError struct {
	Folder   Folder
	Provider string
	Source   string // its name
	Error    string
	Since    time.Time // time of the latest failed attempt
}

// faults contains the load errors of files. The zero value is ready to use.
type faults struct {
	byFile map[file]LoadError
	total  uint64
}

// Faults returns the current load errors, by folder and provider.
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

// Failures returns how often a file could not be read since the start.
func (c *Catalog) Failures() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.faults.total
}

// failed records that a source has no valid file. It keeps at most maxFiles errors.
func (c *Catalog) failed(f file, source string, err error, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.faults.byFile == nil || len(c.faults.byFile) >= maxFiles {
		c.faults.byFile = make(map[file]LoadError)
	}
	c.faults.byFile[f] = LoadError{f.folder, f.provider, source, err.Error(), now}
	c.faults.total++
}

// clearErrors records that no source failed.
func (c *Catalog) clearErrors(f file) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.faults.byFile, f)
}

package journal

import "sync/atomic"

// damageLog logs and counts the entries that cannot be read back.
type damageLog struct {
	o       *Options
	damaged atomic.Uint64 // entries since Open
}

// recordCorrupt counts and logs an entry that cannot be read back and is skipped.
func (d *damageLog) recordCorrupt(f frame) {
	d.damaged.Add(1)
	d.o.Logger.Warn("skipping corrupt journal entry", "path", f.seg.path, "offset", f.offset, "sequence", f.seq)
}

// recordLost counts and logs entries that were at an offset of a file and cannot be found.
func (d *damageLog) recordLost(s *segment, offset int64, entries uint64) {
	d.damaged.Add(entries)
	d.o.Logger.Error("journal segment is corrupt; entries in the damaged range are lost",
		"path", s.path, "offset", offset, "entries_lost", entries)
}

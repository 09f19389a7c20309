package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
)

// unit is what the kernel may write as one.
const unit = 16 << 10

// TestSyncLeavesItsUnitsAlone: what is appended behind a Sync stands in no unit that this
// wrote; whatever is appended, written and trimmed in whichever order, everything that was
// not trimmed is read, also after a crash at that point.
func TestSyncLeavesItsUnitsAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		j := open(t, small(dir))
		var pos record.Position
		trimmed, appended, written := 0, 0, false
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"append", "sync", "trim"}).Draw(rt, "step") {
			case "append":
				from, _, err := j.AppendWhere(recordtest.Chat(appended))
				if err != nil {
					rt.Fatal(err)
				}
				if written && from.Offset%unit != 0 && from.Offset > unit {
					rt.Fatalf("a record went to %d, in a unit that was written", from.Offset)
				}
				n := rapid.IntRange(1, 4).Draw(rt, "records")
				put(t, j, appended+1, appended+n)
				appended, written = appended+n, false
			case "sync":
				if err := j.Sync(); err != nil {
					rt.Fatal(err)
				}
				written = true
			case "trim":
				var got []*record.Attempt
				got, pos = read(j, pos)
				if len(got) != appended-trimmed {
					rt.Fatalf("%d records were read, not %d", len(got), appended-trimmed)
				}
				if err := j.Trim(pos); err != nil {
					rt.Fatal(err)
				}
				trimmed = appended
			}
		}
		got, _ := read(j, pos)
		same(t, "read on", got, chats(trimmed, appended))
		after := open(t, small(copied(t, dir)))
		got, _ = read(after, pos)
		same(t, "after a crash", got, chats(trimmed, appended))
	})
}

// copied is what is in a directory at this moment, in another one.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, filepath.Base(f)), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

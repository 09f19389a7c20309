package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"sluice/internal/ops/hint"
	"sluice/internal/storage/sqlstore"
)

// Limits on how far the clock may differ from others: the clock of the database server, and the
// clocks that set the times of files in the data directory, which may be on a server too.
const (
	clockSlack = 5 * time.Second
	fileSlack  = time.Minute
)

// clockMin is a time in the past; the build time of the program, if known, is later.
var clockMin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// Clock compares the clock with what is available without a network: the clock of the database
// server, the times of files in the data directory, and the build time of the program.
type Clock struct{ Deployment *Deployment }

// Run implements Check.
func (c Clock) Run(ctx context.Context) []Finding { return []Finding{c.check(ctx, time.Now)} }

func (c Clock) check(ctx context.Context, clock func() time.Time) Finding {
	d := c.Deployment
	f := Finding{Subject: "clock", Hint: "set the clock, for example with a time service; key expiry and limit resets depend on it"}
	now := clock().UTC()
	message := "the time is " + now.Format(time.RFC3339)
	switch path, newest := newestFile(d.Dir); {
	case now.Before(builtAt()):
		f.Err = fmt.Errorf("%s, which is before this program was built (%s)", message, builtAt().Format(time.RFC3339))
	case newest.Sub(now) > fileSlack:
		f.Err = fmt.Errorf("%s, but %s was written at %s", message, path, newest.UTC().Format(time.RFC3339))
	}
	if f.Err != nil || d.db == nil || d.Database.Engine == sqlstore.SQLite {
		f.Detail = message + ", later than the files in DATA_DIR and the build of this program; no other clock is available to compare"
		return f
	}
	theirs, err := d.db.Now(ctx)
	if err != nil {
		f.Err, f.Hint = hint.DatabaseError(d.Database, err), hint.Database(d.Database, err)
		return f
	}
	if off := clock().Sub(theirs); off.Abs() > clockSlack {
		f.Err = fmt.Errorf("%s, but the database server's clock is %s", message, theirs.Format(time.RFC3339))
		f.Hint = "correct the wrong clock, for example with a time service; key expiry and limit resets depend on it"
	}
	f.Detail = message + ", which matches the database server"
	return f
}

// builtAt returns when the source of the program was committed, or clockMin if unknown.
func builtAt() time.Time {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return clockMin
	}
	for _, set := range info.Settings {
		if built, err := time.Parse(time.RFC3339, set.Value); set.Key == "vcs.time" && err == nil && built.After(clockMin) {
			return built
		}
	}
	return clockMin
}

// newestFile returns the most recently written file of the data directory and its folders, and
// its time. It skips what it cannot read; other checks report that.
func newestFile(dir string) (path string, built time.Time) {
	for _, pattern := range [...]string{"*", "*/*"} {
		files, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are valid
		for _, name := range files {
			file := filepath.Join(dir, name)
			if st, err := os.Lstat(file); err == nil && st.Mode().IsRegular() && st.ModTime().After(built) {
				path, built = file, st.ModTime()
			}
		}
	}
	return path, built
}

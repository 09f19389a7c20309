package app

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"sluice/internal/config"
)

// How far the clock may be from others: that of the database's server, and those that
// wrote the files of the data directory, which may be on a server, too.
const (
	clockSlack = 5 * time.Second
	fileSlack  = time.Minute
)

// clockMin is a time that has passed; that of the program, where it is known, is later.
var clockMin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// checkClock compares the clock with what is at hand without a network: the clock of the
// database's server, the times of what is in the data directory, and that of the program.
func (d *stored) checkClock(ctx context.Context, s config.Settings, _ *slog.Logger) Finding {
	return d.clockAt(ctx, s, time.Now)
}

func (d *stored) clockAt(ctx context.Context, s config.Settings, clock func() time.Time) Finding {
	f := Finding{Subject: "clock", Hint: "set the clock, for example with a time service; key expiry and limit resets depend on it"}
	now := clock().UTC()
	message := "the time is " + now.Format(time.RFC3339)
	switch path, newest := newestFile(s.Data.Dir); {
	case now.Before(builtAt()):
		f.Err = fmt.Errorf("%s, which is before this program was built (%s)", message, builtAt().Format(time.RFC3339))
	case newest.Sub(now) > fileSlack:
		f.Err = fmt.Errorf("%s, but %s was written at %s", message, path, newest.UTC().Format(time.RFC3339))
	}
	if f.Err != nil || d.db == nil || s.Database.Type == config.SQLite {
		f.Detail = message + ", later than the files in DATA_DIR and the build of this program; no other clock is available to compare"
		return f
	}
	theirs, err := d.db.Now(ctx)
	if err != nil {
		f.Err, f.Hint = storeError(s, err), dbErrorHint(s, err)
		return f
	}
	if off := clock().Sub(theirs); off.Abs() > clockSlack {
		f.Err = fmt.Errorf("%s, but the database server's clock is %s", message, theirs.Format(time.RFC3339))
		f.Hint = "correct the wrong clock, for example with a time service; key expiry and limit resets depend on it"
	}
	f.Detail = message + ", which matches the database server"
	return f
}

// builtAt is when the source of the program was committed, or else clockMin.
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

// newestFile is the file that was written last of those in the data directory and in the
// folders there, and when. What cannot be read is left out: other checks tell of it.
func newestFile(dir string) (path string, built time.Time) {
	for _, pattern := range [...]string{"*", "*/*"} {
		files, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are good
		for _, name := range files {
			file := filepath.Join(dir, name)
			if st, err := os.Lstat(file); err == nil && st.Mode().IsRegular() && st.ModTime().After(built) {
				path, built = file, st.ModTime()
			}
		}
	}
	return path, built
}

package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/ledger"
	"sluice/internal/storage/journal"
)

// What a re-rating writes to a journal is seen in its order, and nothing else: neither
// what calls write nor what was there before.
func TestWatchSeesCorrections(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := journal.Open(journal.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	write := func(stages ...stage) {
		t.Helper()
		for _, s := range stages {
			c := &record.Correction{Operation: ident.NewID()}
			if s == corrected {
				c.ID, c.Closing = ident.NewID(), (&ledger.Entry{ID: ident.NewID(), State: ledger.Corrected}).AppendTo(nil)
			}
			err := errors.Join(j.AppendLine(&ledger.Entry{ID: ident.NewID(), State: ledger.Reserved}), j.Append(&record.Attempt{ID: ident.NewID()}), j.AppendCorrection(c))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	write(corrected, marked)
	w, err := newWatch(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	want := []stage{marked, corrected, corrected, marked}
	write(want[0])
	var got []stage
	err = w.run(ctx, func(s stage) {
		if got = append(got, s); len(got) < len(want) {
			write(want[len(got)])
		} else {
			cancel()
		}
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("seen: %v, %v; want %v", got, err, want)
	}
}

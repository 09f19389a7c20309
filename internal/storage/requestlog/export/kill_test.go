package export_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/record"
	"sluice/internal/storage/journal/killtest"
)

func TestMain(m *testing.M) {
	killtest.Child(exportUntilKilled)
	os.Exit(m.Run())
}

// killedRows is how many rows the log of a child has.
const killedRows = 1500

// exportUntilKilled is the child: it runs what there is to run and acknowledges every step;
// when all is done it acknowledges until it is killed. The first child places the order
// that lies in the directory.
func exportUntilKilled(dir string, from int64) {
	step := func(string) error {
		from++
		killtest.Acknowledge(from)
		return nil
	}
	w, err := open(context.Background(), dir, killedRows, 1<<30, func(string) error { return nil }, os.Stderr)
	if err != nil {
		panic(err)
	}
	placed := filepath.Join(dir, "placed")
	if _, err := os.Stat(placed); errors.Is(err, fs.ErrNotExist) {
		recordOrder(w, dir, placed)
	}
	if err := w.store.Close(); err != nil {
		panic(err)
	}
	if w, err = open(context.Background(), dir, killedRows, 1<<30, step, os.Stderr); err != nil {
		panic(err)
	}
	if err := w.runner.RunPending(context.Background()); err != nil {
		panic(err)
	}
	for {
		_ = step("done") // it never fails
	}
}

// recordOrder puts the order of the directory on record. Its id is written last, so that a child
// that was killed before placed nothing that is looked at.
func recordOrder(w *world, dir, placed string) {
	raw, err := os.ReadFile(filepath.Join(dir, "order"))
	if err != nil {
		panic(err)
	}
	var e record.Export
	if err := json.Unmarshal(raw, &e); err != nil {
		panic(err)
	}
	id, err := w.order(context.Background(), e)
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(placed, []byte(id), 0o600); err != nil {
		panic(err)
	}
}

// Killed again and again at any step, an export has every row in its file, once and in order.
func TestKilledNeitherLosesNorDoubles(t *testing.T) {
	t.Parallel()
	for _, e := range []record.Export{
		{Format: record.ExportJSONL, Compression: record.ExportPlain, Fields: []string{"id", "metadata"}},
		{Format: record.ExportJSONL, Compression: record.ExportZstd, Fields: []string{"id", "request"}},
		{Format: record.ExportJSONL, Compression: record.ExportGzip, Fields: []string{"id", "metadata"}},
		{Format: record.ExportParquet, Compression: record.ExportZstd, Fields: []string{"id", "request"}},
	} {
		t.Run(string(e.Format+" "+record.ExportFormat(e.Compression)), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			order, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "order"), order, 0o600); err != nil {
				t.Fatal(err)
			}
			steps := 25 // of pages and transactions
			if strings.Contains(strings.Join(e.Fields, " "), "request") {
				steps = 1200 // each body is one
			}
			for range 6 {
				killtest.Acknowledged(t, dir, 0, 1+rand.IntN(steps))
			}
			w, err := open(t.Context(), dir, killedRows, 1<<30, func(string) error { return nil }, t.Output())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.store.Close() }() // the test is over
			if err := w.runner.RunPending(t.Context()); err != nil {
				t.Fatal(err)
			}
			id, err := os.ReadFile(filepath.Join(dir, "placed"))
			if err != nil {
				t.Fatal(err)
			}
			after := w.find(t, string(id))
			rows := w.read(t, string(id), after)
			for _, row := range rows {
				delete(row, "metadata")
				delete(row, "request")
			}
			if diff := cmp.Diff(wantRows([]string{"id"}, killedRows-1, 0), rows); diff != "" || after.State != record.ExportDone {
				t.Errorf("%s (-want +got):\n%.500s", after.State, diff)
			}
		})
	}
}

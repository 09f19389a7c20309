package duckdb_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/requestlog/duckdb"
	"sluice/internal/storage/requestlog/requestlogtest"
)

// powerCut copies a database as it lies on the disk, with what harm makes of its log.
func powerCut(t *testing.T, path string, harm func(log []byte) []byte) (copied string) {
	t.Helper()
	copied = filepath.Join(t.TempDir(), "logs.duckdb")
	for _, end := range []string{"", ".wal"} {
		b, err := os.ReadFile(path + end)
		if err != nil {
			t.Fatal(err)
		}
		if end != "" {
			b = harm(b)
		}
		if err := os.WriteFile(copied+end, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return copied
}

// However a power failure leaves the end of the write-ahead log, the database opens, has what
// was committed before, and goes on.
func TestTornLogIsCutBeforeTheFault(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logs.duckdb")
	db := open(t, path)
	requestlogtest.Put(t, db, recordtest.Chat(0), recordtest.Chat(1))
	before, err := os.Stat(path + ".wal")
	if err != nil {
		t.Fatal(err)
	}
	requestlogtest.Put(t, db, recordtest.Chat(2))
	second := int(before.Size())
	tests := []struct {
		name  string
		harm  func(b []byte) []byte
		rows  int
		aside bool
	}{
		{"zeros behind all", func(b []byte) []byte { return append(b, make([]byte, 4096)...) }, 3, true},
		{"the last transaction is zeros", func(b []byte) []byte { clear(b[second:]); return b }, 2, true},
		{"the end of the last transaction is zeros", func(b []byte) []byte { clear(b[(second+len(b))/2:]); return b }, 2, true},
		{"the last transaction is noise", func(b []byte) []byte { copy(b[second+16:], bytes.Repeat([]byte("noise"), 20)); return b }, 2, true},
		{"cut in the last transaction", func(b []byte) []byte { return b[:(second+len(b))/2] }, 2, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			corruptPath := powerCut(t, path, tt.harm)
			was, err := os.ReadFile(corruptPath + ".wal")
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			db, err := duckdb.Open(t.Context(), duckdb.Options{Path: corruptPath, MemoryMB: 128, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			page, err := db.List(t.Context(), record.Query{OrgID: recordtest.Org})
			if err != nil || len(page.Rows) != tt.rows {
				t.Errorf("%d rows, %v; want %d", len(page.Rows), err, tt.rows)
			}
			saved, err := os.ReadFile(corruptPath + ".wal.damaged")
			if tt.aside != (err == nil && len(saved) > 0 && bytes.HasSuffix(was, saved)) || tt.aside != strings.Contains(log.String(), "were moved aside") {
				t.Errorf("%d bytes set aside, %v; the log says %s", len(saved), err, &log)
			}
			requestlogtest.Put(t, db, recordtest.Chat(3))
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			openAndClose(t, corruptPath, func(db *duckdb.DB) {
				page, err := db.List(t.Context(), record.Query{OrgID: recordtest.Org})
				if err != nil || len(page.Rows) != tt.rows+1 {
					t.Errorf("opened again: %d rows, %v; want %d", len(page.Rows), err, tt.rows+1)
				}
			})
		})
	}
}

// A file that is none is refused, with what there is to do.
func TestDamagedDatabaseIsRefusedWithTheCure(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logs.duckdb")
	openAndClose(t, path, func(*duckdb.DB) {})
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty": nil, "noise": bytes.Repeat([]byte("noise"), 10_000), "cut short": intact[:20_000], "without its end": append(intact[:20_000:20_000], make([]byte, len(intact)-20_000)...),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := duckdb.Open(t.Context(), duckdb.Options{Path: path})
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "restore it from a backup") {
			t.Errorf("%s: %v; want a refusal that says what to do", name, err)
		}
		if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, content) {
			t.Errorf("%s: the file was changed, %v", name, err)
		}
	}
}

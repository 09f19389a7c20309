package control_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"sluice/internal/domain/audit"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

var update = flag.Bool("update", false, "rewrite the transcripts and the published description")

// A transcript is a script of calls: each file of the archive is one of them. The
// first line says who calls what, headers and the body follow, then "=>" with the
// status and the answer as it must be; "wait 48h" lets time pass instead, "use <id> 5"
// adds nano-dollars or tokens to the budgets of a carrier (or, with a third word, to a
// policy's counter of that value key), "sign" writes the checkpoints of the audit trail. What is different in every run (ids,
// generated slugs, raw keys) stands under a name in angle brackets, both in answers
// and in what is sent. The file "audit" at the end has the trail that was left.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]func(testing.TB) sqlstore.Settings{
		"sqlite": storetest.SQLite, "postgres": storetest.Postgres, "mysql": storetest.MySQL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if *update && name != "sqlite" {
				t.Skip("transcripts are rewritten from one engine")
			}
			set := settings(t)
			st := storetest.Open(t, set)
			files, err := filepath.Glob("testdata/*.txtar")
			if err != nil || len(files) == 0 {
				t.Fatalf("no transcripts: %v", err)
			}
			t.Run("all", func(t *testing.T) {
				for _, file := range files {
					t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
						t.Parallel()
						play(t, st, file)
					})
				}
			})
			if set.Path != "" {
				noSecretsInFiles(t, filepath.Dir(set.Path))
			}
		})
	}
}

// play runs one transcript.
func play(t *testing.T, st *sqlstore.Store, file string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	script := txtar.Parse(raw)
	w := newWorld(t, st)
	got := w.play(t, script)
	for w.names.twice { // by chance two keys look alike, and what is shown may be either
		w = newWorld(t, st)
		got = w.play(t, script)
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for i, f := range script.Files {
		if diff := cmp.Diff(string(f.Data), string(got.Files[i].Data)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
	}
}

// play makes the calls of a script and returns it with the answers that came.
func (w *world) play(t *testing.T, script *txtar.Archive) *txtar.Archive {
	t.Helper()
	got := &txtar.Archive{Comment: script.Comment}
	for _, f := range script.Files {
		if f.Name == "audit" {
			got.Files = append(got.Files, txtar.File{Name: f.Name, Data: w.trail(t)})
			continue
		}
		got.Files = append(got.Files, txtar.File{Name: f.Name, Data: w.step(t, string(f.Data))})
	}
	return got
}

// step makes one call and returns its text with the answer that came.
func (w *world) step(t *testing.T, text string) []byte {
	t.Helper()
	ask, _, _ := strings.Cut(text, "=>")
	ask = strings.TrimRight(ask, "\n")
	line, rest, _ := strings.Cut(ask, "\n")
	if line == "sign" {
		w.sign(t)
		return []byte(line + "\n")
	}
	if line == "export" {
		w.exports.run(t)
		return []byte(line + "\n")
	}
	if what, ok := strings.CutPrefix(line, "use "); ok {
		w.use(t, w.names.reveal(what))
		return []byte(line + "\n")
	}
	if d, ok := strings.CutPrefix(line, "wait "); ok {
		w.clock.wait(t, d)
		return []byte(line + "\n")
	}
	var caller, method, path string
	if _, err := fmt.Sscanf(line, "%s %s %s", &caller, &method, &path); err != nil {
		t.Fatalf("%q is not: caller METHOD path", line)
	}
	r := httptest.NewRequest(method, w.names.reveal(path), nil)
	r.RemoteAddr = "203.0.113.7:40000"
	for strings.Contains(rest, ": ") && !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, "[") {
		var header string
		header, rest, _ = strings.Cut(rest, "\n")
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, w.names.reveal(value))
	}
	if key := w.key(caller); key != "" {
		r.Header.Set("x-gateway-api-key", key)
	}
	r.Body = http.NoBody
	if rest != "" {
		r.Body = readCloser{strings.NewReader(w.names.reveal(rest))}
	}
	if !w.admin.Matches(r.Method, r.URL.EscapedPath()) {
		return []byte(ask + "\n=> not an administrative route\n")
	}
	rec := httptest.NewRecorder()
	w.admin.Handler().ServeHTTP(rec, r)
	if err := w.admin.Await(t.Context()); err != nil {
		t.Error(err)
	}
	return []byte(ask + "\n=> " + w.formatResponse(t, r, rec))
}

// formatResponse is what came back, in the form of the transcript.
func (w *world) formatResponse(t *testing.T, r *http.Request, rec *httptest.ResponseRecorder) string {
	t.Helper()
	if rec.Header().Get("x-gateway-request-id") == "" {
		t.Error("the answer has no request id")
	}
	w.describe.check(t, r, rec)
	if strings.Contains(rec.Body.String(), marker) {
		t.Errorf("a secret is in an answer: %s", rec.Body)
	}
	if rec.Header().Get("Content-Type") == "application/x-ndjson" {
		if !strings.HasPrefix(r.URL.Path, "/v1/logs/exports/") {
			w.exportVerifies(t, rec.Body.Bytes())
		}
		return fmt.Sprintf("%d application/x-ndjson\n%s", rec.Code, w.names.hide(rec.Body.String()))
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, bytes.TrimSpace(rec.Body.Bytes()), "", "  "); err != nil {
		t.Fatalf("the answer is no JSON: %s", rec.Body)
	}
	head := fmt.Sprint(rec.Code)
	if tag := rec.Header().Get("ETag"); tag != "" {
		head += " ETag " + tag
	}
	return head + "\n" + w.names.hide(pretty.String()) + "\n"
}

// exportVerifies holds an export of the audit trail against the key of the world.
func (w *world) exportVerifies(t *testing.T, body []byte) {
	t.Helper()
	if _, err := audit.Verify(bytes.NewReader(body), w.signer.Public(), audit.Options{}); err != nil {
		t.Errorf("the export does not verify: %v", err)
	}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// noSecretsInFiles looks for what the transcripts sent as secrets, and for raw keys,
// in everything that the database left on disk.
func noSecretsInFiles(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		seen += len(b)
		if bytes.Contains(b, []byte(marker)) {
			t.Errorf("%s holds a secret in the clear", e.Name())
		}
		if m := rawKey.Find(b); m != nil {
			t.Errorf("%s holds a raw key", e.Name())
		}
	}
	if seen == 0 {
		t.Error("there was no file to look into")
	}
}

package catalog_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/limits/catalog"
	"sluice/internal/ops/config"
)

func TestLocalLogStoreStaysInItsDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	logs := filepath.Join(dir, "logs")
	d := catalog.Directory(logs)
	if _, err := d.Open(t.Context(), "pricing/acme.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory yet: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(logs, "pricing"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(dir, "secret.json"), filepath.Join(logs, "pricing", "acme.json")} {
		if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "secret.json"), filepath.Join(logs, "pricing", "out.json")); err != nil {
		t.Fatal(err)
	}
	f, err := d.Open(t.Context(), "pricing/acme.json")
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := io.ReadAll(f); string(raw) != "{}" || err != nil || f.Close() != nil {
		t.Errorf("%q %v", raw, err)
	}
	if _, err := d.Open(t.Context(), "pricing/none.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, path := range []string{"../secret.json", "pricing/out.json", "/etc/passwd", ""} {
		if _, err := d.Open(t.Context(), path); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestCatalogErrorsHaveNoLogin(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/openai") {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer srv.Close()
	s := catalog.Masked(catalog.Proxy(strings.Replace(srv.URL, "://", "://name:hidden@", 1), srv.Client(), func(string) bool { return true }), config.WithoutLogin)
	if _, err := s.Read(t.Context(), catalog.PricingFiles, "openai"); err == nil || !strings.Contains(err.Error(), "://***@127.0.0.1") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("%v", err)
	}
	if _, err := s.Read(t.Context(), catalog.PricingFiles, "groq"); !errors.Is(err, catalog.ErrNone) {
		t.Errorf("no such file: %v", err)
	}
}

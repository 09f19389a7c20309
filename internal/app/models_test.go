package app

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/catalog"
	"sluice/internal/provider"
)

func TestLocalLogStoreStaysInItsDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	logs := filepath.Join(dir, "logs")
	d := directory(logs)
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
	s := maskedSource{catalog.Proxy(strings.Replace(srv.URL, "://", "://name:hidden@", 1), srv.Client(), func(string) bool { return true })}
	if _, err := s.Read(t.Context(), catalog.PricingFiles, "openai"); err == nil || !strings.Contains(err.Error(), "://***@127.0.0.1") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("%v", err)
	}
	if _, err := s.Read(t.Context(), catalog.PricingFiles, "groq"); !errors.Is(err, catalog.ErrNone) {
		t.Errorf("no such file: %v", err)
	}
}

// A directory of model files that is not there would be passed over in silence, each of
// its files being one that nobody wrote.
func TestMissingModelDirectoriesAreToldOf(t *testing.T) {
	t.Parallel()
	var logOutput strings.Builder
	a := &App{log: slog.New(slog.NewTextHandler(&logOutput, nil)), specs: new(provider.Table)}
	a.set.Models.PricingDir = filepath.Join(t.TempDir(), "prices")
	a.set.Models.CapabilitiesDir = t.TempDir()
	if err := a.openCatalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	if strings.Count(logOutput.String(), "\n") != 1 || !strings.Contains(logOutput.String(), "setting=MODEL_CONFIGS_PRICING_LOCAL_PATH") {
		t.Errorf("the log says %q", logOutput.String())
	}
}

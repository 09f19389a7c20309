package catalog_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/kernel/fault"
	"sluice/internal/limits/catalog"
)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// files is a source that counts how often it is asked.
type files struct {
	texts map[string]string // by folder/provider
	err   error
	reads int
}

func (f *files) Name() string { return "test" }

func (f *files) Read(_ context.Context, folder catalog.Folder, provider string) ([]byte, error) {
	f.reads++
	if text, ok := f.texts[string(folder)+"/"+provider]; ok && f.err == nil {
		return []byte(text), nil
	}
	if f.err != nil {
		return nil, f.err
	}
	return nil, catalog.ErrNone
}

func newCatalog(c *clock, sources ...catalog.Source) *catalog.Catalog {
	return catalog.New(c, slog.New(slog.DiscardHandler), sources...)
}

const acme = `{
	"$source": {"url": "https://acme.example/pricing"},
	"name": "Acme",
	"default": {"pricing_config": {"pay_as_you_go": {"request_token": {"price": 0}}, "calculate": {"request": {"value": "input_tokens"}}}},
	"large": {"pricing_config": {"pay_as_you_go": {"request_token": {"price": 0.0002}}, "fixed_cost": {"request": {"price": 1}}}, "foreign": true},
	"euro": {"pricing_config": {"calculate": {"response": {"value": "0"}}, "currency": "EUR"}},
	"free": {"pricing_config": null}
}`

func TestPricingInherits(t *testing.T) {
	t.Parallel()
	c := newCatalog(&clock{}, &files{texts: map[string]string{"pricing/acme": acme}})
	price := func(v float64) *catalog.Price { return &catalog.Price{Price: v} }
	formula := func(v string) *catalog.Node { return &catalog.Node{Value: v} }
	for model, want := range map[string]catalog.Pricing{
		"large": {
			PayAsYouGo: &catalog.Rates{RequestToken: price(0.0002)}, Calculate: &catalog.Formulas{Request: formula("input_tokens")},
			Fixed: &catalog.Fixed{Request: price(1)}, Currency: "USD",
		},
		"euro": {PayAsYouGo: &catalog.Rates{RequestToken: price(0)}, Calculate: &catalog.Formulas{Response: formula("0")}, Currency: "EUR"},
	} {
		got, err := c.Pricing(t.Context(), "acme", model)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", model, err, diff)
		}
	}
	for _, model := range []string{"small", "free", "default", "", "$source", "name", "Large"} {
		if _, err := c.Pricing(t.Context(), "acme", model); !fault.Has(err, fault.NotFound) {
			t.Errorf("%q: %v, want not found", model, err)
		}
	}
	for _, provider := range []string{"none", "", "Acme", "../acme", "acme.json", strings.Repeat("a", 65)} {
		if _, err := c.Prices(t.Context(), provider); !fault.Has(err, fault.NotFound) {
			t.Errorf("%q: %v, want not found", provider, err)
		}
	}
}

func TestGeneralInherits(t *testing.T) {
	t.Parallel()
	c := newCatalog(&clock{}, &files{texts: map[string]string{"general/acme": `{
		"name": "Acme", "default": {"params": [{"key": "temperature", "maxValue": 2}], "type": {"primary": "chat"}},
		"large": {"type": {"primary": "chat", "supported": ["tools"]}}, "still": {"params": []}}`}})
	two := 2.0
	want := catalog.General{Params: []catalog.Param{{Key: "temperature", MaxValue: &two}}, Type: &catalog.Type{Primary: "chat", Supported: []string{"tools"}}}
	got, err := c.General(t.Context(), "acme", "large")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err = c.General(t.Context(), "acme", "still"); err != nil || len(got.Params) != 0 {
		t.Errorf("an empty list was filled from the default: %v %v", got.Params, err)
	}
	for _, model := range []string{"default", "none"} {
		if _, err := c.General(t.Context(), "acme", model); !fault.Has(err, fault.NotFound) {
			t.Errorf("%s: %v, want not found", model, err)
		}
	}
}

func TestNamesOnBedrock(t *testing.T) {
	t.Parallel()
	one := `{"pricing_config": {"currency": "USD"}}`
	src := &files{texts: map[string]string{
		"pricing/bedrock": `{"anthropic.claude-v2:1": ` + one + `, "eu.own": ` + one + `, "own": ` + one + `}`,
		"pricing/other":   `{"anthropic.claude-v2:1": ` + one + `}`,
	}}
	c := newCatalog(&clock{}, src)
	for model, known := range map[string]bool{
		"anthropic.claude-v2:1": true, "us.anthropic.claude-v2:1": true, "global.anthropic.claude-v2:1": true, "eu.own": true,
		"arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-v2:1":                 true,
		"arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-v2:1": true,
		"arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc":          false,
		"mars.anthropic.claude-v2:1": false,
	} {
		if _, err := c.Pricing(t.Context(), "bedrock", model); (err == nil) != known {
			t.Errorf("%s: %v", model, err)
		}
	}
	if _, err := c.Pricing(t.Context(), "other", "us.anthropic.claude-v2:1"); err == nil {
		t.Error("the prefix of a region was taken off for another provider")
	}
}

// A file stays in memory for an hour, one that is not there too.
func TestMemory(t *testing.T) {
	t.Parallel()
	now := &clock{time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	src := &files{texts: map[string]string{"pricing/acme": acme}}
	c := newCatalog(now, src)
	ask := func(provider string) bool {
		_, err := c.Prices(t.Context(), provider)
		return err == nil
	}
	for range 3 {
		if !ask("acme") || ask("none") {
			t.Fatal("the wrong files")
		}
	}
	if src.reads != 2 {
		t.Errorf("asked %d times for two files", src.reads)
	}
	now.now = now.now.Add(time.Hour)
	src.err = errors.New("away")
	if !ask("acme") {
		t.Error("what was known is gone because the source is away")
	}
	now.now = now.now.Add(30 * time.Second)
	ask("acme")
	if src.reads != 3 {
		t.Errorf("a source that is away was asked again at once (%d)", src.reads)
	}
	now.now = now.now.Add(time.Minute)
	src.err, src.texts = nil, nil
	if ask("acme") || src.reads != 4 {
		t.Errorf("a file that is gone is still there (asked %d times)", src.reads)
	}
}

func TestOrderOfSources(t *testing.T) {
	t.Parallel()
	first := &files{err: errors.New("away")}
	second := &files{texts: map[string]string{"pricing/acme": "no JSON"}}
	third := &files{texts: map[string]string{"pricing/acme": acme}}
	fourth := &files{}
	if _, err := newCatalog(&clock{}, first, second, third, fourth).Pricing(t.Context(), "acme", "large"); err != nil {
		t.Error(err)
	}
	if first.reads+second.reads+third.reads != 3 || fourth.reads != 0 {
		t.Errorf("asked %d %d %d %d", first.reads, second.reads, third.reads, fourth.reads)
	}
}

// Anybody may ask for anything: memory stays bounded.
func TestManyNames(t *testing.T) {
	t.Parallel()
	src := &files{}
	c := newCatalog(&clock{}, src)
	for i := range 3000 {
		if _, err := c.Prices(t.Context(), "p"+strconv.Itoa(i)); !fault.Has(err, fault.NotFound) {
			t.Fatal(err)
		}
	}
	_, _ = c.Prices(t.Context(), "p0") // was forgotten
	if src.reads != 3001 {
		t.Errorf("asked %d times", src.reads)
	}
}

func TestDirs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "acme.json"), []byte(acme), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newCatalog(&clock{}, catalog.Dirs(dir, ""), catalog.Builtin())
	if _, err := c.Pricing(t.Context(), "acme", "large"); err != nil {
		t.Error(err)
	}
	if _, err := c.Pricing(t.Context(), "openai", "gpt-4o"); err != nil {
		t.Errorf("what is not in the directory is built in: %v", err)
	}
	if _, err := c.General(t.Context(), "acme", "large"); !fault.Has(err, fault.NotFound) {
		t.Errorf("a directory that is not set has files: %v", err)
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	var paths []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path)
		switch r.URL.Path {
		case "/configs/pricing/acme", "/configs/pricing/static.json":
			_, _ = w.Write([]byte(acme))
		case "/configs/pricing/broken":
			w.WriteHeader(http.StatusBadGateway)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer service.Close()
	src := catalog.Proxy(service.URL+"/configs/", service.Client(), func(provider string) bool { return provider != "stranger" })
	for provider, want := range map[string]error{"acme": nil, "static": nil, "none": catalog.ErrNone, "stranger": catalog.ErrNone} {
		if _, err := src.Read(t.Context(), catalog.PricingFiles, provider); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", provider, err, want)
		}
	}
	if _, err := src.Read(t.Context(), catalog.PricingFiles, "broken"); err == nil || errors.Is(err, catalog.ErrNone) {
		t.Errorf("a service that fails: %v", err)
	}
	for _, p := range paths {
		if strings.Contains(p, "stranger") {
			t.Error("the service was asked for a provider that nobody knows")
		}
	}
}

// objects is a store of files in memory.
type objects map[string]string

func (o objects) Open(_ context.Context, path string) (io.ReadCloser, error) {
	switch text, ok := o[path]; {
	case !ok:
		return nil, fs.ErrNotExist
	case text == "away":
		return nil, errors.New("away")
	default:
		return io.NopCloser(strings.NewReader(text)), nil
	}
}

func TestLogStore(t *testing.T) {
	t.Parallel()
	stored := objects{"configs/pricing/acme.json": acme, "configs/pricing/broken.json": "away", "configs/pricing/vast.json": strings.Repeat(" ", 16<<20+1)}
	src := catalog.LogStore(stored, "/configs/pricing/", "")
	for provider, want := range map[string]error{"acme": nil, "none": catalog.ErrNone} {
		if _, err := src.Read(t.Context(), catalog.PricingFiles, provider); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", provider, err, want)
		}
	}
	for _, provider := range []string{"broken", "vast"} {
		if _, err := src.Read(t.Context(), catalog.PricingFiles, provider); err == nil || errors.Is(err, catalog.ErrNone) {
			t.Errorf("%s: %v", provider, err)
		}
	}
	if _, err := src.Read(t.Context(), catalog.GeneralFiles, "acme"); !errors.Is(err, catalog.ErrNone) {
		t.Errorf("a folder without a path: %v", err)
	}
}

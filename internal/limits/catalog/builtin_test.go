package catalog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/limits/catalog"
)

// builtinFile is a file as it is written: its notes, and its entries in their order.
type builtinFile struct {
	folder   catalog.Folder
	provider string
	notes    map[string]string // those that begin with "$", and the name and the description
	models   []string
	entries  map[string]json.RawMessage
}

func (f *builtinFile) String() string { return string(f.folder) + "/" + f.provider }

// providersOf are the providers that have a file in a folder.
func providersOf(t *testing.T, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("builtin", folder, "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files: %v", len(names), err)
	}
	for i, n := range names {
		names[i] = strings.TrimSuffix(filepath.Base(n), ".json")
	}
	return names
}

// builtinFiles reads all files of a folder with a decoder that finds what is written twice.
func builtinFiles(t *testing.T, folder catalog.Folder) []*builtinFile {
	t.Helper()
	providers := providersOf(t, string(folder))
	out := make([]*builtinFile, len(providers))
	for i, provider := range providers {
		raw, err := os.ReadFile(filepath.Join("builtin", string(folder), provider+".json"))
		if err != nil {
			t.Fatal(err)
		}
		out[i] = &builtinFile{folder: folder, provider: provider, notes: map[string]string{}, entries: map[string]json.RawMessage{}}
		if err := out[i].read(raw); err != nil {
			t.Fatalf("%s: %v", out[i], err)
		}
	}
	return out
}

func (f *builtinFile) read(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		key := name.(string) //nolint:forcetypeassert // the key of an object
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return err
		}
		if _, twice := f.entries[key]; twice || f.notes[key] != "" {
			return fmt.Errorf("%s stands there twice", key)
		}
		if v[0] == '{' {
			f.entries[key] = v
			f.models = append(f.models, key)
			continue
		}
		var text string
		if err := json.Unmarshal(v, &text); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		f.notes[key] = text
	}
	f.models = slices.DeleteFunc(f.models, func(m string) bool { return m == "default" })
	return nil
}

// strictly decodes what has no member that is unknown.
func strictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF { //nolint:errorlint // what Token returns
		return fmt.Errorf("there is more: %w", err)
	}
	return nil
}

// The list covers the models that people use, of the providers that we know.
func TestBuiltinCovers(t *testing.T) {
	t.Parallel()
	models := 0
	prices := builtinFiles(t, catalog.PricingFiles)
	for _, f := range prices {
		models += len(f.models)
		if _, err := os.Stat(filepath.Join("..", "..", "provider", "specs", f.provider+".json")); err != nil {
			t.Errorf("%s is not a provider: %v", f.provider, err)
		}
	}
	t.Logf("%d models of %d providers", models, len(prices))
	if len(prices) < 25 || models < 350 {
		t.Errorf("%d models of %d providers", models, len(prices))
	}
}

// Every file says where its facts are from and from which day, and how they were read.
func TestBuiltinFilesNameTheirSource(t *testing.T) {
	t.Parallel()
	for folder, more := range map[catalog.Folder][]string{catalog.PricingFiles: {"$note"}, catalog.GeneralFiles: {"name", "description"}} {
		for _, f := range builtinFiles(t, folder) {
			if !strings.HasPrefix(f.notes["$source"], "https://") {
				t.Errorf("%s: the source is %q", f, f.notes["$source"])
			}
			if day, err := time.Parse(time.DateOnly, f.notes["$checked"]); err != nil || day.After(time.Now()) {
				t.Errorf("%s was checked %s: %v", f, f.notes["$checked"], err)
			}
			if f.notes["$read"] == "" {
				t.Errorf("%s does not say where its figures were read", f)
			}
			for name := range f.notes {
				if !slices.Contains(append([]string{"$source", "$checked", "$read"}, more...), name) {
					t.Errorf("%s: nobody reads %s", f, name)
				}
			}
		}
	}
}

// What has a price has capabilities, and the other way round; both are served. Prices of
// tuned models are no model.
func TestBuiltinModelsAreServed(t *testing.T) {
	t.Parallel()
	c := newCatalog(&clock{}, catalog.Builtin())
	generals := map[string]*builtinFile{}
	for _, f := range builtinFiles(t, catalog.GeneralFiles) {
		generals[f.provider] = f
	}
	for _, f := range builtinFiles(t, catalog.PricingFiles) {
		g := generals[f.provider]
		if g == nil {
			t.Errorf("%s has prices and no capabilities", f.provider)
			continue
		}
		delete(generals, f.provider)
		f.models = slices.DeleteFunc(f.models, func(model string) bool { return strings.HasPrefix(model, "ft:") })
		if !slices.Equal(f.models, g.models) {
			t.Errorf("%s: the models of the two files differ, or their order", f.provider)
		}
		for _, model := range f.models {
			if p, err := c.Pricing(t.Context(), f.provider, model); err != nil || p.Currency != "USD" || p.PayAsYouGo == nil {
				t.Errorf("%s %s: %+v %v", f.provider, model, p, err)
			}
			if g, err := c.General(t.Context(), f.provider, model); err != nil || g.Type == nil {
				t.Errorf("%s %s: %+v %v", f.provider, model, g, err)
			}
		}
	}
	for provider := range generals {
		t.Errorf("%s has capabilities and no prices", provider)
	}
}

// What a model may be for, and what it may be able to do or to read.
// Source of the first: contract/content-and-observability.yaml, GeneralConfig.
var (
	primaries    = []string{"chat", "text", "embedding", "image", "audio", "moderation", "rerank", "ocr", "video"}
	capabilities = []string{
		"tools", "image", "pdf", "doc", "audio", "video", "code", "image_generation", "messages", "responses", "cache_control",
		"reasoning", "realtime", "speech", "transcription", "translation",
	}
)

func TestBuiltinCapabilities(t *testing.T) {
	t.Parallel()
	for _, f := range builtinFiles(t, catalog.GeneralFiles) {
		for model, raw := range f.entries {
			var g struct {
				catalog.General
				Retires string `json:"retires"`
			}
			if err := strictly(raw, &g); err != nil || g.Type == nil || !slices.Contains(primaries, g.Type.Primary) {
				t.Errorf("%s %s: %+v %v", f, model, g.Type, err)
				continue
			}
			if _, err := time.Parse(time.DateOnly, g.Retires); g.Retires != "" && err != nil {
				t.Errorf("%s %s: %v", f, model, err)
			}
			for _, s := range g.Type.Supported {
				if !slices.Contains(capabilities, s) {
					t.Errorf("%s %s supports %s", f, model, s)
				}
			}
			if g.Features == nil {
				continue
			}
			if fault := faultOfFeatures(g.Features, slices.Contains(g.Type.Supported, "reasoning")); fault != "" {
				t.Errorf("%s %s: %s", f, model, fault)
			}
		}
	}
}

// faultOfFeatures says what is wrong with the features of a built-in model, "" for nothing.
func faultOfFeatures(raw json.RawMessage, reasons bool) string {
	var f struct {
		Context *int64 `json:"context_window"`
		Output  int64  `json:"max_output_tokens"`
		Use     string `json:"reasoning_use"`
		Shown   string `json:"reasoning_shown"`
	}
	if err := strictly(raw, &f); err != nil {
		return err.Error()
	}
	switch {
	case f.Context == nil && f.Output != 0, f.Context != nil && (*f.Context < 100 || *f.Context > 20_000_000 || f.Output < 0 || f.Output > *f.Context):
		return "sizes: " + string(raw)
	case f.Context == nil && f.Use+f.Shown == "":
		return "no features"
	case !reasons && f.Use+f.Shown != "":
		return "it does not reason"
	case f.Use != "" && !slices.Contains([]string{"on_request", "default", "always"}, f.Use):
		return "reasoning_use " + f.Use
	case f.Shown != "" && !slices.Contains([]string{"full", "summary", "none"}, f.Shown):
		return "reasoning_shown " + f.Shown
	}
	return ""
}

// Figures that everybody knows, in dollars for a million tokens in and out.
func TestBuiltinPrices(t *testing.T) {
	t.Parallel()
	c := newCatalog(&clock{}, catalog.Builtin())
	for name, want := range map[string][2]float64{
		"openai gpt-4o": {2.5, 10}, "openai gpt-4o-mini": {0.15, 0.6}, "openai gpt-5": {1.25, 10}, "openai o3": {2, 8},
		"anthropic claude-sonnet-4-5": {3, 15}, "anthropic claude-opus-4-5": {5, 25}, "anthropic claude-3-haiku-20240307": {0.25, 1.25},
		"google gemini-2.5-flash": {0.3, 2.5}, "google gemini-2.5-pro": {1.25, 10}, "vertex-ai gemini-2.5-pro": {1.25, 10},
		"bedrock amazon.nova-pro-v1:0": {0.8, 3.2}, "bedrock global.anthropic.claude-sonnet-4-5-20250929-v1:0": {3, 15},
		"azure-openai gpt-4o": {2.5, 10}, "mistral-ai codestral-2508": {0.3, 0.9}, "cohere command-a-03-2025": {2.5, 10},
		"deepseek deepseek-chat": {0.28, 0.42}, "groq meta-llama/llama-4-scout-17b-16e-instruct": {0.11, 0.34}, "x-ai grok-4": {3, 15},
		"perplexity-ai sonar-pro": {3, 15}, "moonshot kimi-k2-thinking": {0.6, 2.5}, "ai21 jamba-large": {2, 8},
	} {
		provider, model, _ := strings.Cut(name, " ")
		p, err := c.Pricing(t.Context(), provider, model)
		if err != nil {
			t.Error(err)
			continue
		}
		got := [2]float64{p.PayAsYouGo.RequestToken.Price * perMillion, p.PayAsYouGo.ResponseToken.Price * perMillion}
		for i := range got {
			if d := got[i] - want[i]; d > 1e-9 || d < -1e-9 {
				t.Errorf("%s costs %v, want %v", name, got, want)
			}
		}
	}
}

// perMillion turns cents for a token into dollars for a million.
const perMillion = 10_000

// sortedKeys are the names in a map, for findings in the same order every time.
func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

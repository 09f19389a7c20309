package app

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/ops/config"
	"sluice/internal/provider"
)

// A directory of model files that is not there would be passed over in silence, each of
// its files being one that nobody wrote.
func TestMissingModelDirectoriesAreToldOf(t *testing.T) {
	t.Parallel()
	var logOutput strings.Builder
	a := &upstreams{base: newBase(config.Default(), Options{Log: slog.New(slog.NewTextHandler(&logOutput, nil))}), specs: new(provider.Table)}
	a.set.Models.PricingDir = filepath.Join(t.TempDir(), "prices")
	a.set.Models.CapabilitiesDir = t.TempDir()
	if err := a.openCatalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	if strings.Count(logOutput.String(), "\n") != 1 || !strings.Contains(logOutput.String(), "setting=MODEL_CONFIGS_PRICING_LOCAL_PATH") {
		t.Errorf("the log says %q", logOutput.String())
	}
}

package configs

import (
	"strings"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

func TestAPurgeWithoutACacheNamesTheSetting(t *testing.T) {
	t.Parallel()
	_, err := responseCache{Deps{}}.purge(t.Context(), &resource.Call{})
	if !fault.Has(err, fault.NotSupported) || !strings.Contains(err.Error(), "RESPONSE_CACHE_STORE") {
		t.Errorf("got %v", err)
	}
}

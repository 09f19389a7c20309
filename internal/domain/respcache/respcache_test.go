package respcache_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/respcache"
)

func TestCacheKeysHave64HexadecimalDigits(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		strings.Repeat("0f", 32): true, strings.Repeat("0F", 32): true,
		"": false, "0f": false, strings.Repeat("0f", 33): false, strings.Repeat("0g", 32): false,
	} {
		if got := respcache.ValidKey(key); got != want {
			t.Errorf("%q: got %v", key, got)
		}
	}
}

package gateway_test

import (
	"testing"

	"sluice/internal/domain/respcache"
	"sluice/internal/kernel/jsonedit"
)

// The recorded key of a lookup has the form that a purge accepts.
func TestCache_RecordsTheKeyThatAPurgeAccepts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.call("POST", "/v1/chat/completions", hello, r.inline(simpleCache))
	lookup := r.journal.one(t).Lookup
	if key := jsonedit.Text([]byte(lookup), "key"); !respcache.ValidKey(key) {
		t.Errorf("key %q in %s", key, lookup)
	}
}

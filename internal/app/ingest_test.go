package app

import (
	"net/http"
	"testing"

	"sluice/internal/admin"
)

// What is described of ingestion is served, under both versions.
func TestIngestIsServedWhereItIsDescribed(t *testing.T) {
	t.Parallel()
	pages := map[string]http.HandlerFunc{}
	new(App).ingest(pages)
	for _, p := range admin.TelemetryPaths() {
		if pages["/v1"+p.Path] == nil || pages["/v2"+p.Path] == nil {
			t.Errorf("nobody serves %s", p.Path)
		}
	}
}

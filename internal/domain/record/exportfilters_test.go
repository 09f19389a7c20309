package record_test

import (
	"encoding/json"
	"testing"

	"sluice/internal/domain/record"
)

// Lists of exports may have blanks, as those of pages may.
func TestExportListsWithBlanks(t *testing.T) {
	f, err := record.ReadExportFilters(json.RawMessage(`{"ai_model":"gpt-4o, gpt-4o-mini,","ai_org":"openai, anthropic"}`))
	if err != nil {
		t.Fatal(err)
	}
	q := f.Query("o", "w")
	if len(q.Models) != 2 || q.Models[1] != "gpt-4o-mini" || len(q.Providers) != 2 || q.Providers[1] != "anthropic" {
		t.Errorf("%q %q", q.Models, q.Providers)
	}
}

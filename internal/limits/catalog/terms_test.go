package catalog_test

import (
	"encoding/json"
	"testing"

	"sluice/internal/limits/catalog"
)

func TestAppendTerms_WritesTheJSONOfTheTerms(t *testing.T) {
	t.Parallel()
	terms := []catalog.Term{
		{Dimension: "input", Key: "request_token", Units: 1200, Per: 1, Rate: "0.0000025", Factor: "1", Nano: 3_000_000},
		{Dimension: `a "quoted" unit`, Units: 1, Per: 60_000, Rate: "0.006", Factor: "0.5", Nano: 50},
	}
	want, err := json.Marshal(terms)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(catalog.AppendTerms([]byte("before "), terms)); got != "before "+string(want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := catalog.AppendTerms(nil, nil); got != nil {
		t.Errorf("no terms: got %s, want nothing", got)
	}
}

package record_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

func TestReadExportFilters(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, sent, want, refused string }{
		{"none", `{}`, `{}`, ""},
		{"as the contract has them", `{"total_units_min": 1, "cost_max": 2.5, "ai_model": "a,b", "metadata": {"team": "x"}, "page_size": 10}`,
			`{"total_units_min":1,"cost_max":2.5,"ai_model":"a,b","metadata":{"team":"x"},"page_size":10}`, ""},
		{"lists", `{"ai_model": ["a", "b"], "status_code": [200, "4xx"]}`, `{"ai_model":"a,b","status_code":"200,4xx"}`, ""},
		{"other names", `{"created_at": {"gte": "2026-11-20T10:00:00Z", "lte": "2026-11-21T10:00:00Z"}, "ai_provider": "openai", "total_tokens": {"gte": 5}, "request_tokens": {"lte": 7}, "response_tokens": {"gte": 1, "lte": 2}}`,
			`{"time_of_generation_min":"2026-11-20T10:00:00Z","time_of_generation_max":"2026-11-21T10:00:00Z","total_units_min":5,"ai_org":"openai","prompt_token_max":7,"completion_token_min":1,"completion_token_max":2}`, ""},
		{"null is none", `{"ai_model": null, "cost": null}`, `{}`, ""},
		{"under two names", `{"ai_org": "openai", "ai_provider": "openai"}`, "", "filters.ai_provider"},
		{"no such filter", `{"colour": "red"}`, "", "filters.colour"},
		{"another type", `{"total_units_min": "many"}`, "", "filters.total_units_min"},
		{"half a unit", `{"total_units_min": 1.5}`, "", "filters.total_units_min"},
		{"a list of lists", `{"ai_model": [["a"]]}`, "", "filters.ai_model"},
		{"a range of another form", `{"created_at": "2026"}`, "", "filters.created_at"},
		{"a range with another end", `{"created_at": {"gt": "2026-11-20T10:00:00Z"}}`, "", "filters.created_at"},
		{"no time", `{"time_of_generation_min": "yesterday"}`, "", "filters.time_of_generation_min"},
		{"ends before it starts", `{"created_at": {"gte": "2026-11-21T10:00:00Z", "lte": "2026-11-20T10:00:00Z"}}`, "", "filters.time_of_generation_max"},
		{"most below least", `{"cost_min": 2, "cost_max": 1}`, "", "filters.cost_max"},
		{"below nothing", `{"prompt_token_min": -1}`, "", "filters.prompt_token_min"},
		{"feedback may be bad", `{"weighted_feedback_min": -10}`, `{"weighted_feedback_min":-10}`, ""},
		{"no status", `{"status_code": "often"}`, "", "filters.status_code"},
		{"a model alone", `{"ai_org_model": "gpt-4o"}`, "", "filters.ai_org_model"},
		{"a page too large", `{"page_size": 50001}`, "", "filters.page_size"},
		{"a page before the first", `{"current_page": -1}`, "", "filters.current_page"},
		{"no object", `[]`, "", "filters"},
		{"nothing", ``, "", "filters"},
	}
	for _, tt := range tests {
		f, err := record.ReadExportFilters([]byte(tt.sent))
		if err != nil {
			if param := fault.From(err).Param; param != tt.refused || !fault.Has(err, fault.InvalidParameter) {
				t.Errorf("%s: refused at %q, want %q: %v", tt.name, param, tt.refused, err)
			}
			continue
		}
		got, err := json.Marshal(f)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, want %s (%v)", tt.name, got, tt.want, err)
		}
	}
}

func FuzzReadExportFilters(f *testing.F) {
	f.Add([]byte(`{"created_at": {"gte": "2026-11-20T10:00:00Z"}, "ai_model": ["a"]}`))
	f.Add([]byte(`{"cost": {"lte": 1e400}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		first, err := record.ReadExportFilters(raw)
		if err != nil {
			return
		}
		text, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := record.ReadExportFilters(text); err != nil {
			t.Errorf("%s was read, but not %s: %v", raw, text, err)
		}
	})
}

func TestExport(t *testing.T) {
	t.Parallel()
	e := record.Export{Fields: []string{"id", "ai_provider", "status_code", "ai_org"}}
	if err := e.Validate(); err != nil || !slices.Equal(e.Fields, []string{"id", "ai_org", "response_status_code"}) {
		t.Errorf("%v %v", e.Fields, err)
	}
	for param, bad := range map[string]record.Export{
		"requested_data":      {},
		"requested_data ":     {Fields: []string{"password"}},
		"description":         {Fields: []string{"id"}, Description: strings.Repeat("d", 501)},
		"filters.status_code": {Fields: []string{"id"}, Filters: record.ExportFilters{Statuses: "x"}},
	} {
		if err := bad.Validate(); err == nil || fault.From(err).Param != strings.TrimSpace(param) {
			t.Errorf("%s: %v", param, err)
		}
	}
	for _, name := range record.ExportFieldAliases() {
		if one := (record.Export{Fields: []string{name}}); one.Validate() != nil || one.Fields[0] == name {
			t.Errorf("%s stands for %v", name, one.Fields)
		}
	}
}

func TestExportQuery(t *testing.T) {
	t.Parallel()
	f, err := record.ReadExportFilters([]byte(`{"created_at": {"gte": "2026-11-20T12:00:00+02:00"}, "ai_model": "a,b", "ai_org": "openai", "status_code": "2xx", "configs": ["pc-a"], "virtual_keys": "main", "total_tokens": {"gte": 5, "lte": 9},
		"ai_org_model": "openai__gpt-4o, a__b__c", "trace_id": ["t-1", "t-2"], "prompt_slug": "pp-a", "metadata": {"team": "search"}, "cost": {"gte": 0.29, "lte": 1e300}, "weighted_feedback_min": -0.5}`))
	if err != nil {
		t.Fatal(err)
	}
	q := f.Query("org", "ws")
	if q.OrgID != "org" || q.WorkspaceID != "ws" || !q.From.Equal(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)) || !q.To.IsZero() ||
		!slices.Equal(q.Models, []string{"a", "b"}) || !slices.Equal(q.Providers, []string{"openai"}) || q.Statuses[0].Max != 299 ||
		!slices.Equal(q.Configs, []string{"pc-a"}) || !slices.Equal(q.ProviderIDs, []string{"main"}) || q.Total.Has(4) || !q.Total.Has(5) || !q.Total.Has(9) || q.Total.Has(10) || !q.Input.Has(0) {
		t.Errorf("%+v", q)
	}
	if !slices.Equal(q.Pairs, []record.Pair{{"openai", "gpt-4o"}, {"a", "b__c"}}) || !slices.Equal(q.TraceIDs, []string{"t-1", "t-2"}) ||
		!slices.Equal(q.PromptSlugs, []string{"pp-a"}) || q.Metadata["team"] != "search" ||
		q.Cost.Has(2_899_999) || !q.Cost.Has(2_900_000) || !q.Cost.Has(math.MaxInt64) || q.Weighted.Has(-0.6) || !q.Weighted.Has(3) {
		t.Errorf("%+v", q)
	}
}

package app

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sluice/internal/control"
	"sluice/internal/control/logs"
	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/wire"
	"sluice/internal/ops/telemetry/spans"
)

// What is described of ingestion is served, under both versions.
func TestIngestIsServedWhereItIsDescribed(t *testing.T) {
	t.Parallel()
	pages := map[string]http.HandlerFunc{}
	a, _ := opened(t, freshSettings(t))
	a.ingest(pages)
	for _, p := range logs.TelemetryPaths() {
		if pages["/v1"+p.Path] == nil || pages["/v2"+p.Path] == nil {
			t.Errorf("nobody serves %s", p.Path)
		}
	}
}

// A refusal of ingestion has the form that is described.
func TestIngestRefusesAsDescribed(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(control.New(control.Parts{Clock: ident.System{}, Version: "1"}).Description())
	if err != nil {
		t.Fatal(err)
	}
	schema := doc.Paths.Value("/otel/v1/traces").Post.Responses.Value("default").Value.Content["application/json"].Schema.Value
	key := access.Principal{Kind: access.ByKey, OrgID: "o", WorkspaceID: "w", KeyType: access.WorkspaceService, Scopes: access.NewScopes(string(access.LogsWrite))}
	for name, c := range map[string]struct {
		by   *access.Principal
		err  error
		body []byte
	}{
		"nobody":              {err: fault.New(fault.Unauthenticated, "")},
		"Admin key":           {by: &access.Principal{OrgID: "o"}},
		"without the scope":   {by: &access.Principal{Kind: access.ByKey, OrgID: "o", WorkspaceID: "w", KeyType: access.WorkspaceService}},
		"no message":          {by: &key, body: []byte(`"x"`)},
		"more than is taken":  {by: &key, body: bytes.Repeat([]byte(" "), 5<<20)},
		"too many refusals":   {err: fault.New(fault.Overloaded, "")},
		"what nobody foresaw": {err: fault.New(fault.Internal, "")},
	} {
		v := spans.New(spans.Parts{
			Identify: func(*http.Request) (*access.Principal, error) { return c.by, c.err }, Refusal: wire.Refusal, RateLimiter: new(resource.Rate), Clock: ident.System{},
		})
		r := httptest.NewRequest(http.MethodPost, "/v1/otel/v1/traces", bytes.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		v.Traces(rec, r)
		var body any
		if err := json.Unmarshal(rec.Body.Bytes(), &body); err != nil || rec.Code < 400 {
			t.Errorf("%s: %d, %v: %s", name, rec.Code, err, rec.Body)
		}
		if err := schema.VisitJSON(body, openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("%s: %d is refused other than described: %v", name, rec.Code, err)
		}
	}
}

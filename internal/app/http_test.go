package app

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sluice/api"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
	"sluice/internal/ops/config"
)

var discard = slog.New(slog.DiscardHandler)

// Where pages may call at all, a client in a page may read whatever it goes by: when to try
// again, and the ids of the call.
func TestPagesReadAllHeaders(t *testing.T) {
	t.Parallel()
	s := config.Default()
	s.CORS.Enabled = true
	h := cross(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "7") }), s.CORS)
	req := httptest.NewRequest("POST", "/v1/chat/completions", nil)
	req.Header.Set("Origin", "https://app.example")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	if got := w.Header(); got.Get("Access-Control-Expose-Headers") != "*" || got.Get("Access-Control-Allow-Origin") != "*" || got.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%v", got) // beside credentials a star would be a name
	}
}

// The answer of the health routes is the one that the API description promises.
func TestHealthFitsItsDescription(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Description("1.0.0"))
	if err != nil {
		t.Fatal(err)
	}
	op := doc.Paths.Value("/health").Get
	a, _ := opened(t, freshSettings(t))
	for status, leaving := range map[int]bool{200: false, 503: true} {
		a.leaving.Store(leaving)
		w := httptest.NewRecorder()
		a.report().ServeHTTP(w, nil)
		var body any
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != status {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		schema := op.Responses.Value(strconv.Itoa(status)).Value.Content.Get("application/json").Schema.Value
		if err := schema.VisitJSON(body, openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("%s: %v", w.Body, err)
		}
	}
}

// Anybody may ask how the gateway is, so the answer has no words of the system: no paths.
func TestHealthTellsStrangersNoPaths(t *testing.T) {
	t.Parallel()
	s := freshSettings(t)
	a, _ := opened(t, s)
	if err := os.RemoveAll(filepath.Join(s.Data.Dir, "journal")); err != nil { // it can have no further file
		t.Fatal(err)
	}
	large := record.Attempt{Request: record.Body{Bytes: make([]byte, 1<<20)}}
	for n := 0; a.journal.Err() == nil && n < 1000; n++ {
		large.ID = ident.NewID()
		_ = a.journal.Append(&large) // until it takes no more
	}
	w := httptest.NewRecorder()
	a.report().ServeHTTP(w, nil)
	if body := w.Body.String(); !strings.Contains(body, `"journal":"refusing"`) || strings.Contains(body, s.Data.Dir) {
		t.Error(body)
	}
}

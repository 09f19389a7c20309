package resource_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// A stream that fails before its first byte is refused like any call; one that fails
// later is cut, so that nobody takes the part for the whole.
func TestStream(t *testing.T) {
	t.Parallel()
	broken := fault.New(fault.Overloaded, "not now")
	streams := map[string]resource.Stream{
		"whole": func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, "{}\n{}\n")
			return err
		},
		"early": func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, "{}\n")
			return errors.Join(err, broken)
		},
		"late": func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, strings.Repeat("x", 100<<10))
			return errors.Join(err, broken)
		},
	}
	r := newRig(t, nil, resource.Operations{{
		Method: http.MethodGet, Path: "/streams/{name}", ID: "stream", Params: []resource.Param{{Name: "name"}}, Scopes: []access.Scope{"configs.read"},
		Stream: "application/x-ndjson", Run: func(_ context.Context, c *resource.Call) (any, error) { return streams[c.Path("name")], nil },
	}})
	srv := httptest.NewServer(r.engine.Handler())
	defer srv.Close()
	for name, want := range map[string]struct {
		status int
		kind   string
		cut    bool
	}{
		"whole": {200, "application/x-ndjson", false}, "early": {503, "application/json", false}, "late": {200, "application/x-ndjson", true},
	} {
		res, err := http.Get(srv.URL + "/v1/streams/" + name)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close() // the body was read
		if res.StatusCode != want.status || res.Header.Get("Content-Type") != want.kind || (err != nil) != want.cut {
			t.Errorf("%s: %d %s, %v: %.80s", name, res.StatusCode, res.Header.Get("Content-Type"), err, body)
		}
	}
}

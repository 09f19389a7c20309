package resource_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
)

// closing counts how often it is closed.
type closing struct {
	*strings.Reader
	closed *int
}

func (c closing) Close() error { *c.closed++; return nil }

// A file is sent with its length and its name, and in parts to who asks for them.
func TestFile(t *testing.T) {
	t.Parallel()
	closed := 0
	r := newRig(t, nil, resource.Operations{{
		Method: http.MethodGet, Path: "/files", ID: "file", Scopes: []access.Scope{"configs.read"}, Stream: "application/gzip, application/x-ndjson",
		Run: func(context.Context, *resource.Call) (any, error) {
			return &resource.File{Name: `a "b".jsonl`, Type: "application/x-ndjson", Changed: time.Unix(1_700_000_000, 0), Content: closing{strings.NewReader("0123456789"), &closed}}, nil
		},
	}})
	srv := httptest.NewServer(r.engine.Handler())
	defer srv.Close()
	for i, c := range []struct {
		method, part string
		status       int
		body         string
	}{
		{"GET", "", 200, "0123456789"}, {"GET", "bytes=2-4", 206, "234"}, {"GET", "bytes=8-", 206, "89"}, {"GET", "bytes=99-", 416, ""}, {"HEAD", "", 200, ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, srv.URL+"/v1/files", nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.part != "" {
			req.Header.Set("Range", c.part)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close() // it was read
		if err != nil || res.StatusCode != c.status || c.status != 416 && string(body) != c.body {
			t.Errorf("%s %s: %d %q, %v", c.method, c.part, res.StatusCode, body, err)
		}
		if got := res.Header.Get("Content-Disposition"); c.status == 200 && (got != `attachment; filename="a \"b\".jsonl"` || res.Header.Get("Content-Type") != "application/x-ndjson" || res.ContentLength != 10) {
			t.Errorf("%s: %s, %s, %d bytes", c.method, got, res.Header.Get("Content-Type"), res.ContentLength)
		}
		if closed != i+1 {
			t.Errorf("it was closed %d times behind %d answers", closed, i+1)
		}
	}
}

package control_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/storage/sqlstore/storetest"
)

// What keys and workspaces add to every request is bounded as what a request may carry is.
func TestDefaultMetadataIsBounded(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	pairs := func(n int) map[string]string {
		m := map[string]string{}
		for i := range n {
			m[fmt.Sprint("n", i)] = "v"
		}
		return m
	}
	for _, c := range []struct {
		metadata map[string]string
		code     int
	}{
		{pairs(64), 200}, {pairs(65), 400}, {map[string]string{strings.Repeat("n", 256): "v"}, 200}, {map[string]string{strings.Repeat("n", 257): "v"}, 400},
	} {
		defaults, err := json.Marshal(map[string]any{"metadata": c.metadata})
		if err != nil {
			t.Fatal(err)
		}
		for path, body := range map[string]string{
			"POST /v1/api-keys/workspace/service": `{"name":"k","workspace_id":"ws-main","scopes":["configs.list"],"defaults":` + string(defaults) + `}`,
			"PUT /v1/workspaces/ws-main":          `{"defaults":` + string(defaults) + `}`,
		} {
			method, path, _ := strings.Cut(path, " ")
			if rec := w.raw(t, "admin", method, path, body); rec.Code != c.code {
				t.Errorf("%s with %d pairs: %d %.200s", path, len(c.metadata), rec.Code, rec.Body)
			}
		}
	}
}

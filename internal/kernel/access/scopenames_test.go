package access_test

import (
	"encoding/json"
	"slices"
	"testing"

	"sluice/internal/kernel/access"
)

// What is read is what the decoder reads, of anything.
func FuzzScopeNames(f *testing.F) {
	for _, raw := range []string{
		`[]`, `null`, `["logs.list"]`, `["logs.list","logs.view","of nobody"]`, `[ "logs.list" , "logs.view" ]`, `["a\"b","\u00e4","ä",""]`,
		`["logs.list",]`, `[,"logs.list"]`, `["logs.list"]]`, `["logs.list""logs.view"]`, `["logs.list`, `[1]`, `["a",null]`, `{}`, `"logs.list"`, "[\"a\x01\"]", "[\"\xff\"]",
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want []string
		wantErr := json.Unmarshal(raw, &want)
		var got access.ScopeNames
		err := json.Unmarshal(raw, &got)
		if (err == nil) != (wantErr == nil) || err == nil && (!slices.Equal(got, want) || (got == nil) != (want == nil)) {
			t.Errorf("%q is read as %q, %v; want %q, %v", raw, got, err, want, wantErr)
		}
	})
}

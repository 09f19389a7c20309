package keys_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/access"
	"sluice/internal/keys"
	"sluice/internal/sealed"
)

// A body is read as the decoder reads it, wherever its scopes stand.
func TestReadBody(t *testing.T) {
	t.Parallel()
	whole, err := json.Marshal(keys.Key{
		Name: "Ädmin \"1\"", Type: access.WorkspaceService, Scopes: access.Allowed(access.WorkspaceService), AlertEmails: []string{"a@b.example"},
		Secret: keys.Secret{Sealed: []byte("s"), Masked: "sk*****x4Q"}, UsageLimits: json.RawMessage(`{"scopes":["x"]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		string(whole), `{}`, `{"scopes":null,"name":"n"}`, `{"name":"n","scopes":[]}`, `{"scopes":["logs.list", "of nobody"]}`,
		`{"defaults":{"metadata":{"scopes":"m"}},"name":"n"}`, `{"scopes":"logs.list"}`, `{"scopes":[1]}`, `{"scopes":["logs.list"]`, `{"name":1}`, `[]`,
	} {
		var got keys.Key
		type plain keys.Key // without ReadBody
		var want plain
		err, wanted := got.ReadBody([]byte(body)), json.Unmarshal([]byte(body), &want)
		if (err == nil) != (wanted == nil) {
			t.Errorf("%s: %v, want %v", body, err, wanted)
		}
		if d := cmp.Diff(keys.Key(want), got, cmp.AllowUnexported(sealed.String{})); err == nil && d != "" {
			t.Errorf("%s (-want +got):\n%s", body, d)
		}
	}
}

package keys_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/keys"
	"sluice/internal/kernel/access"
)

// bodies are stored bodies: as they are written, and as they never were.
func bodies(t testing.TB) []string {
	t.Helper()
	soon := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	written := []keys.Key{
		{
			Name: "Ädmin \"1\"", Type: access.WorkspaceService, Scopes: access.Allowed(access.WorkspaceService), AlertEmails: []string{"a@b.example"},
			Secret: keys.Secret{Sealed: []byte("s"), Masked: "sk*****x4Q"}, UsageLimits: json.RawMessage(`{"scopes":["x"]}`),
		},
		{
			Name: "user", Type: access.WorkspaceUser, UserID: "u", CreationMode: "ui", Defaults: keys.Defaults{Metadata: map[string]string{"a": "b"}},
			Secret: keys.Secret{Hash: keys.Hash{1}}, Previous: &keys.Secret{Hash: keys.Hash{2}, Sealed: []byte("p"), Until: &soon}, ExpiresAt: &soon,
			Rotation: &keys.RotationPolicy{Days: 7, Next: &soon},
		},
	}
	list := []string{
		`{}`, ` { "name" : "n" , "scopes" : [ "logs.list" ] } `, `{"scopes":null,"name":"n"}`, `{"name":"n","scopes":[]}`, `{"scopes":["logs.list", "of nobody"]}`,
		`{"defaults":{"metadata":{"scopes":"m"}},"name":"n"}`, `{"scopes":"logs.list"}`, `{"scopes":[1]}`, `{"scopes":["logs.list"]`, `{"name":1}`, `[]`,
		`{"name":"a","NAME":"b"}`, `{"NAME":"b","name":"a"}`, `{"name":"a","name":null,"type":"workspace-user","\u0074ype":"t"}`, `{"secret":null}`, `{"secret":{"until":null,"hash":"00"}}`,
		`{"secret":{"sealed":"","masked":"m"},"previous":{},"defaults":{}}`, `{"secret":{"sealed":"!"}}`, "{\"name\":\"\xff\"}", `{"of nobody":1,"other":2}`, `{"name":"n"} x`, `null`,
	}
	for _, k := range written {
		raw, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(raw))
	}
	return list
}

// A body is read as the decoder reads it, whatever stands in it and where.
func FuzzReadBody(f *testing.F) {
	for _, body := range bodies(f) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		type plain keys.Key // without ReadBody
		var want plain
		wantErr := json.Unmarshal([]byte(body), &want)
		same := func(got keys.Key) {
			t.Helper()
			if d := cmp.Diff(keys.Key(want), got); d != "" {
				t.Errorf("%q (-want +got):\n%s", body, d)
			}
		}
		var got keys.Key
		if err := got.ReadBody([]byte(body)); (err == nil) != (wantErr == nil) {
			t.Errorf("%q: %v, want %v", body, err, wantErr)
		}
		if wantErr != nil {
			return
		}
		same(got)
		scopes := want.Scopes
		if want.Scopes, want.Secret.Sealed = nil, nil; want.Previous != nil {
			want.Previous.Sealed = nil
		}
		var list []byte
		for range 2 { // the second time the list is known
			var used keys.Key
			var err error
			if list, err = used.ReadUsed([]byte(body), bytes.Clone(list)); err != nil {
				t.Fatalf("%q: %v", body, err)
			}
			same(used)
			var names access.ScopeNames
			if len(list) > 0 && json.Unmarshal(list, &names) != nil || !slices.Equal(names, scopes) {
				t.Errorf("%q: the scopes are %s", body, list)
			}
		}
	})
}

// BenchmarkReadBody reads a key with all scopes.
func BenchmarkReadBody(b *testing.B) {
	body := []byte(bodies(b)[len(bodies(b))-2])
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			var k keys.Key
			if err := k.ReadBody(body); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("used", func(b *testing.B) {
		var known []byte
		for b.Loop() {
			var k keys.Key
			var err error
			if known, err = k.ReadUsed(body, known); err != nil {
				b.Fatal(err)
			}
		}
	})
}

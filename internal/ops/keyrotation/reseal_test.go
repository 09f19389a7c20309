package keyrotation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/agent"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/mail"
	"sluice/internal/domain/mcp"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/bootstrap"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

const (
	firstKey  = "the first key of a deployment"
	secondKey = "the second key of a deployment"
)

func boxOf(t *testing.T, secrets ...string) *sealed.Sealer {
	t.Helper()
	list := make([][]byte, len(secrets))
	for i, s := range secrets {
		list[i] = []byte(s)
	}
	b, err := sealed.NewBox(list...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// secretsOf makes a body of each kind that holds sealed values.
var secretsOf = map[string]func(seal func(text string) []byte) (body any){
	bootstrap.SecretKind: func(seal func(string) []byte) any { return map[string][]byte{"sealed": seal("a")} },
	keys.Kind: func(seal func(string) []byte) any {
		return keys.Key{Secret: keys.Secret{Sealed: seal("a")}, Previous: &keys.Secret{Sealed: seal("b")}}
	},
	credential.IntegrationKind: func(seal func(string) []byte) any {
		return credential.Integration{Key: seal("a"), Configurations: seal("b"), Models: []credential.Model{{Slug: "m", Sealed: seal("c")}, {Slug: "n"}}}
	},
	credential.VirtualKeyKind: func(seal func(string) []byte) any {
		return credential.VirtualKey{Key: seal("a"), Sealed: seal("b")}
	},
	routing.SavedKind:              func(seal func(string) []byte) any { return routing.Saved{Sealed: seal("a")} },
	guardrail.Kind:                 func(seal func(string) []byte) any { return guardrail.Guardrail{Sealed: seal("a")} },
	mcp.IntegrationKind:            func(seal func(string) []byte) any { return mcp.Integration{Configurations: seal("a")} },
	mcp.ConnectionKind:             func(seal func(string) []byte) any { return mcp.Connection{Tokens: seal("a")} },
	agent.IntegrationKind:          func(seal func(string) []byte) any { return agent.Integration{Configurations: seal("a")} },
	credential.SecretReferenceKind: func(seal func(string) []byte) any { return credential.SecretReference{Auth: seal("a")} },
	mail.Kind:                      func(seal func(string) []byte) any { return mail.Message{Sealed: seal("a")} },
	tenant.AuthKind: func(seal func(string) []byte) any {
		return tenant.Auth{OIDC: &tenant.OIDC{ClientSecret: seal("a"), JWKS: seal("b")}}
	},
}

// saveTwice keeps a record of a kind in two versions, sealed by a box each.
func saveTwice(t *testing.T, s *sqlstore.Store, kind string, first, second *sealed.Sealer) string {
	t.Helper()
	r := resource.Record{Kind: kind, ID: ident.NewID(), Name: kind, Status: resource.Active, Version: 1}
	context := kind + "/" + r.ID
	if kind == bootstrap.SecretKind {
		r.Slug, context = "key-pepper", kind+"/key-pepper"
	}
	body := func(box *sealed.Sealer) []byte {
		b, err := json.Marshal(secretsOf[kind](func(text string) []byte {
			shut, err := box.Seal([]byte(text), context)
			if err != nil {
				t.Fatal(err)
			}
			return shut
		}))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	err := s.InTx(t.Context(), func(tx resource.Tx) error {
		r.Body = body(first)
		if err := tx.Insert(t.Context(), r); err != nil {
			return err
		}
		r.Body = body(second)
		return tx.Update(t.Context(), r)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

func emptyStore(t *testing.T) *sqlstore.Store {
	t.Helper()
	s := storetest.Open(t, storetest.SQLite(t))
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Everything sealed that is kept, old versions too, opens under the new key alone
// once it was sealed anew, and nothing else changes.
func TestReseal(t *testing.T) {
	t.Parallel()
	s := emptyStore(t)
	old := boxOf(t, firstKey)
	ids := map[string]string{}
	for kind := range sealedParts {
		ids[kind] = saveTwice(t, s, kind, old, old)
	}
	r := resealer{s, boxOf(t, secondKey, firstKey), slog.New(slog.DiscardHandler)}
	if n, err := r.all(t.Context()); err != nil || n != len(sealedParts) {
		t.Fatalf("%d records, %v", n, err)
	}
	current := boxOf(t, secondKey)
	want := map[string]string{ // every other kind holds one sealed value
		keys.Kind: "ba", credential.IntegrationKind: "acb", credential.VirtualKeyKind: "ab", tenant.AuthKind: "ab",
	}
	for kind, id := range ids {
		versions, err := s.Versions(t.Context(), kind, id)
		if err != nil || len(versions) != 2 {
			t.Fatalf("%s: %d versions, %v", kind, len(versions), err)
		}
		for _, v := range versions {
			opened := ""
			err := sealedParts[kind](&v, func(data *[]byte, context string) error {
				plain, err := current.Open(*data, context)
				opened += string(plain)
				return err
			})
			if err != nil || opened != cmp.Or(want[kind], "a") {
				t.Errorf("version %d of %s opens as %q, %v", v.Version, kind, opened, err)
			}
		}
	}
	if n, err := r.all(t.Context()); err != nil || n != 0 {
		t.Errorf("a second time: %d records, %v", n, err)
	}
}

// A past version that cannot be opened any more does not keep the rest from being
// sealed anew; a present one does.
func TestResealWithoutTheKey(t *testing.T) {
	t.Parallel()
	unknownKey, old := boxOf(t, "a key that nobody has any more"), boxOf(t, firstKey)
	s := emptyStore(t)
	id := saveTwice(t, s, routing.SavedKind, unknownKey, old)
	var log bytes.Buffer
	r := resealer{s, boxOf(t, secondKey, firstKey), slog.New(slog.NewTextHandler(&log, nil))}
	if n, err := r.all(t.Context()); err != nil || n != 1 || !strings.Contains(log.String(), id) {
		t.Errorf("%d records, %v, log %s", n, err, log.String())
	}
	versions, err := s.Versions(t.Context(), routing.SavedKind, id)
	if err != nil || len(versions) != 2 {
		t.Fatalf("%d versions, %v", len(versions), err)
	}
	for i, box := range []*sealed.Sealer{boxOf(t, secondKey), unknownKey} {
		var c routing.Saved
		if err := json.Unmarshal(versions[i].Body, &c); err != nil {
			t.Fatal(err)
		}
		if doc, err := c.Open(box, id); err != nil || string(doc) != "a" {
			t.Errorf("version %d: %q, %v", versions[i].Version, doc, err)
		}
	}

	s = emptyStore(t)
	saveTwice(t, s, routing.SavedKind, old, unknownKey)
	r.store = s
	if n, err := r.all(t.Context()); err == nil || n != 0 {
		t.Errorf("%d records although the present version cannot be opened", n)
	}
}

// The secrets of the deployment are the same after their sealing key has changed.
func TestDeploymentSecretsOutliveTheirSealingKey(t *testing.T) {
	t.Parallel()
	s := emptyStore(t)
	before, both, after := boxOf(t, "the old key of all"), boxOf(t, "the new key of all", "the old key of all"), boxOf(t, "the new key of all")
	for _, d := range []bootstrap.Secret{bootstrap.KeyPepper(), bootstrap.AuditKey()} {
		want, err := d.Read(t.Context(), s, before, ident.System{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (resealer{s, both, slog.New(slog.DiscardHandler)}).all(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Read(t.Context(), s, after, ident.System{}); err != nil || !bytes.Equal(got, want) {
			t.Errorf("another secret: %v", err)
		}
	}
}

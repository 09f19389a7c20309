package control_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"sluice/internal/control/resource"
	"sluice/internal/provider"
	"sluice/internal/storage/sqlstore/storetest"
)

// Each secret that a provider's spec knows has a name by which configs and the audit
// trail recognise it, in both spellings.
func TestSecretsOfProvidersAreRecognised(t *testing.T) {
	t.Parallel()
	specs, err := provider.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs.All() {
		for _, f := range s.Fields {
			for _, name := range append([]string{f.Name, camelCase(f.Name)}, f.Aliases...) {
				if f.Secret && !resource.SecretField(name, "targets") {
					t.Errorf("%s of %s is shown", name, s.ID)
				}
			}
		}
	}
}

// Of all fields that the interface takes the audit trail hides these, in both spellings,
// and no other: a new field that is hidden without reason, or shown without, is noticed.
// Besides them kinds hide what they declare (Kind.Hides).
func TestFieldsThatTheTrailHides(t *testing.T) {
	t.Parallel()
	want := []string{
		"awsAccessKeyId", "awsSecretAccessKey", "client_secret", "current_password", "custom_headers", "headers", "key", "new_password", "password", "secret_key", "vertexServiceAccountJson",
	}
	var got []string
	for _, name := range bodyFields(t) {
		if resource.SecretField(name, "") != resource.SecretField(camelCase(name), "") {
			t.Errorf("%s and %s are told apart", name, camelCase(name))
		}
		if resource.SecretField(name, "") {
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// bodyFields are the names of all fields in the bodies of requests, switches left out, in
// order.
func bodyFields(t *testing.T) []string {
	t.Helper()
	doc := newWorld(t, storetest.Open(t, storetest.SQLite(t))).describe.doc
	names, seen := map[string]bool{}, map[*openapi3.Schema]bool{}
	var collect func(*openapi3.SchemaRef)
	collect = func(ref *openapi3.SchemaRef) {
		if ref == nil || seen[ref.Value] {
			return
		}
		seen[ref.Value] = true
		for name, field := range ref.Value.Properties {
			if types := field.Value.Type; types == nil || !types.Includes("boolean") {
				names[name] = true
			}
			collect(field)
		}
		collect(ref.Value.Items)
		collect(ref.Value.AdditionalProperties.Schema)
		for _, one := range slices.Concat(ref.Value.OneOf, ref.Value.AnyOf, ref.Value.AllOf) {
			collect(one)
		}
	}
	for _, path := range doc.Paths.Map() {
		for _, op := range path.Operations() {
			if op.RequestBody == nil {
				continue
			}
			for _, content := range op.RequestBody.Value.Content {
				collect(content.Schema)
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func camelCase(name string) string {
	parts := strings.Split(name, "_")
	for i, w := range parts[1:] {
		if w != "" {
			parts[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(parts, "")
}

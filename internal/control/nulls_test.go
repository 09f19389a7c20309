package control_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sluice/internal/control/resource"
	"sluice/internal/storage/sqlstore/storetest"
)

// A field that is sent as null clears where it may be null. Elsewhere it changes nothing in an
// update, and counts as absent in a creation: only a required field is refused then.
func TestNullClearsOrChangesNothing(t *testing.T) {
	t.Parallel()
	w := newAccessWorld(t, storetest.Open(t, storetest.SQLite(t)))
	held := 0
	for _, l := range w.lines {
		if l.mode != "" || l.method == http.MethodGet || l.method == http.MethodDelete {
			continue
		}
		schema := w.bodySchema(t, l)
		if schema == nil {
			continue
		}
		for _, field := range slices.Sorted(maps.Keys(schema.Properties)) {
			if field != "workspace_id" { // names where the call belongs
				held++
				w.holdsNull(t, l, schema, field)
			}
		}
	}
	if held < 300 {
		t.Errorf("only %d fields were held", held)
	}
}

// holdsNull plays a line with one field as null, and a creation as if the field were absent.
func (w *accessWorld) holdsNull(t *testing.T, l *rightsOf, schema *openapi3.Schema, field string) {
	t.Helper()
	call, nullable := *l, takesNull(schema.Properties[field].Value)
	call.body = l.with(t, field, json.RawMessage("null"))
	rec := w.based(t, &call, "")
	switch {
	case slices.Contains(schema.Required, field) && !nullable:
		if at := refusedAt(t, rec); rec.Code != 400 || !slices.Contains(at, field) || !strings.Contains(rec.Body.String(), "required") {
			t.Errorf("%s without the required %s: %d %.300s", l, field, rec.Code, rec.Body)
		}
	case l.method == http.MethodPost && !nullable:
		call.body = l.with(t, field, nil)
		if absent := w.based(t, &call, ""); absent.Code != rec.Code || rec.Code != 200 && absent.Body.String() != rec.Body.String() {
			t.Errorf("%s with %s null: %d %.300s, without it %d %.300s", l, field, rec.Code, rec.Body, absent.Code, absent.Body)
		}
	case rec.Code != 200:
		t.Errorf("%s with %s null: %d %.300s", l, field, rec.Code, rec.Body)
	case l.method == http.MethodPut && !nullable && len(schema.Required) == 0 && w.recordOf(t, l) != nil:
		w.stays(t, l, field)
	}
}

// stays holds the answer to an update with nothing but a field as null against the record.
func (w *accessWorld) stays(t *testing.T, l *rightsOf, field string) {
	t.Helper()
	call := *l
	call.body = `{"` + field + `":null}`
	rec := w.based(t, &call, "")
	var shown map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &shown); err != nil || rec.Code != 200 {
		t.Errorf("%s with nothing but %s null: %d %.300s", l, field, rec.Code, rec.Body)
		return
	}
	for name, was := range w.recordOf(t, l) {
		if now, ok := shown[name]; ok && !slices.Contains(stamps, name) && !reflect.DeepEqual(now, was) {
			t.Errorf("%s with %s null: %s was %v and is %v", l, field, name, was, now)
		}
	}
}

// A PUT whose only field is unknown succeeds, changes nothing and names the field.
func TestUpdateOfOnlyUnknownFieldsChangesNothing(t *testing.T) {
	t.Parallel()
	w := newAccessWorld(t, storetest.Open(t, storetest.SQLite(t)))
	held := 0
	for _, l := range w.lines {
		if l.mode != "" || l.method != http.MethodPut {
			continue
		}
		schema := w.bodySchema(t, l)
		if schema == nil || len(schema.Required) > 0 {
			continue
		}
		held++
		call, was := *l, w.recordOf(t, l)
		call.body = `{"zyxwvutsrq":1}`
		rec := w.based(t, &call, "")
		if rec.Code != 200 || rec.Header().Get(resource.HeaderWarnings) != `unknown field "zyxwvutsrq" ignored` {
			t.Errorf("%s: %d %.300s, warnings %q", l, rec.Code, rec.Body, rec.Header().Get(resource.HeaderWarnings))
		}
		for name, now := range w.recordOf(t, l) {
			if !slices.Contains(stamps, name) && !reflect.DeepEqual(now, was[name]) {
				t.Errorf("%s: %s was %v and is %v", l, name, was[name], now)
			}
		}
		if rec := w.based(t, &call, "", resource.HeaderStrict, "true"); rec.Code != 400 || !strings.Contains(rec.Body.String(), "unknown field") {
			t.Errorf("%s in a strict call: %d %.300s", l, rec.Code, rec.Body)
		}
	}
	if held < 15 {
		t.Errorf("only %d operations were held", held)
	}
}

// stamps are the fields of records that say when, by whom and how often they were changed.
var stamps = []string{"last_updated_at", "updated_at", "updated_by", "version", "version_id"}

// takesNull reports whether a schema lets a value be null.
func takesNull(s *openapi3.Schema) bool {
	return s.Nullable || s.Type == nil && len(s.OneOf)+len(s.AnyOf) == 0 || s.Type != nil && s.Type.Includes("null") ||
		slices.ContainsFunc(slices.Concat(s.OneOf, s.AnyOf), func(r *openapi3.SchemaRef) bool { return takesNull(r.Value) })
}

// recordOf is the record that a line changes, as it is read; nil for one that is not read at
// the path of the line.
func (w *accessWorld) recordOf(t *testing.T, l *rightsOf) map[string]any {
	t.Helper()
	i := slices.IndexFunc(w.lines, func(one *rightsOf) bool { return one.method == http.MethodGet && one.path == l.path })
	if i < 0 {
		return nil
	}
	var shown map[string]any
	if rec := w.based(t, w.lines[i], ""); rec.Code == 200 && json.Unmarshal(rec.Body.Bytes(), &shown) != nil {
		t.Errorf("%s: %.300s", w.lines[i], rec.Body)
	}
	return shown
}

// with is the body of a line with a value in a field, or without the field.
func (l *rightsOf) with(t *testing.T, field string, value json.RawMessage) string {
	t.Helper()
	body := map[string]json.RawMessage{}
	if l.body != "" {
		if err := json.Unmarshal([]byte(strings.ReplaceAll(l.body, ":{n}", `:"{n}"`)), &body); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
	}
	if body[field] = value; value == nil {
		delete(body, field)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`:"{n}"`, ":{n}", `\u003c`, "<", `\u003e`, ">").Replace(string(raw))
}

// bodySchema describes the body of a line; nil for one that has none.
func (w *accessWorld) bodySchema(t *testing.T, l *rightsOf) *openapi3.Schema {
	t.Helper()
	op := w.describe.find(w.request(t, l.writer(), l, w.main.ids, ""))
	if op.RequestBody == nil || op.RequestBody.Value.Content["application/json"] == nil {
		return nil
	}
	return op.RequestBody.Value.Content["application/json"].Schema.Value
}

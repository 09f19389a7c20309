package control_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sluice/internal/control/resource"
	"sluice/internal/storage/sqlstore/storetest"
)

// Every body is refused with 400 AB01 that names the field when it has one of another type,
// one that is too long or, in a strict call, one that nobody knows; every name has at most 255
// characters; and every page is checked. Nothing is done then.
func TestBadInput(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, storetest.SQLite(t))
	var watched *watch
	w := newAccessWorldOn(t, st, func(s resource.Store) resource.Store {
		watched = &watch{Store: s, st: st}
		return watched
	})
	held := 0
	for _, l := range w.lines {
		if l.mode != "" {
			continue
		}
		for _, bad := range w.badly(t, l) {
			held++
			watched.reset(0)
			rec := w.based(t, &bad.line, "", resource.HeaderStrict, "true")
			if paths := refusedAt(t, rec); rec.Code != 400 || !slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, bad.field) }) {
				t.Errorf("%s with %s: %d %.300s", l, bad.what, rec.Code, rec.Body)
			}
			if slices.ContainsFunc(watched.done, func(d written) bool { return d.changes > 0 }) {
				t.Errorf("%s with %s left something", l, bad.what)
			}
		}
	}
	if held < 800 {
		t.Errorf("only %d calls were held", held)
	}
}

// badCall is a call of a line with one thing wrong.
type badCall struct {
	line        rightsOf
	field, what string
}

// badly are the calls of a line with each thing wrong by itself.
func (w *accessWorld) badly(t *testing.T, l *rightsOf) (calls []badCall) {
	t.Helper()
	op := w.describe.find(w.request(t, l.writer(), l, w.main.ids, ""))
	for _, p := range op.Parameters {
		if q := p.Value; q.In == "query" && q.Schema.Value.Type.Is("integer") {
			for _, v := range []string{"x", "-1", "1.5", "99999999999999999999"} {
				bad := *l
				bad.path += map[bool]string{true: "&", false: "?"}[strings.Contains(l.path, "?")] + q.Name + "=" + v
				calls = append(calls, badCall{bad, q.Name, q.Name + "=" + v})
			}
		}
	}
	if op.RequestBody == nil || l.method == http.MethodDelete {
		return calls
	}
	schema := op.RequestBody.Value.Content["application/json"].Schema.Value
	with := func(field, what string, value any) {
		body := map[string]json.RawMessage{}
		if l.body != "" {
			if err := json.Unmarshal([]byte(strings.ReplaceAll(l.body, ":{n}", `:"{n}"`)), &body); err != nil {
				return // a list of objects
			}
		}
		body[field], _ = json.Marshal(value) // of texts and numbers
		raw, _ := json.Marshal(body)
		bad := *l
		bad.body = strings.NewReplacer(`:"{n}"`, ":{n}", `\u003c`, "<", `\u003e`, ">").Replace(string(raw))
		calls = append(calls, badCall{bad, field, what})
	}
	if len(schema.Properties) == 0 {
		return calls
	}
	if !strings.HasSuffix(l.path, "/render") { // whose further fields are parameters of a model
		with("colour", "an unknown field", 1)
	}
	for name, p := range schema.Properties {
		if name == "workspace_id" { // has its own answers
			continue
		}
		if v := misfit(p.Value); v != nil {
			with(name, name+" of another type", v)
		}
		if n := p.Value.MaxLength; n != nil && *n < 100_000 {
			with(name, name+" too long", strings.Repeat("a", int(*n)+1))
		}
		if name == "name" && (p.Value.MaxLength == nil || *p.Value.MaxLength > 255) {
			t.Errorf("%s: a name has no limit of 255", l)
		}
	}
	return calls
}

// misfit is a value of no type that a schema allows; nil when it allows any.
func misfit(s *openapi3.Schema) any {
	if s.Type == nil || len(s.OneOf)+len(s.AnyOf) > 0 {
		return nil
	}
	for _, v := range []struct {
		kind  string
		value any
	}{{"boolean", true}, {"object", map[string]any{"a": 1}}, {"array", []int{1}}} {
		if !s.Type.Includes(v.kind) {
			return v.value
		}
	}
	return nil
}

// refusedAt are the fields that a refusal names; none when it is not AB01.
func refusedAt(t *testing.T, rec *httptest.ResponseRecorder) (paths []string) {
	t.Helper()
	var body struct {
		Data struct {
			ErrorCode string
			Errors    []struct{ Path string }
		}
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &body); err != nil {
		t.Fatalf("%v: %s", err, rec.Body)
	}
	if body.Data.ErrorCode != "AB01" {
		return nil
	}
	for _, e := range body.Data.Errors {
		paths = append(paths, e.Path)
	}
	return paths
}

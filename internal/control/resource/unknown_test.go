package resource_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/control/resource"
)

// strictly makes a call with the header that refuses what is unknown.
func (r *rig) strictly(method, path, body string) *httptest.ResponseRecorder {
	return r.called(method, path, body, "true")
}

// called makes a call with a value in the header that refuses what is unknown.
func (r *rig) called(method, path, body, strict string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, "/v1"+path, strings.NewReader(body))
	req.Header.Set(resource.HeaderStrict, strict)
	rec := httptest.NewRecorder()
	r.engine.Handler().ServeHTTP(rec, req)
	return rec
}

type drawer struct {
	Name       string            `json:"name"`
	APIVersion string            `json:"api_version,omitempty"`
	Depth      *int              `json:"depth,omitempty"`
	Insides    map[string]string `json:"insides,omitempty"`
}

type drawerIn struct {
	Name       string         `json:"name" minLength:"1"`
	Slug       string         `json:"slug,omitempty"`
	APIVersion string         `json:"api_version,omitempty"`
	OldName    string         `json:"oldName,omitempty"`
	Depth      *int           `json:"depth,omitempty" nullable:"true"`
	Insides    *drawerInsides `json:"insides,omitempty"`
}

type drawerInsides struct {
	Colour string `json:"colour,omitempty"`
}

type drawerPatch struct {
	Name       string `json:"name,omitempty" minLength:"1"`
	APIVersion string `json:"api_version,omitempty"`
	Depth      *int   `json:"depth,omitempty" nullable:"true"`
}

func drawers() *resource.Kind[drawer, drawer] {
	return &resource.Kind[drawer, drawer]{
		Name: "drawer", Object: "drawer", Title: "drawer", Tag: "Drawers", Audited: "drawers", Path: "/drawers", Param: "drawerId", Slug: "dr",
		Perm: "configs", Verbs: resource.AllVerbs, Create: drawerIn{}, Update: drawerPatch{}, PreparedFields: []string{"oldName"},
		View: func(_ context.Context, _ *resource.Call, r resource.Row[drawer], _ bool) (drawer, error) {
			return r.Value, nil
		},
	}
}

func TestUnknownFieldsAndParametersAreIgnoredAndNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, drawers(), boxes())
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		warns, message     string
	}{
		"a field":                           {"POST", "/drawers", `{"name":"a","flavour":"sour"}`, 200, `unknown field "flavour" ignored`, "slug"},
		"several":                           {"POST", "/drawers?sort=x", `{"name":"a","flavour":1,"taste":{"a":[1]}}`, 200, `unknown parameter "sort" ignored, unknown field "flavour" ignored, unknown field "taste" ignored`, ""},
		"a name that no header can have":    {"POST", "/drawers", `{"name":"a","fl\r\nX: é":1}`, 200, `unknown field "fl\r\nX: \u00e9" ignored`, ""},
		"a long name":                       {"POST", "/drawers", `{"name":"a","` + strings.Repeat("x", 500) + `":1}`, 200, strings.Repeat("x", 64) + "...", ""},
		"in entries of a list":              {"POST", "/boxes", `[{"name":"a","flavour":1},{"name":"b","flavour":1}]`, 200, `unknown field "flavour" ignored`, "[1].b"},
		"a parameter of a list":             {"GET", "/drawers?colour=red", "", 200, `unknown parameter "colour" ignored`, "data"},
		"of a refused call":                 {"POST", "/drawers", `{"flavour":1}`, 400, `unknown field "flavour" ignored`, "required"},
		"one edit from a known field":       {"POST", "/drawers", `{"name":"a","slog":"b"}`, 400, "", "did you mean slug?"},
		"two neighbours swapped":            {"POST", "/drawers", `{"name":"a","slgu":"b"}`, 400, "", "did you mean slug?"},
		"two edits of a short name":         {"POST", "/drawers", `{"name":"a","slaw":"b"}`, 200, `"slaw"`, ""},
		"two edits from seven letters on":   {"POST", "/drawers", `{"name":"a","insydez":{}}`, 400, "", "did you mean insides?"},
		"another case":                      {"POST", "/drawers", `{"name":"a","DEPTH":3}`, 400, "", "did you mean depth?"},
		"a parameter one edit from another": {"GET", "/drawers?page_sise=3", "", 400, "", "did you mean page_size?"},
		"within an object":                  {"POST", "/drawers", `{"name":"a","insides":{"flavour":1}}`, 400, "", `"path":"insides.flavour","message":"unknown field"`},
	} {
		t.Run(name, func(t *testing.T) {
			rec := r.call(t, c.method, c.path, c.body)
			if got := rec.Header().Get(resource.HeaderWarnings); rec.Code != c.status || !strings.Contains(got, c.warns) || c.warns == "" && got != "" || !strings.Contains(rec.Body.String(), c.message) {
				t.Errorf("%d %s, warnings %q", rec.Code, rec.Body, got)
			}
		})
	}
	if n := strings.Count(string(r.trail()[0].Body), "flavour"); n == 0 {
		found := false
		for _, row := range r.trail() {
			found = found || strings.Contains(string(row.Body), `"flavour"`)
		}
		if !found {
			t.Error("the trail does not hold a field that was ignored")
		}
	}
}

func TestStrictCallsRefuseWhatIsUnknown(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, drawers(), boxes())
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/drawers", `{"name":"a","flavour":1}`},
		{"POST", "/drawers?flavour=1", `{"name":"a"}`},
		{"GET", "/drawers?flavour=1", ""},
		{"POST", "/boxes", `[{"name":"a","flavour":1}]`},
	} {
		if rec := r.strictly(c.method, c.path, c.body); rec.Code != 400 || !strings.Contains(rec.Body.String(), "flavour") {
			t.Errorf("%s %s with the header: %d %s", c.method, c.path, rec.Code, rec.Body)
		}
	}
	r.engine.Strict = true
	r.expect(t, 400, `"message":"unknown field"`, "POST", "/drawers", `{"name":"a","flavour":1}`)
}

func TestUpdateOfOnlyUnknownFieldsChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, drawers())
	r.expect(t, 200, "one", "POST", "/drawers", `{"name":"a","slug":"one","depth":4}`)
	version := r.call(t, "GET", "/drawers/one", "").Header().Get("ETag")
	for _, body := range []string{`{"flavour":1}`, `{"drawerId":"one","flavour":1}`} {
		rec := r.call(t, "PUT", "/drawers/one", body)
		if got := rec.Header().Get(resource.HeaderWarnings); rec.Code != 200 || got != `unknown field "flavour" ignored` || rec.Header().Get("ETag") != version {
			t.Errorf("%s: %d %s, warnings %q, version %s", body, rec.Code, rec.Body, got, rec.Header().Get("ETag"))
		}
		if rec := r.strictly("PUT", "/drawers/one", body); rec.Code != 400 || !strings.Contains(rec.Body.String(), "unknown field") {
			t.Errorf("%s in a strict call: %d %s", body, rec.Code, rec.Body)
		}
	}
	r.expect(t, 200, `{"name":"a","depth":4}`, "GET", "/drawers/one", "")
	r.expect(t, 400, "at least one field to change", "PUT", "/drawers/one", `{}`)
}

func TestStrictHeaderTakesWordsForOnAndOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, drawers())
	for value, c := range map[string]struct {
		status  int
		message string
	}{
		"true": {400, "unknown field"}, "TRUE": {400, "unknown field"}, "1": {400, "unknown field"}, "on": {400, "unknown field"}, "Yes": {400, "unknown field"},
		"false": {200, "slug"}, "0": {200, "slug"}, "Off": {200, "slug"}, "no": {200, "slug"}, "": {200, "slug"},
		"strict": {400, `"path":"x-gateway-strict"`}, "2": {400, `"path":"x-gateway-strict"`}, "true, false": {400, `"path":"x-gateway-strict"`},
	} {
		rec := r.called("POST", "/drawers", `{"name":"a","flavour":1}`, value)
		if rec.Code != c.status || !strings.Contains(rec.Body.String(), c.message) {
			t.Errorf("%q: %d %s", value, rec.Code, rec.Body)
		}
	}
	for name, c := range map[string]struct{ method, path, body string }{
		"an operation without a body":    {"GET", "/drawers", ""},
		"a body without unknown fields":  {"POST", "/drawers", `{"name":"a"}`},
		"a deployment that is strict":    {"GET", "/drawers", ""},
		"a query with unknown parameter": {"GET", "/drawers?flavour=1", ""},
	} {
		r.engine.Strict = name == "a deployment that is strict"
		if rec := r.called(c.method, c.path, c.body, "maybe"); rec.Code != 400 || !strings.Contains(rec.Body.String(), `"path":"x-gateway-strict","message":"the value must be true or false"`) {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
}

func TestTwinsOfKnownFieldsCount(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, drawers())
	for name, c := range map[string]struct {
		status        int
		body, message string
	}{
		"camel case of a snake-case field": {200, `{"name":"a","slug":"one","apiVersion":"v1"}`, "one"},
		"snake case of a camel-case field": {200, `{"name":"a","slug":"two","old_name":"b"}`, "two"},
		"both with one value":              {200, `{"name":"a","slug":"three","apiVersion":"v1","api_version":"v1"}`, "three"},
		"both with two values":             {400, `{"name":"a","apiVersion":"v1","api_version":"v2"}`, "was also sent as"},
		"the type is checked":              {400, `{"name":"a","apiVersion":1}`, `"path":"api_version"`},
	} {
		t.Run(name, func(t *testing.T) {
			rec := r.strictly("POST", "/drawers", c.body)
			if rec.Code != c.status || !strings.Contains(rec.Body.String(), c.message) || rec.Header().Get(resource.HeaderWarnings) != "" {
				t.Errorf("%d %s", rec.Code, rec.Body)
			}
		})
	}
	r.expect(t, 200, `"api_version":"v1"`, "GET", "/drawers/one", "")
	r.expect(t, 200, `"total":3,"data":[{`, "GET", "/drawers?pageSize=1", "")
	r.expect(t, 400, "was also sent as", "GET", "/drawers?pageSize=1&page_size=2", "")
}

func TestThePathRepeatedInTheBody(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, drawers())
	r.expect(t, 200, "one", "POST", "/drawers", `{"name":"a","slug":"one"}`)
	for _, body := range []string{`{"drawerId":"one","name":"b"}`, `{"drawer_id":"one","name":"b"}`, `{"slug":"one","name":"b"}`, `{"id":"one","name":"b"}`} {
		if rec := r.strictly("PUT", "/drawers/one", body); rec.Code != 200 {
			t.Errorf("%s: %d %s", body, rec.Code, rec.Body)
		}
	}
	r.expect(t, 400, "differs from the value in the path", "PUT", "/drawers/one", `{"drawerId":"two","name":"b"}`)
	r.expect(t, 400, "at least one field to change", "PUT", "/drawers/one", `{"drawerId":"one"}`)
}

func TestNullClearsOrLeavesUnchanged(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, drawers())
	r.expect(t, 200, "one", "POST", "/drawers", `{"name":"a","slug":"one","api_version":"v1","depth":4,"insides":null}`)
	r.expect(t, 200, `"name":"a"`, "PUT", "/drawers/one", `{"name":null,"api_version":null,"depth":null}`)
	r.expect(t, 200, `{"name":"a","api_version":"v1"}`, "GET", "/drawers/one", "")
	r.expect(t, 400, `"path":"name","message":"required"`, "POST", "/drawers", `{"name":null}`)
	r.expect(t, 200, `"name":"a"`, "PUT", "/drawers/one", `{"name":null}`)
}

func TestTextsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, drawers(), boxes())
	for name, c := range map[string]struct{ path, body, message string }{
		"invalid UTF-8":                     {"/drawers", "{\"name\":\"a\xff\"}", "not valid UTF-8"},
		"invalid UTF-8 in a list":           {"/boxes", "[{\"name\":\"a\xff\"}]", "not valid UTF-8"},
		"half of a surrogate pair":          {"/drawers", `{"name":"a\ud83d"}`, "surrogate"},
		"the second half":                   {"/drawers", `{"name":"\\\ude00"}`, "surrogate"},
		"two first halves":                  {"/drawers", `{"name":"\ud83d\ud83d"}`, "surrogate"},
		"half of a pair in a field's name":  {"/drawers", `{"name":"a","\ud83d":1}`, "surrogate"},
		"a name of blanks":                  {"/drawers", `{"name":" \u00a0\t"}`, `"path":"name"`},
		"a name of spaces":                  {"/drawers", `{"name":"   "}`, "visible"},
		"a name of characters without form": {"/drawers", `{"name":"\u200b\u2060"}`, "visible"},
		"a name with a line break":          {"/drawers", `{"name":"a\nb"}`, "control characters"},
		"a name read backwards":             {"/drawers", `{"name":"a\u202eb"}`, "invisible"},
		"a name with NUL":                   {"/drawers", `{"name":"a\u0000"}`, "control characters"},
		"a slug that means the caller":      {"/drawers", `{"name":"a","slug":"self"}`, `"path":"slug"`},
	} {
		t.Run(name, func(t *testing.T) { r.expect(t, 400, c.message, "POST", c.path, c.body) })
	}
	r.expect(t, 200, "id", "POST", "/drawers", `{"name":"\ud83d\ude00 \\ud83d é"}`)
	r.expect(t, 400, "UTF-8", "GET", "/drawers/%FF", "")
}

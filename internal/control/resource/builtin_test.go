package resource_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
)

const (
	walnut = "0191f3a0-0000-5000-8000-00000000000a"
	maple  = "0191f3a0-0000-5000-8000-00000000000b"
)

// builtIn has two records that nobody stored.
func builtIn(k *resource.Kind[widget, widget]) {
	k.Builtin = func(c *resource.Call) []resource.Row[widget] {
		var rows []resource.Row[widget]
		for _, r := range []struct{ id, name string }{{walnut, "Walnut"}, {maple, "Maple"}} {
			rows = append(rows, resource.Row[widget]{Record: resource.Record{ID: r.id, OrgID: c.OrgID, Name: r.name, Status: resource.Active}, Value: widget{Name: r.name}})
		}
		return rows
	}
}

// Built-in records come before the stored ones, page by page, and are only read.
func TestBuiltinRecords(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, widgets(builtIn))
	for _, name := range []string{"Oak", "Pine"} {
		r.expect(t, 200, `"shelf"`, "POST", "/shelves", `{"name":"`+name+`"}`)
	}
	for query, want := range map[string]string{
		"": `["Walnut","Maple","Pine","Oak"]`, "?page_size=3": `["Walnut","Maple","Pine"]`, "?page_size=3&current_page=1": `["Oak"]`,
		"?page_size=2": `["Walnut","Maple"]`, "?page_size=2&current_page=1": `["Pine","Oak"]`, "?page_size=1&current_page=1": `["Maple"]`, "?page_size=4&current_page=1": `[]`,
	} {
		body := r.call(t, "GET", "/shelves"+query, "").Body.String()
		if got := gjson.Get(body, "data.#.name").String(); got != want || gjson.Get(body, "total").Int() != 4 {
			t.Errorf("%s: %s of %s, want %s", query, got, gjson.Get(body, "total"), want)
		}
	}
	r.expect(t, 200, "Walnut", "GET", "/shelves/"+walnut, "")
	r.expect(t, 403, "built in", "PUT", "/shelves/"+walnut, `{"name":"Mine"}`)
	r.expect(t, 403, "built in", "DELETE", "/shelves/"+maple, "")
}

// Of two routes that fit a path the one whose second element is fixed counts, and a name
// may go on behind the suffix of its kind when it is read.
func TestRoutesBesideOneAnother(t *testing.T) {
	t.Parallel()
	actions := func(text string) []resource.Action[widget] {
		return []resource.Action[widget]{{
			Name: "read", Method: http.MethodGet, Path: "/versions", ID: text + "Versions", Response: map[string]string{},
			Read: func(context.Context, *resource.Call, resource.Row[widget]) (any, error) {
				return map[string]string{"by": text}, nil
			},
		}}
	}
	boards := widgets(func(k *resource.Kind[widget, widget]) {
		k.Name, k.Title, k.Path, k.Param, k.Actions = "board", "board", "/shelves/boards", "board", actions("boards")
	})
	r := newRig(t, nil, widgets(func(k *resource.Kind[widget, widget]) { k.Suffix, k.Actions = "@", actions("shelves") }), boards)
	slug := gjson.Get(r.call(t, "POST", "/shelves", `{"name":"Oak"}`).Body.String(), "slug").String()
	board := gjson.Get(r.call(t, "POST", "/shelves/boards", `{"name":"Pine"}`).Body.String(), "slug").String()
	r.expect(t, 200, "Oak", "GET", "/shelves/"+slug, "")
	r.expect(t, 200, "Oak", "GET", "/shelves/"+slug+"@7", "")
	r.expect(t, 404, "the shelf does not exist", "PUT", "/shelves/"+slug+"@7", `{"name":"Elm"}`)
	r.expect(t, 200, `"by":"shelves"`, "GET", "/shelves/"+slug+"/versions", "")
	r.expect(t, 200, "Pine", "GET", "/shelves/boards/"+board, "")
	r.expect(t, 200, `"by":"boards"`, "GET", "/shelves/boards/"+board+"/versions", "")
	r.expect(t, 200, `"total":1`, "GET", "/shelves/boards", "")
}

// A body that says so takes fields that nobody described.
func TestOpenBodies(t *testing.T) {
	t.Parallel()
	type anything struct {
		_    struct{} `additionalProperties:"true"`
		Need string   `json:"need"`
	}
	r := newRig(t, nil, resource.Operations{{
		Method: http.MethodPost, Path: "/open", ID: "open", Scopes: []access.Scope{"configs.read"}, Body: anything{}, Response: map[string]string{},
		Run: func(_ context.Context, c *resource.Call) (any, error) {
			return map[string]string{"more": c.Sent.Text("more")}, nil
		},
	}})
	r.expect(t, 200, `"more":"x"`, "POST", "/open", `{"need":"y","more":"x"}`)
	r.expect(t, 400, "need: required", "POST", "/open", `{"more":"x"}`)
}

package resource_test

import (
	"context"
	"strings"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
)

// boxes is an operation whose body is one object or several.
func boxes() resource.Operations {
	return resource.Operations{{
		Method: "POST", Path: "/boxes", ID: "addBoxes", Audited: "boxes", Action: "create", Scopes: []access.Scope{"configs.create"},
		Body: widgetIn{}, Many: 3, MaxBytes: 200, Response: boxesAdded{},
		Run: func(ctx context.Context, c *resource.Call) (any, error) {
			out := boxesAdded{Names: []string{}}
			for i, item := range c.Items {
				out.Names = append(out.Names, c.ItemField(i, item.Text("name")))
			}
			return out, c.Change(ctx, func(resource.Tx) error { return nil })
		},
	}}
}

type boxesAdded struct {
	Names []string `json:"names"`
}

func TestBodiesOfOneOrMany(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, boxes())
	for _, c := range []struct {
		status     int
		want, body string
	}{
		{200, `["a"]`, `{"name": "a"}`},
		{200, `["[0].a","[1].b"]`, `[{"name": "a"}, {"name": "b", "width": 2}]`},
		{200, `["[0].a"]`, ` [{"name": "a"}]`},
		{400, "empty", `[]`},
		{413, "more than 3 entries", `[{"name": "a"}, {"name": "a"}, {"name": "a"}, {"name": "a"}]`},
		{413, "larger than 200 bytes", `[{"name": "` + strings.Repeat("a", 200) + `"}]`},
		{400, "[1]", `[{"name": "a"}, null]`},
		{400, "a JSON object or a list", `[{"name": "a"}, 5]`},
		{400, "a JSON object or a list", `"a"`},
		{400, `"path":"[1].name","message":"required"`, `[{"name": "a"}, {}]`},
		{400, `"path":"[0].widht","message":"unknown field; did you mean width?"`, `[{"name": "a", "widht": 1}]`},
		{400, `"path":"width"`, `{"name": "a", "width": 0}`},
		{400, "duplicate field", `[{"name": "a", "name": "b"}]`},
		{400, "missing", ``},
	} {
		r.expect(t, c.status, c.want, "POST", "/boxes", c.body)
	}
	found := false
	for _, row := range r.trail() {
		found = found || strings.Contains(string(row.Body), `"request":[{"name":"a"},{"name":"b","width":2}]`)
	}
	if !found {
		t.Error("the trail does not hold the list that was sent")
	}
}

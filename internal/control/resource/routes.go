package resource

import (
	"net/http"
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
)

// ListOf is the envelope of every list.
type ListOf[V any] struct {
	Object string `json:"object" enum:"list"`
	Total  int    `json:"total" doc:"Number of all matching rows"`
	Data   []V    `json:"data" nullable:"false"`
}

// MoreOf is the envelope of lists that report whether another page follows.
type MoreOf[V any] struct {
	ListOf[V]
	HasMore bool `json:"has_more"`
}

// Receipted is the default response to a creation.
type Receipted struct {
	ID     string `json:"id" format:"uuid"`
	Slug   string `json:"slug,omitempty"`
	Object string `json:"object"`
}

// operations returns the routes of a kind, under all of its paths.
func (k *Kind[T, V]) operations() []Operation {
	plain := k.routes()
	ops := slices.Clone(plain)
	for _, path := range k.Also {
		for _, op := range plain {
			op.Path = path + strings.TrimPrefix(op.Path, k.Path)
			op.ID += "At" + toIDPart(path)
			ops = append(ops, op)
		}
	}
	return ops
}

func (k *Kind[T, V]) routes() []Operation {
	var ops []Operation
	add := func(v Verb, op Operation) {
		if k.Verbs&v != 0 {
			op.Tag, op.Feature = k.Tag, k.Feature
			ops = append(ops, op)
		}
	}
	add(Create, k.createRoute())
	add(List, Operation{
		Method: http.MethodGet, Path: k.Path, ID: "list" + toIDPart(plural(k.Title)), Summary: "List " + plural(k.Title),
		Scopes: k.scopes("list", nil), Query: k.listParams(), Response: k.listShape(), Run: k.list,
		Anywhere: k.Scope == IsWorkspace || k.Scope == InOrganisation,
	})
	var view V
	add(Get, Operation{
		Method: http.MethodGet, Path: k.onePath(), ID: "get" + k.idPart(), Summary: "Read one " + k.Title, Params: k.oneParams(),
		Scopes: k.scopes("read", nil), Query: k.getParams(), Response: view, Run: k.get,
		Anywhere: true,
	})
	add(Update, Operation{
		Method: http.MethodPut, Path: k.onePath(), ID: "update" + k.idPart(), Summary: "Change " + article(k.Title), Params: k.oneParams(),
		Scopes: k.scopes("update", nil), Query: k.workspaceParams(), Body: k.Update, MaskedFields: k.Hides, Response: Changed[V]{shape: k.Done.shape(Empty{})},
		Audited: k.Audited, Action: "update", Anywhere: true, Run: k.update,
	})
	add(Delete, Operation{
		Method: http.MethodDelete, Path: k.onePath(), ID: "delete" + k.idPart(), Summary: "Delete " + article(k.Title), Params: k.oneParams(),
		Scopes: k.scopes("delete", nil), Query: k.workspaceParams(), Body: k.Delete,
		Audited: k.Audited, Action: "delete", Anywhere: true, Run: k.archive,
	})
	for i := range k.Actions {
		op := k.actionRoute(&k.Actions[i])
		op.Tag, op.Feature = k.Tag, k.Feature
		ops = append(ops, op)
	}
	return ops
}

func (k *Kind[T, V]) listShape() any {
	if k.HasMore {
		return MoreOf[V]{}
	}
	return ListOf[V]{}
}

func (k *Kind[T, V]) createRoute() Operation {
	op := Operation{
		Method: http.MethodPost, Path: k.Path, ID: "create" + k.idPart(), Summary: "Create " + article(k.Title),
		Scopes: k.scopes("create", nil), Body: k.Create, MaskedFields: k.Hides, Response: k.Receipt.shape(Receipted{}), Audited: k.Audited, Action: "create", Run: k.create,
		Anywhere: k.Scope != InWorkspace,
	}
	if k.Creation.Path != "" {
		op.Path, op.Params = k.Creation.Path, k.Creation.Params
	}
	return op
}

func (k *Kind[T, V]) actionRoute(a *Action[T]) Operation {
	op := Operation{
		Method: a.Method, Path: k.onePath() + a.Path, ID: a.ID, Summary: a.Summary, Params: append(k.oneParams(), a.Params...),
		Query: append(k.workspaceParams(), a.Query...), Body: a.Body, Optional: a.Optional, Response: a.Response, Scopes: k.scopes(a.scope(), nil), Anywhere: true,
	}
	if a.Read != nil {
		if op.Run = k.reader(a); a.Watched {
			op.Audited, op.Action = k.Audited, a.Name
		}
		return op
	}
	op.Audited, op.Action, op.Run = k.Audited, a.Name, k.actor(a)
	return op
}

func (a *Action[T]) scope() string {
	if a.Scope != "" {
		return a.Scope
	}
	return a.Name
}

// shape returns the zero value that describes the response of a write.
func (r *WriteResponse[T]) shape(standard any) any {
	if r == nil {
		return standard
	}
	return r.Shape
}

func (k *Kind[T, V]) onePath() string { return k.Path + "/{" + k.Param + "}" }

func (k *Kind[T, V]) oneParams() []Param {
	if k.ByID {
		return []Param{{Name: k.Param, Doc: "Id of the " + k.Title, Format: "uuid"}}
	}
	return []Param{{Name: k.Param, Doc: "slug or id of the " + k.Title}}
}

func (k *Kind[T, V]) idPart() string { return toIDPart(k.Title) }

// plural returns the plural of a title: "rate-limit policies".
func plural(title string) string {
	if stem, ok := strings.CutSuffix(title, "y"); ok && !strings.HasSuffix(stem, "e") {
		return stem + "ies"
	}
	return title + "s"
}

// article returns a title with "a" or "an" before it, according to its pronunciation: "an MCP
// server", "a usage-limit policy".
func article(title string) string {
	if strings.ContainsRune("aeioAEIO", rune(title[0])) || strings.HasPrefix(title, "MCP") {
		return "an " + title
	}
	return "a " + title
}

// toIDPart converts a title or path to a part of an operation id: "RateLimitPolicy".
func toIDPart(title string) string {
	var b strings.Builder
	for w := range strings.FieldsFuncSeq(title, func(r rune) bool { return strings.ContainsRune(" -_/", r) }) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

func (k *Kind[T, V]) workspaceParams() []Param {
	if k.Scope == InOrganisation || k.Scope == IsWorkspace {
		return nil
	}
	return []Param{WorkspaceParam}
}

func (k *Kind[T, V]) statusParams() []Param {
	if !k.Archived {
		return nil
	}
	return []Param{{Name: "status", Enum: []string{Active, Archived}, Default: Active}}
}

func (k *Kind[T, V]) getParams() []Param {
	return slices.Concat(k.workspaceParams(), k.statusParams(), k.Views)
}

func (k *Kind[T, V]) listParams() []Param {
	params := slices.Concat(k.workspaceParams(), k.statusParams(), Paging(k.pageSize(), k.PageMax))
	for _, f := range k.filters() {
		params = append(params, f.Param)
	}
	return params
}

// filters returns the filters of the kind, and search and name, which every list has.
func (k *Kind[T, V]) filters() []Filter {
	all := slices.Clone(k.Filters)
	for _, name := range []string{"search", "name"} {
		if !slices.ContainsFunc(all, func(f Filter) bool { return f.Name == name }) {
			all = append(all, NameFilter(name))
		}
	}
	return all
}

// NameFilter narrows a list by a part of the name of its records, ignoring case.
func NameFilter(param string) Filter {
	return Filter{Param: Param{Name: param, Doc: "part of the name", MaxLength: 255}, Apply: func(_ *Call, v string, q *Query) error {
		if q.Search != "" && q.Search != v {
			return fault.New(fault.InvalidParameter, "send search or name, not both").WithParam(param)
		}
		q.Search = v
		return nil
	}}
}

// pageSize returns the page size of a list whose caller does not set one.
// Source: contract/identity-and-governance.yaml, conventions.pagination.
func (k *Kind[T, V]) pageSize() int {
	if k.PageSize == 0 {
		return 50
	}
	return k.PageSize
}

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

// CompleteList returns the envelope of a list with one page. A nil list is sent as an empty one.
func CompleteList[V any](all []V) ListOf[V] {
	if all == nil {
		all = []V{}
	}
	return ListOf[V]{Object: "list", Total: len(all), Data: all}
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
	plain := routeBuilder[T, V]{k}.routes()
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

// routeBuilder builds the operations of a kind and their parameters.
type routeBuilder[T, V any] struct{ *Kind[T, V] }

func (b routeBuilder[T, V]) writer() recordWriter[T, V] { return recordWriter[T, V](b) }

func (b routeBuilder[T, V]) routes() []Operation {
	var ops []Operation
	add := func(v Verb, op Operation) {
		if b.Verbs&v != 0 {
			op.Tag, op.Feature = b.Tag, b.Feature
			ops = append(ops, op)
		}
	}
	add(Create, b.createRoute())
	add(List, Operation{
		Method: http.MethodGet, Path: b.Path, ID: "list" + toIDPart(plural(b.Title)), Summary: "List " + plural(b.Title),
		Scopes: b.scopes("list", nil), Query: b.listParams(), Response: b.listShape(), Run: b.list,
		Anywhere: b.Scope == IsWorkspace || b.Scope == InOrganisation,
	})
	var view V
	add(Get, Operation{
		Method: http.MethodGet, Path: b.onePath(), ID: "get" + b.idPart(), Summary: "Read one " + b.Title, Params: b.oneParams(),
		Scopes: b.scopes("read", nil), Query: b.getParams(), Response: view, Run: b.get,
		Anywhere: true,
	})
	add(Update, Operation{
		Method: http.MethodPut, Path: b.onePath(), ID: "update" + b.idPart(), Summary: "Change " + article(b.Title), Params: b.oneParams(),
		Scopes: b.scopes("update", nil), Query: b.workspaceParams(), Body: b.Update, MaskedFields: b.Hides, Response: Changed[V]{shape: b.Done.shape(Empty{})},
		Audited: b.Audited, Action: "update", Anywhere: true, Run: b.writer().update,
	})
	add(Delete, Operation{
		Method: http.MethodDelete, Path: b.onePath(), ID: "delete" + b.idPart(), Summary: "Delete " + article(b.Title), Params: b.oneParams(),
		Scopes: b.scopes("delete", nil), Query: b.workspaceParams(), Body: b.Delete,
		Audited: b.Audited, Action: "delete", Anywhere: true, Run: b.writer().archive,
	})
	for i := range b.Actions {
		op := b.actionRoute(&b.Actions[i])
		op.Tag, op.Feature = b.Tag, b.Feature
		ops = append(ops, op)
	}
	return ops
}

func (b routeBuilder[T, V]) listShape() any {
	if b.HasMore {
		return MoreOf[V]{}
	}
	return ListOf[V]{}
}

func (b routeBuilder[T, V]) createRoute() Operation {
	op := Operation{
		Method: http.MethodPost, Path: b.Path, ID: "create" + b.idPart(), Summary: "Create " + article(b.Title),
		Scopes: b.scopes("create", nil), Body: b.Create, MaskedFields: b.Hides, Response: b.Receipt.shape(Receipted{}), Audited: b.Audited, Action: "create", Run: b.writer().create,
		Anywhere: b.Scope != InWorkspace,
	}
	if b.Creation.Path != "" {
		op.Path, op.Params = b.Creation.Path, b.Creation.Params
	}
	return op
}

func (b routeBuilder[T, V]) actionRoute(a *Action[T]) Operation {
	op := Operation{
		Method: a.Method, Path: b.onePath() + a.Path, ID: a.ID, Summary: a.Summary, Params: append(b.oneParams(), a.Params...),
		Query: append(b.workspaceParams(), a.Query...), Body: a.Body, Optional: a.Optional, Response: a.Response, Scopes: b.scopes(a.scope(), nil), Anywhere: true,
	}
	if a.Read != nil {
		if op.Run = b.reader(a); a.Watched {
			op.Audited, op.Action = b.Audited, a.Name
		}
		return op
	}
	op.Audited, op.Action, op.Run = b.Audited, a.Name, b.writer().actor(a)
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

func (b routeBuilder[T, V]) onePath() string { return b.Path + "/{" + b.Param + "}" }

func (b routeBuilder[T, V]) oneParams() []Param {
	if b.ByID {
		return []Param{{Name: b.Param, Doc: "Id of the " + b.Title, Format: "uuid"}}
	}
	return []Param{{Name: b.Param, Doc: "slug or id of the " + b.Title}}
}

func (b routeBuilder[T, V]) idPart() string { return toIDPart(b.Title) }

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

func (b routeBuilder[T, V]) workspaceParams() []Param {
	if b.Scope == InOrganisation || b.Scope == IsWorkspace {
		return nil
	}
	return []Param{WorkspaceParam}
}

func (b routeBuilder[T, V]) statusParams() []Param {
	if !b.Archived {
		return nil
	}
	return []Param{{Name: "status", Enum: []string{Active, Archived}, Default: Active}}
}

func (b routeBuilder[T, V]) getParams() []Param {
	return slices.Concat(b.workspaceParams(), b.statusParams(), b.Views)
}

func (b routeBuilder[T, V]) listParams() []Param {
	params := slices.Concat(b.workspaceParams(), b.statusParams(), Paging(b.pageSize(), b.PageMax))
	for _, f := range b.filters() {
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

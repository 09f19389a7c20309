package provider

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// query is one call during planning. It resolves the values of placeholders.
type query struct {
	spec       *Spec
	call       Call
	values     Values
	model      string // for the path
	host       string // custom host from any source
	inPath     string // host that was in a pass-through path
	deployment string // chosen from the stored deployments
	version    string // its API version
}

// Azure fields that a stored list of deployments replaces.
// Source: contract/providers.yaml, azure-openai.
const (
	fieldDeployments = "azure_deployment_config"
	fieldDeployment  = "azure_deployment_id"
	fieldVersion     = "azure_api_version"
	fieldResource    = "azure_resource_name"
)

// value returns the value of a placeholder or condition, or "" without one.
func (q *query) value(name string) string {
	switch name {
	case argModel:
		return q.model
	case argID:
		return q.call.ID
	case argRest, "path":
		return q.call.Path
	case argUser:
		return q.call.User
	case customHost:
		return q.host
	case argDeployment:
		if q.deployment != "" {
			return q.deployment
		}
		name = fieldDeployment
	case fieldVersion:
		if q.version != "" {
			return q.version
		}
	}
	if v := q.values[name]; v != "" {
		return v
	}
	if i, ok := q.spec.fields[name]; ok {
		return q.spec.Fields[i].Default
	}
	if d := q.spec.Derived[name]; d != nil {
		return q.derived(d)
	}
	return ""
}

// matches reports whether all conditions are true.
func (q *query) matches(conds []Cond) bool {
	for i := range conds {
		if !q.single(&conds[i]) {
			return false
		}
	}
	return true
}

func (q *query) single(c *Cond) bool {
	v := q.value(c.Field)
	if c.Field == argModel && q.call.Underlying != "" {
		v = q.call.Underlying
	}
	switch {
	case c.Set != nil:
		return (v != "") == *c.Set
	case c.Contains != "":
		return strings.Contains(v, c.Contains)
	case len(c.Prefix) > 0:
		return slices.ContainsFunc(c.Prefix, func(p string) bool { return strings.HasPrefix(v, p) })
	}
	return slices.Contains(c.Is, v)
}

// shape returns the first variant whose conditions match, or the spec itself.
func (q *query) shape() *shape {
	shapes := q.spec.shapes
	for i := range shapes {
		if q.matches(shapes[i].when) {
			return &shapes[i]
		}
	}
	return &shapes[len(shapes)-1]
}

// chooseDeployment selects the stored deployment for the model. It selects the one with that
// alias, model or name, then the default, then the first. Without a stored list it changes
// nothing.
// Source: contract/provider-transforms.md 5.1.
func (q *query) chooseDeployment() {
	list := q.values[fieldDeployments]
	if list == "" {
		return
	}
	var chosen gjson.Result
	gjson.Parse(list).ForEach(func(_, d gjson.Result) bool {
		if m := q.call.Model; m != "" {
			for _, name := range [...]string{"alias", "azure_model_slug", "azure_deployment_name"} {
				if d.Get(name).Str == m {
					chosen = d
					return false
				}
			}
		}
		if !chosen.Exists() || d.Get("is_default").Bool() && !chosen.Get("is_default").Bool() {
			chosen = d
		}
		return true
	})
	q.deployment = chosen.Get("azure_deployment_name").Str
	q.version = chosen.Get("azure_api_version").Str
}

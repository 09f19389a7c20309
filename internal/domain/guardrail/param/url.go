package param

import (
	"maps"
	"slices"
	"strconv"
)

// Path leads to an address below the value of a parameter, or below the parameters: the names of
// members from the outside in. "*" is each item of a list or member of an object.
type Path []string

// anyMember is the step to each item of a list or member of an object.
const anyMember = "*"

// prefixed returns the paths with a step before them.
func prefixed(step string, paths []Path) []Path {
	out := make([]Path, len(paths))
	for i, p := range paths {
		out[i] = append(Path{step}, p...)
	}
	return out
}

// URLPaths returns the paths of the addresses that the check calls, from the name of the parameter:
// {"credentials", "baseUrl"}. Nil means that the parameter contains none.
func (p *Param) URLPaths() []Path {
	if len(p.form.urls) == 0 {
		return nil
	}
	return prefixed(p.Name, p.form.urls)
}

// CallsService reports whether the parameter contains an address that the check calls.
func (p *Param) CallsService() bool { return len(p.form.urls) > 0 }

// URLs calls found for each address among the values of parameters that Check accepts. The path names
// it below the parameters: "credentials.baseUrl", "services[2]".
func URLs(params []Param, values map[string]any, found func(path, url string)) {
	for i := range params {
		for _, p := range params[i].URLPaths() {
			if v, ok := values[p[0]]; ok {
				find(v, p[1:], p[0], found)
			}
		}
	}
}

// find calls found for the addresses at a path below v.
func find(v any, rest Path, path string, found func(path, url string)) {
	if len(rest) == 0 {
		if s, ok := v.(string); ok {
			found(path, s)
		}
		return
	}
	switch v := v.(type) {
	case []any:
		if rest[0] != anyMember {
			return
		}
		for i, item := range v {
			find(item, rest[1:], path+"["+strconv.Itoa(i)+"]", found)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if rest[0] == anyMember || rest[0] == name {
				find(v[name], rest[1:], path+"."+name, found)
			}
		}
	}
}

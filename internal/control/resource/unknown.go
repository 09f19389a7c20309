package resource

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// Headers about unknown fields and parameters.
const (
	// HeaderStrict, sent as "true", "1", "on" or "yes", makes a call reject what it otherwise
	// ignores.
	HeaderStrict = "X-Gateway-Strict"
	// HeaderWarnings is a response header that names what was ignored:
	// `unknown field "colour" ignored, unknown parameter "sort" ignored`.
	HeaderWarnings = "X-Gateway-Warnings"
)

// Limits of HeaderWarnings.
const (
	maxWarnings     = 20
	maxWarningBytes = 64 // of a name
)

// readHeaders reads from the headers whether the call rejects unknown fields and parameters.
func (c *Call) readHeaders() error {
	strict, err := boolHeader(c.r.Header, HeaderStrict)
	c.strict = strict || c.engine.Strict
	return err
}

// boolHeader reads a header that is true, 1, on or yes, or else false, 0, off, no, empty or
// absent, ignoring case. Every other value is an error that names the header.
func boolHeader(h http.Header, name string) (bool, error) {
	switch strings.ToLower(strings.Join(h.Values(name), ", ")) {
	case "true", "1", "on", "yes":
		return true, nil
	case "", "false", "0", "off", "no":
		return false, nil
	}
	return false, fault.New(fault.InvalidParameter, "the value must be true or false").WithParam(strings.ToLower(name))
}

// warn adds an ignored name of the request to HeaderWarnings: what is "field" or "parameter".
func (ig *ignoredParts) warn(what, name string) {
	if len(name) > maxWarningBytes {
		name = name[:maxWarningBytes] + "..."
	}
	ig.addWarning("unknown " + what + " " + strconv.QuoteToASCII(name) + " ignored")
}

// warnReadOnly adds a field to HeaderWarnings that reads show and updates do not change.
func (ig *ignoredParts) warnReadOnly(path string) {
	if len(path) > maxWarningBytes {
		path = path[:maxWarningBytes] + "..."
	}
	ig.addWarning("read-only field " + strconv.QuoteToASCII(path) + " ignored")
}

func (ig *ignoredParts) addWarning(text string) {
	if len(ig.warnings) < maxWarnings && !slices.Contains(ig.warnings, text) {
		ig.warnings = append(ig.warnings, text)
	}
}

// warningHeader sets the warnings in the header of a response.
func (ig *ignoredParts) warningHeader(h http.Header) {
	if !ig.compared {
		for _, e := range ig.echoes {
			ig.warnReadOnly(e.at)
		}
	}
	if len(ig.warnings) > 0 {
		h.Set(HeaderWarnings, strings.Join(ig.warnings, ", "))
	}
}

// unknownParameters handles query parameters that the operation does not list. A name that is
// close to a listed one is rejected, and so is every unknown name in a strict call. Others are
// ignored.
func (c *Call) unknownParameters(values url.Values) error {
	if len(values) == 0 {
		return nil
	}
	known := make([]string, 0, len(c.op.Query))
	for _, p := range c.op.Query {
		known = append(known, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		near := nearest(name, known)
		switch {
		case near != "":
			return fault.Newf(fault.InvalidParameter, "unknown parameter; did you mean %s?", near).WithParam(name)
		case c.strict:
			return fault.New(fault.InvalidParameter, "unknown parameter").WithParam(name)
		}
		c.warn("parameter", name)
	}
	return nil
}

// recognise removes the fields that the schema does not have from an object of the body. It
// returns the remaining fields and the problems of rejected ones: a name that is close to a
// known one, or any unknown name in a strict call. path returns the path of a field in error
// messages.
// Source: contract/identity-and-governance.yaml, conventions; that unknown fields are ignored is
// ours, for clients that send more than we know.
func (c *Call) recognise(s *schema, sent Sent, path func(string) string) (Sent, []Problem) {
	known := slices.Sorted(maps.Keys(s.root.Properties))
	left := make(Sent, len(sent))
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if field, ok := s.root.Properties[name]; ok {
			if s.unset(name, sent[name]) {
				c.idle = true
				continue
			}
			left[name] = s.withoutNulls(field, c.withoutEchoes(s, field, s.read(name), sent[name], []string{name}, path(name)))
			continue
		}
		if s.open() {
			left[name] = sent[name]
			continue
		}
		if problem := c.unknownField(name, sent[name], known); problem != "" {
			problems = append(problems, Problem{path(name), problem})
		}
	}
	return left, problems
}

// unknownField handles a field that the schema does not have. It returns why the field is
// rejected, "" if it is ignored.
func (c *Call) unknownField(name string, raw []byte, known []string) string {
	if slices.Contains(scopeFields, name) { // already used to resolve the workspace
		return ""
	}
	if problem, repeated := c.repeatsPath(name, raw); repeated {
		return problem
	}
	near := nearest(name, known)
	switch {
	case near != "":
		return unknownField + "; did you mean " + near + "?"
	case c.strict:
		return unknownField
	}
	c.warn("field", name)
	c.idle = true
	return ""
}

// RepeatsPath reports whether the body repeats what the path names, as in a record that is sent
// back as it was read.
func (b *sentBody) RepeatsPath() bool { return b.repeats }

// repeatsPath reports whether a field repeats what the path already names: by the name of its
// placeholder, or as id or slug with the same value. A placeholder field whose value differs
// from the path is a problem.
func (c *Call) repeatsPath(name string, raw []byte) (problem string, repeats bool) {
	value := Sent{name: raw}.Text(name)
	for _, p := range c.op.Params {
		same := value == c.Path(p.Name)
		switch {
		case same && (name == "id" || name == "slug"):
			c.repeats = true
			return "", true
		case SnakeName(name) != SnakeName(p.Name):
		case same:
			c.repeats = true
			return "", true
		case name == "slug" && ident.ValidID(c.Path(p.Name)): // the path has the id, see compareEchoes
			c.echoes = append(c.echoes, echo{[]string{name}, name, raw})
			return "", true
		default:
			return "differs from the value in the path", true
		}
	}
	return "", false
}

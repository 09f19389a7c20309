package routing

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"sluice/internal/kernel/fault"
)

// These are the limits of a config document.
const (
	MaxBytes = 256 << 10
	MaxDepth = 32 // nested objects and lists

	// MaxParams is the maximum number of override_params, default_params and drop_params of
	// one level. Every level below has a merged copy.
	MaxParams = 256
	// MaxStatuses is the maximum length of a list of statuses; there are no more.
	MaxStatuses = 500
)

// Limits are the maximum numbers of targets of a config. Zero means the value of
// DefaultLimits. Source: contract/dataplane.md 3.1.
type Limits struct {
	RootTargets        int // at the root
	ConditionalTargets int // at the root when its strategy is conditional
	NestedTargets      int // below one root target, all levels together
}

// DefaultLimits returns the limits of a deployment that sets none.
func DefaultLimits() Limits {
	return Limits{RootTargets: 100, ConditionalTargets: 1000, NestedTargets: 50}
}

func (l Limits) orDefaults() Limits {
	d := DefaultLimits()
	for _, f := range []struct{ set, standard *int }{
		{&l.RootTargets, &d.RootTargets},
		{&l.ConditionalTargets, &d.ConditionalTargets},
		{&l.NestedTargets, &d.NestedTargets},
	} {
		if *f.set == 0 {
			*f.set = *f.standard
		}
	}
	return l
}

// Parse decodes and validates a config document and resolves what targets inherit.
//
// Field names may be in snake_case or camelCase. The contents of override_params,
// default_params, conditions, check parameters, feedback metadata and
// vertex_service_account_json are not converted. A field that is null is absent.
//
// The error is fault.InvalidConfig. Param is the path of the first issue
// ("targets[0].retry.attempts"; "config" for the document itself), and Details lists all
// issues, at most 20, as "path: targets[0].retry.attempts, message: …". Messages never quote a
// value. Source: contract/dataplane.md 3.1 to 3.6 and 7.1.
func Parse(raw []byte, lim Limits) (*Config, error) {
	p := &parser{limits: lim.orDefaults()}
	return p.parse(raw)
}

// ParseStored is Parse for a document that was validated when it was stored, maybe by an earlier
// version. A value that only earlier versions accepted has the meaning that it had there: a
// cache.max_age beyond a limit becomes the limit.
func ParseStored(raw []byte, lim Limits) (*Config, error) {
	p := &parser{limits: lim.orDefaults(), stored: true}
	return p.parse(raw)
}

func (p *parser) parse(raw []byte) (*Config, error) {
	if p.document(raw) {
		doc := gjson.ParseBytes(raw)
		if path, found := duplicateKey(doc); found {
			p.failf(path, "is given twice")
		} else if root := p.node("", 0, doc, inherited{}, ""); len(p.issues) == 0 {
			return &Config{Root: root, leaves: p.leaves, hash: fingerprint(raw)}, nil
		}
	}
	return nil, p.refusal()
}

// fingerprint returns a short hash of the document. A collision would only mix the state of
// one tenant.
func fingerprint(raw []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(raw)
	return h.Sum64()
}

// refusal returns the error that lists the issues, also in its message, because official
// clients show only that.
func (p *valueReader) refusal() error {
	texts, details := make([]string, len(p.issues)), make([]string, len(p.issues))
	for i, is := range p.issues {
		texts[i], details[i] = is.path+": "+is.message, "path: "+is.path+", message: "+is.message
	}
	return fault.Newf(fault.InvalidConfig, "config is invalid: %s", strings.Join(texts, "; ")).WithParam(p.issues[0].path).WithDetails(details...)
}

// document checks size, encoding, syntax and depth, so that later code can rely on them.
func (p *valueReader) document(raw []byte) bool {
	if len(raw) > MaxBytes {
		p.failf("", "must not be larger than %d bytes", MaxBytes)
		return false
	}
	if !utf8.Valid(raw) {
		p.failf("", "must be UTF-8")
		return false
	}
	if tooDeep(raw) { // before the JSON parsers, which recurse
		p.failf("", "must not nest deeper than %d levels", MaxDepth)
		return false
	}
	if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil {
		p.failf("", "must be valid JSON%s", where(err))
		return false
	}
	return true
}

func where(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return ": stopped at byte " + plain(float64(syntax.Offset))
	}
	return ""
}

// tooDeep reports whether objects and lists nest deeper than MaxDepth.
func tooDeep(raw []byte) bool {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			end := stringEnd(raw[i+1:])
			if end < 0 {
				return false // the syntax check reports it
			}
			i += 1 + end
		}
	}
	return false
}

// stringEnd returns the index of the quote that ends the string whose content b begins with,
// or -1.
func stringEnd(b []byte) int {
	for i := 0; ; {
		n := bytes.IndexAny(b[i:], `"\`)
		if n < 0 {
			return -1
		}
		if i += n; b[i] == '"' {
			return i
		}
		if i += 2; i > len(b) {
			return -1
		}
	}
}

// duplicateKey finds an object that has a key twice, at any depth, because parsers differ in
// which one they use. The path is built only when a duplicate is found, so a valid document
// does not pay for it.
func duplicateKey(v gjson.Result) (path string, found bool) {
	if !v.IsObject() && !v.IsArray() {
		return "", false
	}
	seen := map[string]bool{}
	i := -1
	v.ForEach(func(k, child gjson.Result) bool {
		i++
		if v.IsArray() {
			if path, found = duplicateKey(child); found {
				path = after(item("", i), path)
			}
			return !found
		}
		name := k.String()
		if found = seen[name]; found {
			path = key("", name)
			return false
		}
		seen[name] = true
		if path, found = duplicateKey(child); found {
			path = after(key("", name), path)
		}
		return !found
	})
	return path, found
}

// after joins two parts of a path.
func after(head, tail string) string {
	if strings.HasPrefix(tail, "[") {
		return head + tail
	}
	return head + "." + tail
}

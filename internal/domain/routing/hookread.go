package routing

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/kernel/jsonedit"
)

var hookFields = bothSpellings(map[string]reader[Hook]{
	"type": func(p *parser, path string, v gjson.Result, h *Hook) {
		h.Type = HookType(v.Str)
		if h.Type != Guardrail && h.Type != Mutator {
			p.failf(path, "must be guardrail or mutator")
		}
	},
	"id":   func(p *parser, path string, v gjson.Result, h *Hook) { h.ID = p.text(path, v) },
	"deny": func(p *parser, path string, v gjson.Result, h *Hook) { h.Deny = p.flag(path, v) },
	"async": func(p *parser, path string, v gjson.Result, h *Hook) {
		h.Async = p.flag(path, v)
		h.Sync = !h.Async
	},
	"sequential": func(p *parser, path string, v gjson.Result, h *Hook) { h.Sequential = p.flag(path, v) },
	"stream": func(p *parser, path string, v gjson.Result, h *Hook) {
		h.Stream = p.word(path, v, "window", "hold", "report")
	},
	"scope": func(p *parser, path string, v gjson.Result, h *Hook) {
		h.Scope = p.word(path, v, "last_message", "last_user", "all")
	},
	"soft_deny_200":        func(p *parser, path string, v gjson.Result, h *Hook) { h.SoftDeny200 = p.flag(path, v) },
	"on_success":           func(p *parser, path string, v gjson.Result, h *Hook) { h.OnSuccess = p.reaction(path, v) },
	"on_fail":              func(p *parser, path string, v gjson.Result, h *Hook) { h.OnFail = p.reaction(path, v) },
	"guardrail_version_id": func(p *parser, path string, v gjson.Result, h *Hook) { h.VersionID = p.text(path, v) },
	"checks": func(p *parser, path string, v gjson.Result, h *Hook) {
		p.eachItem(path, v, func(path string, v gjson.Result) {
			c := Check{Parameters: []byte("{}"), Enabled: true, IDPath: key(path, "id"), ParamPath: key(path, "parameters")}
			if readObject(p, path, v, checkFields, &c) && c.ID == "" {
				p.failf(key(path, "id"), "is required")
			}
			h.Checks = append(h.Checks, c)
		})
		if v.IsArray() && len(h.Checks) == 0 && !p.stored {
			p.failf(path, "must have a check, or be absent to name a saved guardrail")
		}
	},
})

var checkFields = bothSpellings(map[string]reader[Check]{
	"id":         func(p *parser, path string, v gjson.Result, c *Check) { c.ID = checkID(p.text(path, v)) },
	"parameters": func(p *parser, path string, v gjson.Result, c *Check) { c.Parameters = p.object(path, v) },
	"is_enabled": func(p *parser, path string, v gjson.Result, c *Check) { c.Enabled = p.flag(path, v) },
})

// checkID adds the source to a check id without one: the built-in source.
func checkID(id string) string {
	if id == "" || strings.Contains(id, ".") {
		return id
	}
	return "default." + id
}

// object returns the JSON of an object unchanged.
func (p *parser) object(path string, v gjson.Result) []byte {
	if !v.IsObject() {
		p.failf(path, "must be an object")
	}
	return []byte(v.Raw)
}

var reactionFields = bothSpellings(map[string]reader[*Feedback]{
	"feedback": func(p *parser, path string, v gjson.Result, f **Feedback) {
		*f = &Feedback{Weight: 1}
		readObject(p, path, v, feedbackFields, *f)
	},
})

var feedbackFields = bothSpellings(map[string]reader[Feedback]{
	"value":    func(p *parser, path string, v gjson.Result, f *Feedback) { f.Value = p.number(path, v, -10, 10) },
	"weight":   func(p *parser, path string, v gjson.Result, f *Feedback) { f.Weight = p.number(path, v, 0, 1) },
	"metadata": func(p *parser, path string, v gjson.Result, f *Feedback) { f.Metadata = p.object(path, v) },
})

// reaction reads on_success or on_fail.
func (p *parser) reaction(path string, v gjson.Result) (f *Feedback) {
	readObject(p, path, v, reactionFields, &f)
	return f
}

// hooks reads the full form. Source: contract/dataplane.md 5.1.
func (p *parser) hooks(path string, v gjson.Result) []Hook {
	list := []Hook{}
	p.eachItem(path, v, func(path string, v gjson.Result) {
		h := Hook{Type: Guardrail, IDPath: key(path, "id")}
		if readObject(p, path, v, hookFields, &h) && h.ID == "" {
			p.failf(key(path, "id"), "is required")
		}
		list = append(list, h)
	})
	return list
}

// shorthand reads input_guardrails and similar fields: a slug, or an object in which every key
// that is not a hook field is a check. Source: contract/dataplane.md 5.2.
func (p *parser) shorthand(path string, v gjson.Result, t HookType, phase string) []Hook {
	list := []Hook{}
	p.eachItem(path, v, func(path string, v gjson.Result) {
		h := Hook{Type: t, IDPath: path}
		if v.IsObject() {
			h.IDPath = key(path, "id")
			p.shortHook(path, v, &h, phase)
		} else if h.ID = v.Str; h.ID == "" {
			p.failf(path, "must be the slug of a saved guardrail, or an object of checks")
		}
		list = append(list, h)
	})
	return list
}

func (p *parser) shortHook(path string, v gjson.Result, h *Hook, phase string) {
	v.ForEach(func(k, v gjson.Result) bool {
		path := key(path, k.String())
		if f, ok := hookFields[k.String()]; !ok || f.name == "checks" {
			h.Checks = append(h.Checks, p.shortCheck(path, k.String(), v))
		} else if v.Type != gjson.Null {
			f.read(p, path, v, h)
		}
		return true
	})
	switch {
	case h.ID == "" && len(h.Checks) == 0:
		p.failf(path, "must have a check, or the id of a saved guardrail")
	case h.ID == "":
		h.ID = phase + "_guardrail_" + suffix(path+v.Raw)
	}
}

// shortCheck reads one check. Its id and is_enabled are among its parameters; they are removed from
// them.
func (p *parser) shortCheck(path, name string, v gjson.Result) Check {
	if !v.IsObject() {
		p.failf(path, "unknown field; the value of a check must be an object of its parameters")
		return Check{}
	}
	c := Check{ID: checkID(name), Enabled: true, Parameters: []byte(v.Raw), IDPath: path, ParamPath: path}
	if inner := v.Get("id"); inner.Exists() {
		c.IDPath = key(path, "id")
		c.ID = checkID(p.text(c.IDPath, inner))
	}
	if enabled := v.Get("is_enabled"); enabled.Exists() {
		c.Enabled = p.flag(key(path, "is_enabled"), enabled)
	}
	var d jsonedit.Doc
	if jsonedit.Scan(c.Parameters, &d) == nil {
		c.Parameters = d.Apply([]jsonedit.Edit{jsonedit.Drop("id"), jsonedit.Drop("is_enabled")})
	}
	return c
}

// suffix returns three characters derived from s. They are the same each time the config is
// read, so that the log can group by hook.
func suffix(s string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	text := "00" + strconv.FormatUint(uint64(h.Sum32()), 36)
	return text[len(text)-3:]
}

package routing

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

var hookFields = bothSpellings(map[string]reader[Hook]{
	"type": func(p *parser, at string, v gjson.Result, h *Hook) {
		h.Type = HookType(v.Str)
		if h.Type != Guardrail && h.Type != Mutator {
			p.failf(at, "must be guardrail or mutator")
		}
	},
	"id":                   func(p *parser, at string, v gjson.Result, h *Hook) { h.ID = p.text(at, v) },
	"deny":                 func(p *parser, at string, v gjson.Result, h *Hook) { h.Deny = p.flag(at, v) },
	"async":                func(p *parser, at string, v gjson.Result, h *Hook) { h.Async = p.flag(at, v) },
	"sequential":           func(p *parser, at string, v gjson.Result, h *Hook) { h.Sequential = p.flag(at, v) },
	"soft_deny_200":        func(p *parser, at string, v gjson.Result, h *Hook) { h.SoftDeny200 = p.flag(at, v) },
	"on_success":           func(p *parser, at string, v gjson.Result, h *Hook) { h.OnSuccess = p.reaction(at, v) },
	"on_fail":              func(p *parser, at string, v gjson.Result, h *Hook) { h.OnFail = p.reaction(at, v) },
	"guardrail_version_id": func(p *parser, at string, v gjson.Result, h *Hook) { h.VersionID = p.text(at, v) },
	"checks": func(p *parser, at string, v gjson.Result, h *Hook) {
		p.eachItem(at, v, func(at string, v gjson.Result) {
			c := Check{Parameters: []byte("{}"), Enabled: true}
			if readObject(p, at, v, checkFields, &c) && c.ID == "" {
				p.failf(key(at, "id"), "is required")
			}
			h.Checks = append(h.Checks, c)
		})
	},
})

var checkFields = bothSpellings(map[string]reader[Check]{
	"id":         func(p *parser, at string, v gjson.Result, c *Check) { c.ID = checkID(p.text(at, v)) },
	"parameters": func(p *parser, at string, v gjson.Result, c *Check) { c.Parameters = p.object(at, v) },
	"is_enabled": func(p *parser, at string, v gjson.Result, c *Check) { c.Enabled = p.flag(at, v) },
})

// checkID names the source of a check that has none: the built-in ones.
func checkID(id string) string {
	if id == "" || strings.Contains(id, ".") {
		return id
	}
	return "default." + id
}

// object keeps an object as it stands.
func (p *parser) object(at string, v gjson.Result) []byte {
	if !v.IsObject() {
		p.failf(at, "must be an object")
	}
	return []byte(v.Raw)
}

var reactionFields = bothSpellings(map[string]reader[*Feedback]{
	"feedback": func(p *parser, at string, v gjson.Result, f **Feedback) {
		*f = &Feedback{Weight: 1}
		readObject(p, at, v, feedbackFields, *f)
	},
})

var feedbackFields = bothSpellings(map[string]reader[Feedback]{
	"value":    func(p *parser, at string, v gjson.Result, f *Feedback) { f.Value = p.number(at, v, -10, 10) },
	"weight":   func(p *parser, at string, v gjson.Result, f *Feedback) { f.Weight = p.number(at, v, 0, 1) },
	"metadata": func(p *parser, at string, v gjson.Result, f *Feedback) { f.Metadata = p.object(at, v) },
})

// reaction reads on_success or on_fail.
func (p *parser) reaction(at string, v gjson.Result) (f *Feedback) {
	readObject(p, at, v, reactionFields, &f)
	return f
}

// hooks reads the full form. Source: contract/dataplane.md 5.1.
func (p *parser) hooks(at string, v gjson.Result) []Hook {
	list := []Hook{}
	p.eachItem(at, v, func(at string, v gjson.Result) {
		h := Hook{Type: Guardrail}
		if readObject(p, at, v, hookFields, &h) && h.ID == "" {
			p.failf(key(at, "id"), "is required")
		}
		list = append(list, h)
	})
	return list
}

// shorthand reads input_guardrails and its kin: a slug, or an object in which
// every key that is no hook field is a check. Source: contract/dataplane.md 5.2.
func (p *parser) shorthand(at string, v gjson.Result, t HookType, phase string) []Hook {
	list := []Hook{}
	p.eachItem(at, v, func(at string, v gjson.Result) {
		h := Hook{Type: t}
		if v.IsObject() {
			p.shortHook(at, v, &h, phase)
		} else if h.ID = v.Str; h.ID == "" {
			p.failf(at, "must be the slug of a saved guardrail, or an object of checks")
		}
		list = append(list, h)
	})
	return list
}

func (p *parser) shortHook(at string, v gjson.Result, h *Hook, phase string) {
	v.ForEach(func(k, v gjson.Result) bool {
		at := key(at, k.String())
		if f, ok := hookFields[k.String()]; !ok || f.name == "checks" {
			h.Checks = append(h.Checks, p.shortCheck(at, k.String(), v))
		} else if v.Type != gjson.Null {
			f.read(p, at, v, h)
		}
		return true
	})
	switch {
	case h.ID == "" && len(h.Checks) == 0:
		p.failf(at, "must have a check, or the id of a saved guardrail")
	case h.ID == "":
		h.ID = phase + "_guardrail_" + suffix(at+v.Raw)
	}
}

// shortCheck reads one check; its parameters are kept whole, the id and
// is_enabled inside them included.
func (p *parser) shortCheck(at, name string, v gjson.Result) Check {
	c := Check{ID: checkID(name), Enabled: true, Parameters: p.object(at, v)}
	if inner := v.Get("id"); inner.Exists() {
		c.ID = checkID(p.text(key(at, "id"), inner))
	}
	if on := v.Get("is_enabled"); on.Exists() {
		c.Enabled = p.flag(key(at, "is_enabled"), on)
	}
	return c
}

// suffix is three characters made from s, the same each time the config is read,
// so that the log can group by hook.
func suffix(s string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	text := "00" + strconv.FormatUint(uint64(h.Sum32()), 36)
	return text[len(text)-3:]
}

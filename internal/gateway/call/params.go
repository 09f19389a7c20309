// Package call contains the values of one model request that several parts of the gateway read:
// what the client asked for and what the provider gets. It has accessors and no behaviour of its
// own. Start reading at Params.
package call

import (
	"slices"

	"github.com/tidwall/gjson"

	"sluice/internal/domain/routing"
	"sluice/internal/kernel/jsonedit"
)

// Params are the parameters of a call as its provider gets them: those of the caller's body, after
// the target's config replaced, added or removed some. It refers to the memory of the request.
type Params struct {
	Doc    *jsonedit.Doc   // top level of the caller's body; nil if the body is not a JSON object
	Target *routing.Target // its Override, Default and Drop apply; never nil
}

// Raw returns the raw JSON of a parameter, such as `0.7` for "temperature". ok is false when the
// provider does not get it.
func (p Params) Raw(name string) (raw []byte, ok bool) {
	if slices.Contains(p.Target.Drop, name) {
		return nil, false
	}
	if raw, ok := FindParam(p.Target.Override, name); ok {
		return raw, true
	}
	if p.Doc != nil {
		if raw, ok := p.Doc.Raw(name); ok {
			return raw, true
		}
	}
	return FindParam(p.Target.Default, name)
}

// Value returns a parsed parameter. It does not exist when the provider does not get it.
func (p Params) Value(name string) gjson.Result {
	if raw, ok := p.Raw(name); ok {
		return gjson.ParseBytes(raw)
	}
	return gjson.Result{}
}

// Text returns a string parameter; "" when it is absent or not a string.
func (p Params) Text(name string) string {
	if v := p.Value(name); v.Type == gjson.String {
		return v.String()
	}
	return ""
}

// IsReplaced reports whether the target's config removes or sets a member of the body. name is raw
// JSON, for example `"max_tokens"`.
func (p Params) IsReplaced(name []byte) bool {
	for i := range p.Target.Override {
		if jsonedit.IsName(name, p.Target.Override[i].Key) {
			return true
		}
	}
	return slices.ContainsFunc(p.Target.Drop, func(key string) bool { return jsonedit.IsName(name, key) })
}

// FindParam returns the raw value to which a list of a target's parameters sets a member. ok is
// false when the list does not contain it.
func FindParam(params []routing.Param, name string) (raw []byte, ok bool) {
	for i := range params {
		if params[i].Key == name {
			return params[i].Raw, true
		}
	}
	return nil, false
}

// ModelLists returns the names of the members in which some providers accept fallback models.
// OpenRouter accepts names. Anthropic accepts objects, [{"model":"claude-opus-4-8"}], or
// "default", which leaves the choice to Anthropic.
// Source: https://openrouter.ai/docs/features/model-routing,
// https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback, read 2026-11.
func ModelLists() [2]string { return [...]string{"models", "fallbacks"} }

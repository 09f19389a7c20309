package bound

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/gateway/call"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/limits/catalog"
)

// A call may name models that the provider uses automatically when the first one is unavailable
// (call.ModelLists). It costs what the answering model costs, so its maximum cost is that of the
// most expensive one.
// Source: https://openrouter.ai/docs/guides/routing/model-fallbacks, read 2026-11.

// Models are the models that may answer a call, with their prices. The zero value has none.
type Models struct {
	Name        string            // of the first one, as price lists have it
	Card        *catalog.RateCard // its prices; never nil once the call is priced
	Fallbacks   []Fallback        // models that the call names in addition
	MayFallBack bool              // the provider may use another model than the first, even if none is named
	Limits      catalog.ContextLimits

	maxTokens int64     // maximum output tokens of a fallback, as in [{"model":"claude-opus-4-8","max_tokens":900}]; 0: not set
	names     [1]string // buffer of list for a call that names no other model
}

// Fallback is a model that a call names for its provider in addition to the first one.
type Fallback struct {
	Model string            // name in the request
	Card  *catalog.RateCard // its prices, set by the caller of ReadFallbacks
}

// maxFallbacks is the maximum number of fallback models of a call. Providers accept three.
const maxFallbacks = 100

// ReadFallbacks sets the fallback models from the call as it is sent: names, or objects with a
// name. Their prices and the limits of the models remain to be set. It fails with
// fault.InvalidParameter when there are more than 100.
func (m *Models) ReadFallbacks(c *Call) error {
	for _, list := range call.ModelLists() {
		raw, ok := c.Raw(list)
		m.MayFallBack = m.MayFallBack || ok
		for one := range jsonedit.Elements(raw) {
			m.addFallback(one)
			for name, val := range jsonedit.Members(one) {
				switch {
				case jsonedit.IsName(name, "model"):
					m.addFallback(val)
				case jsonedit.IsName(name, "max_tokens"):
					m.maxTokens = max(m.maxTokens, tokensOf(gjson.ParseBytes(val)))
				}
			}
			if len(m.Fallbacks) > maxFallbacks {
				return fault.Newf(fault.InvalidParameter, "must not have more than %d fallback models", maxFallbacks).WithParam(list)
			}
		}
	}
	return nil
}

// addFallback adds the model that a raw string names. It ignores other values.
func (m *Models) addFallback(raw []byte) {
	if model, named := jsonedit.Unquote(raw); named && len(m.Fallbacks) <= maxFallbacks {
		m.Fallbacks = append(m.Fallbacks, Fallback{Model: model})
	}
}

// list returns the names of all models. The slice is valid until the next call.
func (m *Models) list() []string {
	list := append(m.names[:0], m.Name)
	for i := range m.Fallbacks {
		list = append(list, m.Fallbacks[i].Model)
	}
	return list
}

// HasPrice reports whether a unit has a price with one of the models.
func (m *Models) HasPrice(unit string) bool {
	return m.Card.HasPrice(unit) || slices.ContainsFunc(m.Fallbacks, func(f Fallback) bool { return f.Card.HasPrice(unit) })
}

// MaxCost returns the cost of a usage with the most expensive model, in nano-dollars.
func (m *Models) MaxCost(l *catalog.Limits) int64 {
	maxCost := m.Card.MaxCost(l)
	for i := range m.Fallbacks {
		maxCost = max(maxCost, m.Fallbacks[i].Card.MaxCost(l))
	}
	return maxCost
}

// MaxLimits returns the highest limits of two models that may answer the same call. A limit that
// is unknown for one of them is unknown in the result.
func MaxLimits(a, b catalog.ContextLimits) catalog.ContextLimits {
	return catalog.ContextLimits{
		Input: wider(a.Input, b.Input), Output: wider(a.Output, b.Output),
		Reasoning: max(a.Reasoning, b.Reasoning), HidesReasoning: a.HidesReasoning || b.HidesReasoning,
	}
}

// wider returns the larger of two limits. 0 means unknown, and so the result is 0.
func wider(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// Answering returns the model that answered under a name, with its prices. ok is false when the
// name is none of the models: the response may come from a model that the call does not name.
func (m *Models) Answering(requested, answered string) (model Fallback, ok bool) {
	like, best := Fallback{requested, m.Card}, likeness(requested, answered)
	for _, f := range m.Fallbacks {
		if n := likeness(f.Model, answered); n > best {
			like, best = f, n
		}
	}
	return like, best > 0
}

// likeness returns the length of the common prefix if a requested and an answering model are the
// same model, else 0. Responses add versions ("gpt-4o-2024-11-20") and omit routing suffixes
// ("gpt-4o:nitro").
func likeness(requested, answered string) int {
	if strings.HasPrefix(answered, requested) || strings.HasPrefix(requested, answered+":") {
		return min(len(requested), len(answered))
	}
	return 0
}

package routing

import (
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/sealed"
)

// draft is one object of the document as it is written there: what it leaves out
// is nil, so that inheritance can tell.
type draft struct {
	name, provider, virtualKey, promptID string

	apiKey      sealed.String
	weight      *float64
	fields      Fields
	deployments []Deployment
	passthrough bool
	strategy    *strategyDraft
	targets     *gjson.Result

	own    inherited // with nil for what is left out
	before hookDraft
	after  hookDraft
}

// inherited is what a level hands down. Source: contract/dataplane.md 3.5.
type inherited struct {
	id             string
	breaker        *BreakerConfig
	defaults       []Param
	override       []Param
	drop           []string
	retry          *Retry
	cache          *Cache
	timeout        *time.Duration
	customHost     string
	forward        []string
	strict         *bool
	before, after  []Hook
	integrated     *bool
	continueStream *bool
}

// hookDraft is one phase of hooks in its three spellings, nil where left out.
type hookDraft struct{ hooks, guardrails, mutators []Hook }

// joined is the level's hooks in order of running, nil when it has none of its own.
func (h *hookDraft) joined() []Hook {
	if h.hooks == nil && h.guardrails == nil && h.mutators == nil {
		return nil
	}
	return append(append(append([]Hook{}, h.hooks...), h.guardrails...), h.mutators...)
}

// draftFields are the fields of the root and of every target except the provider
// credential fields. Source: contract/dataplane.md 3.1.
var draftFields = withCredentials(bothSpellings(map[string]reader[draft]{
	"strategy": func(p *parser, at string, v gjson.Result, d *draft) {
		d.strategy = &strategyDraft{}
		readObject(p, at, v, strategyFields, d.strategy)
	},
	"targets":     func(_ *parser, _ string, v gjson.Result, d *draft) { d.targets = &v },
	"name":        func(p *parser, at string, v gjson.Result, d *draft) { d.name = p.text(at, v) },
	"id":          func(p *parser, at string, v gjson.Result, d *draft) { d.own.id = p.text(at, v) },
	"provider":    func(p *parser, at string, v gjson.Result, d *draft) { d.provider = p.provider(at, v) },
	"virtual_key": func(p *parser, at string, v gjson.Result, d *draft) { d.virtualKey = p.slug(at, v) },
	"api_key":     func(p *parser, at string, v gjson.Result, d *draft) { d.apiKey = sealed.New(p.text(at, v)) },
	"prompt_id":   func(p *parser, at string, v gjson.Result, d *draft) { d.promptID = p.text(at, v) },
	"weight":      func(p *parser, at string, v gjson.Result, d *draft) { d.weight = new(p.number(at, v, 0, maxWeight)) },
	// accepted beside the strategy too, where it has no effect
	"on_status_codes": func(p *parser, at string, v gjson.Result, _ *draft) { p.statuses(at, v) },
	"retry":           func(p *parser, at string, v gjson.Result, d *draft) { d.own.retry = p.retry(at, v) },
	"cache":           func(p *parser, at string, v gjson.Result, d *draft) { d.own.cache = p.cache(at, v) },
	"request_timeout": func(p *parser, at string, v gjson.Result, d *draft) { d.own.timeout = new(p.millis(at, v, 0)) },
	"override_params": func(p *parser, at string, v gjson.Result, d *draft) { d.own.override = p.params(at, v) },
	"default_params":  func(p *parser, at string, v gjson.Result, d *draft) { d.own.defaults = p.params(at, v) },
	"drop_params":     func(p *parser, at string, v gjson.Result, d *draft) { d.own.drop = p.texts(at, v) },
	"custom_host":     func(p *parser, at string, v gjson.Result, d *draft) { d.own.customHost = p.host(at, v) },
	"forward_headers": func(p *parser, at string, v gjson.Result, d *draft) { d.own.forward = p.forward(at, v) },
	"passthrough":     func(p *parser, at string, v gjson.Result, d *draft) { d.passthrough = p.flag(at, v) },
	"strict_open_ai_compliance": func(p *parser, at string, v gjson.Result, d *draft) {
		d.own.strict = new(p.flag(at, v))
	},
	"input_guardrails": func(p *parser, at string, v gjson.Result, d *draft) {
		d.before.guardrails = p.shorthand(at, v, Guardrail, "input")
	},
	"output_guardrails": func(p *parser, at string, v gjson.Result, d *draft) {
		d.after.guardrails = p.shorthand(at, v, Guardrail, "output")
	},
	"input_mutators": func(p *parser, at string, v gjson.Result, d *draft) {
		d.before.mutators = p.shorthand(at, v, Mutator, "input")
	},
	"output_mutators": func(p *parser, at string, v gjson.Result, d *draft) {
		d.after.mutators = p.shorthand(at, v, Mutator, "output")
	},
	"before_request_hooks": func(p *parser, at string, v gjson.Result, d *draft) { d.before.hooks = p.hooks(at, v) },
	"after_request_hooks":  func(p *parser, at string, v gjson.Result, d *draft) { d.after.hooks = p.hooks(at, v) },
	"cb_config":            func(p *parser, at string, v gjson.Result, d *draft) { d.own.breaker = p.breaker(at, v) },
	"deployments":          readDeployments,
	"fetch_integrated_models": func(p *parser, at string, v gjson.Result, d *draft) {
		d.own.integrated = new(p.flag(at, v))
	},
	"continue_stream": func(p *parser, at string, v gjson.Result, d *draft) {
		d.own.continueStream = new(p.flag(at, v))
	},
	"options": func(p *parser, at string, _ gjson.Result, _ *draft) {
		p.failf(at, "belongs to a shape that is no longer read: use strategy and targets")
	},
}).as("strict_openai_compliance", "strict_open_ai_compliance"))

// maxWeight keeps sums of weights finite.
const maxWeight = 1e9

package routing

import (
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/kernel/sealed"
)

// draft is one object of the document as written. Omitted fields are nil, so that inheritance
// can detect them.
type draft struct {
	name, provider, virtualKey, promptID string

	apiKey      sealed.String
	weight      *float64
	fields      Fields
	deployments []Deployment
	passthrough bool
	strategy    *strategyDraft
	targets     *gjson.Result

	explicit inherited // with nil for omitted fields
	before   hookDraft
	after    hookDraft
}

// inherited contains the settings that a level passes to the levels below. Source:
// contract/dataplane.md 3.5.
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
	providerCache  ProviderCache
}

// hookDraft contains the hooks of one phase in their three notations, nil if omitted.
type hookDraft struct{ hooks, guardrails, mutators []Hook }

// joined returns the hooks of the level in execution order, nil if it does not have its own.
func (h *hookDraft) joined() []Hook {
	if h.hooks == nil && h.guardrails == nil && h.mutators == nil {
		return nil
	}
	return append(append(append([]Hook{}, h.hooks...), h.guardrails...), h.mutators...)
}

// draftFields are the fields of the root and of every target except the provider
// credential fields. Source: contract/dataplane.md 3.1.
var draftFields = withCredentials(bothSpellings(map[string]reader[draft]{
	"strategy": func(p *parser, path string, v gjson.Result, d *draft) {
		d.strategy = &strategyDraft{}
		readObject(p, path, v, strategyFields, d.strategy)
	},
	"targets":     func(_ *parser, _ string, v gjson.Result, d *draft) { d.targets = &v },
	"name":        func(p *parser, path string, v gjson.Result, d *draft) { d.name = p.text(path, v) },
	"id":          func(p *parser, path string, v gjson.Result, d *draft) { d.explicit.id = p.text(path, v) },
	"provider":    func(p *parser, path string, v gjson.Result, d *draft) { d.provider = p.provider(path, v) },
	"virtual_key": func(p *parser, path string, v gjson.Result, d *draft) { d.virtualKey = p.slug(path, v) },
	"api_key":     func(p *parser, path string, v gjson.Result, d *draft) { d.apiKey = sealed.New(p.text(path, v)) },
	"prompt_id":   func(p *parser, path string, v gjson.Result, d *draft) { d.promptID = p.text(path, v) },
	"weight": func(p *parser, path string, v gjson.Result, d *draft) {
		d.weight = new(p.number(path, v, 0, maxWeight))
	},
	// accepted outside the strategy too, where it has no effect
	"on_status_codes": func(p *parser, path string, v gjson.Result, _ *draft) { p.statuses(path, v) },
	"retry":           func(p *parser, path string, v gjson.Result, d *draft) { d.explicit.retry = p.retry(path, v) },
	"cache":           func(p *parser, path string, v gjson.Result, d *draft) { d.explicit.cache = p.cache(path, v) },
	"request_timeout": func(p *parser, path string, v gjson.Result, d *draft) { d.explicit.timeout = new(p.millis(path, v, 0)) },
	"override_params": func(p *parser, path string, v gjson.Result, d *draft) { d.explicit.override = p.params(path, v) },
	"default_params":  func(p *parser, path string, v gjson.Result, d *draft) { d.explicit.defaults = p.params(path, v) },
	"drop_params":     func(p *parser, path string, v gjson.Result, d *draft) { d.explicit.drop = p.texts(path, v) },
	"custom_host":     func(p *parser, path string, v gjson.Result, d *draft) { d.explicit.customHost = p.host(path, v) },
	"forward_headers": func(p *parser, path string, v gjson.Result, d *draft) { d.explicit.forward = p.forward(path, v) },
	"passthrough":     func(p *parser, path string, v gjson.Result, d *draft) { d.passthrough = p.flag(path, v) },
	"strict_open_ai_compliance": func(p *parser, path string, v gjson.Result, d *draft) {
		d.explicit.strict = new(p.flag(path, v))
	},
	"input_guardrails": func(p *parser, path string, v gjson.Result, d *draft) {
		d.before.guardrails = p.shorthand(path, v, Guardrail, "input")
	},
	"output_guardrails": func(p *parser, path string, v gjson.Result, d *draft) {
		d.after.guardrails = p.shorthand(path, v, Guardrail, "output")
	},
	"input_mutators": func(p *parser, path string, v gjson.Result, d *draft) {
		d.before.mutators = p.shorthand(path, v, Mutator, "input")
	},
	"output_mutators": func(p *parser, path string, v gjson.Result, d *draft) {
		d.after.mutators = p.shorthand(path, v, Mutator, "output")
	},
	"before_request_hooks": func(p *parser, path string, v gjson.Result, d *draft) { d.before.hooks = p.hooks(path, v) },
	"after_request_hooks":  func(p *parser, path string, v gjson.Result, d *draft) { d.after.hooks = p.hooks(path, v) },
	"cb_config":            func(p *parser, path string, v gjson.Result, d *draft) { d.explicit.breaker = p.breaker(path, v) },
	"deployments":          readDeployments,
	"fetch_integrated_models": func(p *parser, path string, v gjson.Result, d *draft) {
		d.explicit.integrated = new(p.flag(path, v))
	},
	"continue_stream": func(p *parser, path string, v gjson.Result, d *draft) {
		d.explicit.continueStream = new(p.flag(path, v))
	},
	"provider_cache": func(p *parser, path string, v gjson.Result, d *draft) {
		d.explicit.providerCache = ProviderCache(p.word(path, v, string(ProviderCacheAuto), string(providerCacheOff)))
	},
	"options": func(p *parser, path string, _ gjson.Result, _ *draft) {
		p.failf(path, "is no longer supported; use strategy and targets")
	},
}).as("strict_openai_compliance", "strict_open_ai_compliance"))

// maxWeight limits weights, so that their sums are finite.
const maxWeight = 1e9

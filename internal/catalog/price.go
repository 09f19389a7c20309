// Package catalog knows models: what they cost and what they can do. It is read from
// files of one provider each, in the order memory, proxy, log store, local files,
// built-in. A Book keeps the prices ready for the path of a request; a Tariff says what
// a call costs, term by term, and docs/pricing.md how to work it out by hand.
package catalog

// Price is what one token or unit costs, in US cents: 0.00025 is 2.50 dollars for a
// million. Up to 15 significant digits are exact; what is finer than a femto-dollar
// (10^-13 cents) is rounded half up.
type Price struct {
	Price float64 `json:"price"`
}

// Rates are the prices of what a call may use. A rate that is nil is not billed apart.
// Source: contract/content-and-observability.yaml, PayAsYouGo.
type Rates struct {
	RequestToken         *Price                      `json:"request_token,omitempty"` // of speech models a character
	ResponseToken        *Price                      `json:"response_token,omitempty"`
	CacheWriteInput      *Price                      `json:"cache_write_input_token,omitempty"`
	CacheReadInput       *Price                      `json:"cache_read_input_token,omitempty"`
	RequestAudioToken    *Price                      `json:"request_audio_token,omitempty"` // of transcriptions a minute
	ResponseAudioToken   *Price                      `json:"response_audio_token,omitempty"`
	CacheReadAudioInput  *Price                      `json:"cache_read_audio_input_token,omitempty"`
	RequestTextToken     *Price                      `json:"request_text_token,omitempty"`
	ResponseTextToken    *Price                      `json:"response_text_token,omitempty"`
	RequestImageToken    *Price                      `json:"request_image_token,omitempty"`
	ResponseImageToken   *Price                      `json:"response_image_token,omitempty"`
	CacheReadTextInput   *Price                      `json:"cache_read_text_input_token,omitempty"`
	CacheReadImageInput  *Price                      `json:"cache_read_image_input_token,omitempty"`
	CachedTextInputToken *Price                      `json:"cached_text_input_token,omitempty"`  // older name of cache_read_text_input_token
	CachedImageInput     *Price                      `json:"cached_image_input_token,omitempty"` // older name of cache_read_image_input_token
	ReasoningToken       *Price                      `json:"reasoning_token,omitempty"`
	Image                map[string]map[string]Price `json:"image,omitempty"` // by quality and size, "default" in both
	// AdditionalUnits are prices of further units by their names, such as "web_search".
	// Some names are quantities and no prices, such as "default_steps".
	AdditionalUnits map[string]Price `json:"additional_units,omitempty"`
}

// Pricing is what the calls of a model cost.
// Source: contract/content-and-observability.yaml, PricingConfig.
type Pricing struct {
	PayAsYouGo *Rates    `json:"pay_as_you_go,omitempty"`
	Batch      *Rates    `json:"batch_config,omitempty"` // nil: half of PayAsYouGo
	Calculate  *Formulas `json:"calculate,omitempty"`
	Currency   string    `json:"currency,omitempty"` // "USD"
	Finetune   *Finetune `json:"finetune_config,omitempty"`
	Fixed      *Fixed    `json:"fixed_cost,omitempty"`
}

// Formulas are how the cost of a call is made of counts and rates.
type Formulas struct {
	Request  *Node `json:"request,omitempty"`
	Response *Node `json:"response,omitempty"`
}

// Node is a step of a formula: an operation over operands, or a value.
type Node struct {
	Operation string `json:"operation,omitempty"` // "sum" or "multiply"
	Operands  []Node `json:"operands,omitempty"`
	Value     string `json:"value,omitempty"` // "input_tokens", "rates.request_token", "0"
}

// Finetune is what training costs.
type Finetune struct {
	PerToken *Price `json:"pay_per_token,omitempty"`
	PerHour  *Price `json:"pay_per_hour,omitempty"`
}

// Fixed is what a call costs whatever it uses.
type Fixed struct {
	Request  *Price `json:"request,omitempty"`
	Response *Price `json:"response,omitempty"`
}

// Entry is what a file says of a model. Pricing is nil where it has no price.
type Entry struct {
	Pricing *Pricing `json:"pricing_config"`
	Custom  *Custom  `json:"custom_pricing,omitempty"`
}

// Custom are prices that depend on the region, on how a call is executed, on how much it
// brings along, or on the time.
// Source: contract/content-and-observability.yaml, CustomPricing.
type Custom struct {
	// ContextTiers names a tier by the number of input tokens from which on it holds:
	// {"0": "lte-200k", "200000": "gt-200k"}.
	ContextTiers map[string]string `json:"context_tier_map,omitempty"`
	// Regions are by "default", a region, or several with commas.
	Regions map[string]Region `json:"regions,omitempty"`
	OffPeak *OffPeak          `json:"off_peak,omitempty"` // nil: one price at all hours
}

// Region are the prices of a region by mode: standard, batch, flex, priority or fast.
type Region struct {
	Modes map[string]Mode `json:"execution_modes,omitempty"`
}

// Mode are the prices of a mode: one, or one for each tier of Custom.ContextTiers.
type Mode struct {
	Pricing *Pricing        `json:"pricing_config,omitempty"`
	Tiers   map[string]Tier `json:"context_tiers,omitempty"`
}

// Tier is the price of a tier.
type Tier struct {
	Pricing *Pricing `json:"pricing_config,omitempty"`
}

// withOverrides is base with what is set in over put in its place, key by key.
func (base Pricing) withOverrides(changes *Pricing) Pricing {
	if changes != nil {
		put(&base.PayAsYouGo, changes.PayAsYouGo)
		put(&base.Batch, changes.Batch)
		put(&base.Calculate, changes.Calculate)
		put(&base.Finetune, changes.Finetune)
		put(&base.Fixed, changes.Fixed)
		if changes.Currency != "" {
			base.Currency = changes.Currency
		}
	}
	if base.Currency == "" {
		base.Currency = "USD"
	}
	return base
}

func put[T any](to **T, v *T) {
	if v != nil {
		*to = v
	}
}

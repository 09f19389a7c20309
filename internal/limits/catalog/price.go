// Package catalog contains the prices and capabilities of models. It reads them from one file
// per provider, in the order memory, proxy, log store, local files, built-in. Start reading at
// PriceList, which caches the prices for request handling; a RateCard calculates the cost of a
// call, term by term. docs/pricing.md explains how to calculate it by hand.
package catalog

// Price is the price of one token or unit, in US cents: 0.00025 is 2.50 dollars for a million.
// Up to 15 significant digits are exact. Amounts below a femto-dollar (10^-13 cents) are
// rounded half up.
type Price struct {
	Price float64 `json:"price"`
}

// Rates are the prices of what a call may use. A nil rate is not billed separately.
// Source: contract/content-and-observability.yaml, PayAsYouGo.
type Rates struct {
	RequestToken         *Price                      `json:"request_token,omitempty"` // for speech models the price of a character
	ResponseToken        *Price                      `json:"response_token,omitempty"`
	CacheWriteInput      *Price                      `json:"cache_write_input_token,omitempty"`
	CacheReadInput       *Price                      `json:"cache_read_input_token,omitempty"`
	RequestAudioToken    *Price                      `json:"request_audio_token,omitempty"` // for transcriptions the price of a minute
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
	// AdditionalUnits are prices of other units by name, such as "web_search". Some names are
	// quantities and not prices, such as "default_steps".
	AdditionalUnits map[string]Price `json:"additional_units,omitempty"`
}

// Pricing contains the prices of the calls of a model.
// Source: contract/content-and-observability.yaml, PricingConfig.
type Pricing struct {
	PayAsYouGo *Rates    `json:"pay_as_you_go,omitempty"`
	Batch      *Rates    `json:"batch_config,omitempty"` // nil: half of PayAsYouGo
	Calculate  *Formulas `json:"calculate,omitempty"`
	Currency   string    `json:"currency,omitempty"` // "USD"
	Finetune   *Finetune `json:"finetune_config,omitempty"`
	Fixed      *Fixed    `json:"fixed_cost,omitempty"`
}

// Formulas define how the cost of a call is calculated from counts and rates.
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

// Finetune contains the prices of training.
type Finetune struct {
	PerToken *Price `json:"pay_per_token,omitempty"`
	PerHour  *Price `json:"pay_per_hour,omitempty"`
}

// Fixed contains the fixed price of a call.
type Fixed struct {
	Request  *Price `json:"request,omitempty"`
	Response *Price `json:"response,omitempty"`
}

// Entry is the entry of a model in a file. Pricing is nil if it does not have a price.
type Entry struct {
	Pricing *Pricing `json:"pricing_config"`
	Custom  *Custom  `json:"custom_pricing,omitempty"`
}

// Custom contains prices that depend on the region, the mode of execution, the size of the
// input, or the time.
// Source: contract/content-and-observability.yaml, CustomPricing.
type Custom struct {
	// ContextTiers names each tier by the number of input tokens above which it applies: {"0":
	// "lte-200k", "200000": "gt-200k"}.
	ContextTiers map[string]string `json:"context_tier_map,omitempty"`
	// Regions are prices by "default", a region, or several regions separated by commas.
	Regions map[string]Region `json:"regions,omitempty"`
	OffPeak *OffPeak          `json:"off_peak,omitempty"` // nil: one price at all hours
}

// Region contains the prices of a region by mode: standard, batch, flex, priority or fast.
type Region struct {
	Modes map[string]Mode `json:"execution_modes,omitempty"`
}

// Mode contains the prices of a mode: one, or one for each tier of Custom.ContextTiers.
type Mode struct {
	Pricing *Pricing        `json:"pricing_config,omitempty"`
	Tiers   map[string]Tier `json:"context_tiers,omitempty"`
}

// Tier contains the price of a tier.
type Tier struct {
	Pricing *Pricing `json:"pricing_config,omitempty"`
}

// withOverrides returns base with the fields that are set in changes replaced.
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

package config

// Models says where the catalog of models comes from: what they cost and what they can
// do. The sources are asked in the order of the settings here; the files that come with
// the program are the last.
type Models struct {
	// ProxyFetch asks `MODEL_CONFIGS_PROXY_URL`, when that is set.
	ProxyFetch bool `env:"MODEL_CONFIGS_PROXY_FETCH_ENABLED" envDefault:"ON"`

	// ProxyURL is a service with files of providers at `/pricing/openai` and
	// `/general/openai`, with or without `.json` behind it. Another gateway is one, at
	// `https://gateway.example.com/model-configs`. A host with a private address must be
	// among `TRUSTED_CUSTOM_HOSTS`.
	ProxyURL string `env:"MODEL_CONFIGS_PROXY_URL" check:"web-url"`

	// Unpriced is what becomes of a call whose model has no price where a budget in dollars
	// applies to it: `refuse` answers 412 and names the model; `allow` lets it through, and
	// it costs nothing on the budget.
	Unpriced string `env:"UNPRICED_MODELS" envDefault:"refuse" oneof:"refuse,allow"`

	// PricingLogStore is where files of prices lie in the log store: `configs/pricing`
	// has `openai.json`. The local log store is the directory `logs` in `DATA_DIR`.
	PricingLogStore string `env:"MODEL_CONFIGS_PRICING_LOG_STORE_PATH" check:"stored-path"`

	// CapabilitiesLogStore is the same for capabilities.
	CapabilitiesLogStore string `env:"MODEL_CONFIGS_CAPABILITIES_LOG_STORE_PATH" check:"stored-path"`

	// PricingDir is a directory with files of prices, one for each provider:
	// `openai.json`. They replace those of the same name that come with the program.
	PricingDir string `env:"MODEL_CONFIGS_PRICING_LOCAL_PATH"`

	// CapabilitiesDir is the same for capabilities.
	CapabilitiesDir string `env:"MODEL_CONFIGS_CAPABILITIES_LOCAL_PATH"`
}

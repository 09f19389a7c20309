package config

// Models sets the sources of the model catalog: what models cost, and what they support.
// The gateway reads the sources in the order of these settings. The built-in files come
// last.
type Models struct {
	// ProxyFetch reads from `MODEL_CONFIGS_PROXY_URL`, if that is set.
	ProxyFetch bool `env:"MODEL_CONFIGS_PROXY_FETCH_ENABLED" envDefault:"ON"`

	// ProxyURL is the address of a service with files of providers at `/pricing/openai` and
	// `/general/openai`, with or without the suffix `.json`. Another gateway is such a
	// service, at `https://gateway.example.com/model-configs`. A host with a private
	// address must be in `TRUSTED_CUSTOM_HOSTS`.
	ProxyURL string `env:"MODEL_CONFIGS_PROXY_URL" check:"web-url"`

	// Unpriced decides what happens to a call whose model does not have a price, if a
	// budget in dollars applies to the call. `refuse` rejects it with 412 and names the
	// model. `allow` admits it, and it costs nothing on the budget.
	Unpriced string `env:"UNPRICED_MODELS" envDefault:"refuse" oneof:"refuse,allow"`

	// PricingLogStore is the path of the price files in the local log store, which is the
	// directory `logs` in `DATA_DIR`: `configs/pricing` contains `openai.json`.
	PricingLogStore string `env:"MODEL_CONFIGS_PRICING_LOG_STORE_PATH" check:"stored-path"`

	// CapabilitiesLogStore is the path of the capability files in the local log store.
	CapabilitiesLogStore string `env:"MODEL_CONFIGS_CAPABILITIES_LOG_STORE_PATH" check:"stored-path"`

	// PricingDir is a directory with price files, one for each provider, such as
	// `openai.json`. They replace the built-in files of the same name.
	PricingDir string `env:"MODEL_CONFIGS_PRICING_LOCAL_PATH"`

	// CapabilitiesDir is a directory with capability files, one for each provider. They
	// replace the built-in files of the same name.
	CapabilitiesDir string `env:"MODEL_CONFIGS_CAPABILITIES_LOCAL_PATH"`
}

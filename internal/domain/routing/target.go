package routing

import (
	"encoding/json"
	"log/slog"
	"time"

	"sluice/internal/kernel/sealed"
)

// Target is a leaf of a config: one destination of the call, with everything that it inherits
// from the levels above. It is shared between requests and must not be changed. Callers that
// add to it (credentials from headers) copy the struct. Source: contract/dataplane.md 3.1 and
// 3.5.
type Target struct {
	Path     string // "config.targets[1]"
	ID       string // groups circuit breaker statistics; inherited
	Provider string // "openai" or "@slug"; empty if the headers or the model name it

	VirtualKey string        // older spelling of "@slug", without the "@"
	APIKey     sealed.String // inline provider key
	PromptID   string        // stored prompt to run as this target
	Fields     Fields        // provider credential fields
	// Deployments are Azure deployments to choose from by alias. Fields contains the same list
	// as "azure_deployment_config", in the shape of a saved provider.
	Deployments []Deployment

	CustomHost     string   // base URL, of which only the syntax is checked here: netguard checks the address when it is dialled
	ForwardHeaders []string // lower-case names; nil if there are none
	Passthrough    bool     // take the provider from the request

	// Default, Override and Drop change the body, in this order: Default sets fields that the
	// client did not send, Override sets fields in any case, then Drop removes paths such as
	// "messages[*].cache_control".
	Default  []Param
	Override []Param
	Drop     []string

	Retry         *Retry         // nil: one attempt
	Cache         *Cache         // nil: no cache
	Timeout       time.Duration  // until the upstream's response begins; 0: no limit
	Strict        *bool          // strict_open_ai_compliance; nil: not given, which means strict
	Before, After []Hook         // before_request_hooks and after_request_hooks with the shorthands converted
	Breaker       *BreakerConfig // nil: none, or its strategy does not evaluate breakers

	FetchIntegratedModels bool // GET /models responds from the catalog
	// ContinueStream lets a fallback continue with the next target if a stream of this one
	// fails after bytes have reached the client (ours).
	ContinueStream bool
	ProviderCache  ProviderCache // empty: the caller's marks only
}

// Param is one field of override_params or default_params. Raw is the JSON of the value as in
// the document, so that it can be inserted unchanged.
type Param struct {
	Key string
	Raw json.RawMessage
}

// Fields are provider credential fields by snake_case name, for example "azure_resource_name"
// or "vertex_service_account_json". Numbers and booleans are stored as their JSON text,
// objects and arrays as compact JSON. Fields may contain secrets, so they print and log as
// ***. Nil is empty.
// Source: contract/dataplane.md 3.3.
type Fields map[string]string

// String masks the fields.
func (f Fields) String() string {
	if len(f) == 0 {
		return ""
	}
	return sealed.Mask
}

// GoString masks the fields for %#v.
func (f Fields) GoString() string { return "routing.Fields{" + f.String() + "}" }

// LogValue masks the fields for log/slog.
func (f Fields) LogValue() slog.Value { return slog.StringValue(f.String()) }

// Deployment is one Azure deployment of a target. Its JSON is that of a saved provider's
// configuration. Source: contract/providers.yaml, azure-openai.
type Deployment struct {
	DeploymentID string `json:"azure_deployment_name"` // "gpt-4o-eu"
	Alias        string `json:"alias"`                 // the model name that selects it
	APIVersion   string `json:"azure_api_version"`     // "2024-10-21"
	Default      bool   `json:"is_default"`            // used when no alias matches
}

// ProviderCache is how a target uses the prompt cache of its provider (ours).
type ProviderCache string

// ProviderCacheAuto places marks in prompts where the model caches up to marks, and keeps a
// conversation at the target whose prompt cache contains its beginning.
const ProviderCacheAuto ProviderCache = "auto"

// providerCacheOff is the value of a level that switches off an inherited setting.
const providerCacheOff ProviderCache = "off"

// CacheMode is how a cached response is looked up.
type CacheMode string

// These are the cache modes.
const (
	CacheSimple   CacheMode = "simple"   // exact match
	CacheSemantic CacheMode = "semantic" // exact match, then similarity
)

// Cache is the cache setting of a target. Source: contract/dataplane.md 4.7.
type Cache struct {
	Mode CacheMode
	// MaxAge is the time to live, 60 s to 90 days. Zero means not given: the organisation's
	// default, else 7 days.
	MaxAge time.Duration
	// Vary names what counts in the key although it is ignored by default: "user",
	// "metadata.user_id", a trace field or a header.
	Vary []string
	// Threshold is the smallest cosine of a semantic hit, 0 to 1. Nil means the default of the
	// deployment or the embedding model.
	Threshold *float64
	// Unguarded reports that the cosine alone decides about a semantic hit: "guard": false.
	Unguarded bool
}

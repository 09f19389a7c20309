package routing

import (
	"encoding/json"
	"log/slog"
	"time"

	"sluice/internal/sealed"
)

// Target is a leaf of a config: one place to send the call to, with everything it
// inherits from the levels above already resolved. It is shared between requests
// and must not be changed; callers that add to it (credentials from headers) copy
// the struct. Source: contract/dataplane.md 3.1 and 3.5.
type Target struct {
	Path     string // "config.targets[1]"
	ID       string // groups circuit breaker figures; inherited
	Provider string // "openai" or "@slug"; empty when the headers or the model say it

	VirtualKey string        // older spelling of "@slug", without the "@"
	APIKey     sealed.String // inline provider key
	PromptID   string        // stored prompt to run as this target
	Fields     Fields        // provider credential fields
	// Deployments are Azure deployments to choose from by alias. Fields holds the
	// same list as "azure_deployment_config", in the shape of a saved provider.
	Deployments []Deployment

	CustomHost     string   // base URL, syntax checked only: the address guard runs when it is dialled
	ForwardHeaders []string // lower-case names; nil when none
	Passthrough    bool     // take the provider from the request

	// Default, Override and Drop shape the body, in this order: Default where the
	// client sent nothing, Override in any case, then Drop removes paths such as
	// "messages[*].cache_control".
	Default  []Param
	Override []Param
	Drop     []string

	Retry         *Retry         // nil: one try
	Cache         *Cache         // nil: no cache
	Timeout       time.Duration  // until the upstream's answer begins; 0: none
	Strict        *bool          // strict_open_ai_compliance; nil: not stated, which is strict
	Before, After []Hook         // before_request_hooks and after_request_hooks with the shorthands converted
	Breaker       *BreakerConfig // nil: none, or its strategy does not evaluate breakers

	FetchIntegratedModels bool // GET /models answers from the catalogue
	// ContinueStream lets a fallback go on with the next target when a stream of
	// this one died after bytes had reached the client (ours).
	ContinueStream bool
}

// Param is one field of override_params or default_params. Raw is the value's
// JSON as the document spells it, so that it can be spliced verbatim.
type Param struct {
	Key string
	Raw json.RawMessage
}

// Fields are provider credential fields by snake_case name, for example
// "azure_resource_name" or "vertex_service_account_json". Numbers and booleans
// stand as their JSON text, objects and arrays as compact JSON. They may hold
// secrets, so a Fields prints and logs as ***; nil is empty.
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

// Deployment is one Azure deployment of a target. Its JSON is that of a saved
// provider's configuration. Source: contract/providers.yaml, azure-openai.
type Deployment struct {
	DeploymentID string `json:"azure_deployment_name"` // "gpt-4o-eu"
	Alias        string `json:"alias"`                 // the model name that selects it
	APIVersion   string `json:"azure_api_version"`     // "2024-10-21"
	Default      bool   `json:"is_default"`            // used when no alias matches
}

// CacheMode is how a cached answer is looked for.
type CacheMode string

// The cache modes.
const (
	CacheSimple   CacheMode = "simple"   // exact match
	CacheSemantic CacheMode = "semantic" // exact match, then similarity
)

// Cache is a target's cache setting. Source: contract/dataplane.md 4.7.
type Cache struct {
	Mode CacheMode
	// MaxAge is the time to live, brought into 60 s to 90 days. Zero means not
	// stated: the workspace's default, else 7 days.
	MaxAge time.Duration
}

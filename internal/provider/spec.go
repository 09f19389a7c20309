package provider

import (
	"encoding/json"

	"sluice/internal/kernel/llm"
)

// Dialect is the wire format of an endpoint, for example "openai".
type Dialect string

// The dialects with a special meaning in this package. Any other name, such as "anthropic", is
// a format into which calls may have to be translated.
const (
	OpenAI  Dialect = "openai" // OpenAI's format, with the small changes of Params and ResponseRules
	Through Dialect = "proxy"  // no typed endpoint: pass-through only
)

// Spec is one provider as described by its file in specs. It is read-only and safe for
// concurrent use after Load has returned it.
type Spec struct {
	ID      string   `json:"id"`      // value of x-gateway-provider: "groq"
	Name    string   `json:"name"`    // "Groq"
	Aliases []string `json:"aliases"` // further accepted ids: "together" for "together-ai"
	Source  string   `json:"source"`  // source of the facts, with a date
	Docs    string   `json:"docs"`    // the provider's own description of its API; may be empty
	Notes   []string `json:"notes"`   // notes for maintainers

	Pricing string `json:"pricing"` // "free": calls cost nothing unless a price list has a price; empty: the price lists apply
	// Platform is the platform whose rules of use and billing the provider shares. It is
	// "openai" for OpenAI and Azure, and empty for others. Their models use the built-in
	// vocabularies, their projects may be set to the priority tier, and their conversations only
	// store messages.
	Platform string `json:"platform"`

	Dialect Dialect           `json:"dialect"`
	BaseURL string            `json:"base_url"` // "https://{workspace}.example.com/v1"; a custom host replaces it
	Bases   map[string]string `json:"bases"`    // further bases, chosen by Endpoint.Base
	Auth    Auth              `json:"auth"`
	Fields  []Field           `json:"credential"`
	// Derived are the placeholders computed from credential fields, by name: "project".
	Derived map[string]*Derived `json:"derived"`
	Headers map[string]string   `json:"headers"` // sent unless the client's own headers were forwarded
	Query   map[string]string   `json:"query"`   // added to every call unless the caller's query contains the name
	Model   ModelRule           `json:"model"`

	Endpoints map[llm.Endpoint]*Endpoint `json:"endpoints"`
	Variants  []Variant                  `json:"variants"` // the first that matches the call replaces the parts that it states

	Error         string `json:"error"`          // id of an error format: "openai", "flat", "detail_list", …
	Stream        Stream `json:"stream"`         // framing of event streams
	OmitProvider  bool   `json:"omit_provider"`  // unified responses do not have a top-level "provider"
	KeepDeveloper bool   `json:"keep_developer"` // role "developer" is forwarded, not rewritten to "system"

	// EmbeddedHost is a host suffix, for example ".openai.azure.com". A pass-through path whose
	// first segment is a host with this suffix is sent to that host.
	EmbeddedHost string `json:"embedded_host"`

	shapes []shape        // one per variant, then the spec itself
	fields map[string]int // name and aliases to index of Fields
	paths  bool           // an address contains the model
	must   []int          // fields that may be required and that no address needs
	up     []int          // fields that are sent as headers
}

// Auth describes the authorisation of a call. The zero Scheme is not valid. A call without
// credentials has scheme "none".
type Auth struct {
	Scheme  string `json:"scheme"`  // header, query, none, aws, azure, gcp, oci
	Header  string `json:"header"`  // lower case: "authorization"
	Format  string `json:"format"`  // of the header value: "Bearer {key}"
	Query   string `json:"query"`   // parameter name for scheme query: "key"
	Service string `json:"service"` // service name for SigV4: "sagemaker"
	Scope   string `json:"scope"`   // default scope of an Azure token
	Token   *Token `json:"token"`   // keys of another form, for scheme header; nil: none
}

// Token describes how keys with a certain prefix are sent instead, for example OAuth access
// tokens: {"prefix":"sk-ant-oat","header":"authorization","format":"Bearer
// {key}","flag_header":"anthropic-beta","flag":"oauth-2025-04-20"}.
type Token struct {
	Prefix     string `json:"prefix"`      // of the key: "sk-ant-oat"
	Header     string `json:"header"`      // replaces Auth's header, lower case: "authorization"
	Format     string `json:"format"`      // "Bearer {key}"
	FlagHeader string `json:"flag_header"` // a header with a comma-separated list, lower case: "anthropic-beta"
	Flag       string `json:"flag"`        // added to that list: "oauth-2025-04-20"
}

// ModelRule changes the model name that is sent upstream.
type ModelRule struct {
	StripPrefix string `json:"strip_prefix"` // "mistralai."
	// Publisher replaces the first dot, which follows the publisher, with a slash:
	// "meta.llama-3.3" becomes "meta/llama-3.3".
	Publisher bool `json:"publisher"`
	// Split is the separator at whose first occurrence the name is split: the part before it
	// becomes {model} in the path, the part after it the model in the body.
	Split string `json:"split"`
}

// Endpoint describes how a provider serves one endpoint. In a spec file it is a path,
// optionally after a method ("DELETE /jobs/{id}"), or an object with "path".
type Endpoint struct {
	Path        string            `json:"path"`         // below the base: "/models/{model}/v1/completions"
	Stream      string            `json:"stream_path"`  // replaces Path when the caller requests a stream
	Method      string            `json:"method"`       // empty: the caller's method
	Base        string            `json:"base"`         // a name of Spec.Bases; empty: Spec.BaseURL
	Dialect     Dialect           `json:"dialect"`      // empty in the file: the spec's
	Query       map[string]string `json:"query"`        // like Spec.Query, for this endpoint
	StreamQuery map[string]string `json:"stream_query"` // added to the query when the caller requests a stream: "alt": "sse"
	Strip       string            `json:"strip"`        // removed once from the beginning of {rest}: "/v1"
	Params      Params            `json:"params"`
	Response    ResponseRules     `json:"reply"`
	Error       string            `json:"error"`   // empty in the file: that of the spec
	Service     string            `json:"service"` // SigV4 service name of this endpoint, replaces that of Auth: "s3"
	// OwnQuery withholds the caller's query from the provider. It is for routes of another
	// vendor's models, whose parameters ("beta=true") the host refuses.
	OwnQuery bool `json:"own_query"`
	// Without lists fields that are not sent as headers here, because this endpoint refuses
	// values that the others accept.
	Without []string `json:"without"`
	Follow  *Follow  `json:"follow"`

	route *route // compiled
	auth  *Auth  // with Service, if set
}

// Params are the changes to a request body. Fields that are not named are forwarded.
type Params struct {
	Drop    []string                              `json:"drop"`    // fields that the provider always refuses
	Rename  map[string]string                     `json:"rename"`  // our names to theirs; when both are present, theirs remains and ours is dropped
	Default map[string]json.RawMessage            `json:"default"` // sent when the field is absent
	Values  map[string]map[string]json.RawMessage `json:"values"`  // field, string value of the caller: value sent instead
	// ReasoningField is the field of an assistant message that returns its reasoning to the
	// provider: "content" (a list of reasoning and text parts), "reasoning_content", or
	// "reasoning_details" (OpenRouter's list with signatures). Empty means none.
	ReasoningField string `json:"thoughts"`
	// ThinkingSwitch states that {"thinking":{"type":"disabled"}} turns reasoning off, while
	// reasoning_effort "none" does not.
	ThinkingSwitch bool `json:"thinking_switch"`
	// CallIDs is the required number of letters and digits in the id of a tool call, at most 32.
	// 0 permits any id.
	CallIDs int `json:"call_ids"`
	// DocumentURLs states that files of chat completions, {"type":"file","file":{…}}, are sent
	// as {"type":"document_url","document_url":"…"}.
	DocumentURLs bool `json:"document_urls"`
	// CustomTools states that tools may accept free text, {"type":"custom",…}. Otherwise such
	// tools are sent as functions with one argument.
	CustomTools bool `json:"custom_tools"`
	// InlineMedia states that media with a URL in messages of Anthropic's format are sent with
	// their bytes, because the provider does not fetch URLs.
	InlineMedia bool `json:"inline_media"`
	// Threads states that the provider stores conversations between turns. Messages with a
	// thread then contain only the last turn.
	Threads bool `json:"threads"`
}

// ResponseRules are the changes to a response and the locations of its fields.
type ResponseRules struct {
	FinishReasons map[string]string `json:"finish_reasons"` // theirs to OpenAI's: "eos": "stop"
	UsagePath     string            `json:"usage_path"`     // field of the usage in addition to "usage": "x_groq.usage"
	Extras        []string          `json:"extras"`         // fields of a chat response that callers with strict OpenAI compliance do not get: "citations"
	ContentLists  bool              `json:"content_lists"`  // the content of a response may be a list of reasoning and text parts
	Rename        map[string]string `json:"rename"`         // paths to their new names, the deepest first: "images[*].image": "b64_json", "images": "data"
}

// Follow combines two calls into one endpoint: the response of the first names a file that the
// second fetches.
type Follow struct {
	Fields   []string     `json:"fields"`   // the first non-empty field gives the id: "output_file_id"
	Endpoint llm.Endpoint `json:"endpoint"` // "retrieveFileContent"
	Else     string       `json:"else"`     // field returned with status 200 when no field is set: "errors"
}

// Stream describes the event streams of a provider.
type Stream struct {
	Framing  string `json:"framing"`   // sse, sse-crlf, sse-lf, json-array, ndjson, aws-eventstream, text, none
	NoDone   bool   `json:"no_done"`   // the stream ends without [DONE]
	AskUsage bool   `json:"ask_usage"` // stream_options.include_usage is accepted
}

// Variant replaces parts of a spec when all its conditions hold.
type Variant struct {
	When      []Cond                     `json:"when"`
	Dialect   Dialect                    `json:"dialect"`
	BaseURL   string                     `json:"base_url"`
	Bases     map[string]string          `json:"bases"`
	Auth      *Auth                      `json:"auth"`
	Model     *ModelRule                 `json:"model"`
	Query     map[string]string          `json:"query"`     // replaces the complete query
	Endpoints map[llm.Endpoint]*Endpoint `json:"endpoints"` // added to or replacing the spec's endpoints
	// ModelFrom names a placeholder whose value replaces the model of the body, if the body has
	// one: "deployment".
	ModelFrom string `json:"model_from"`
}

// Cond is a condition on a credential field, or on "model" or "path" of the call. Exactly one
// test is set.
type Cond struct {
	Field    string   `json:"field"`
	Is       []string `json:"is"` // the value is one of these; "" matches an absent value
	Contains string   `json:"contains"`
	Prefix   []string `json:"prefix"` // the value begins with one of these
	Set      *bool    `json:"set"`
}

// Field is one credential field.
type Field struct {
	Name     string   `json:"name"`     // "azure_resource_name"; "key" is the main secret
	Aliases  []string `json:"aliases"`  // further names in configs and stored credentials
	Headers  []string `json:"headers"`  // request headers, lower case; absent: x-gateway- followed by the name with dashes
	Upstream string   `json:"upstream"` // upstream header of the field; empty: not sent as a header
	// Flags translates the flags of a list, "a,b". The key is the beginning of a flag, the value
	// its name at the provider, or "" for a flag that the provider refuses. Other flags are
	// unchanged.
	Flags      map[string]string `json:"flags"`
	Default    string            `json:"default"`     // value when none is given
	Values     []string          `json:"values"`      // permitted values; empty: any
	Class      string            `json:"class"`       // permitted form of the value, see classes
	Required   bool              `json:"required"`    // unless it has a default; a custom host does not need a key
	RequiredIf []Cond            `json:"required_if"` // required when all conditions are true
	Secret     bool              `json:"secret"`      // sealed at rest, masked in responses
	Deployment bool              `json:"deployment"`  // set by the deployment, never by a caller
}

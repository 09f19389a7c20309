package provider

import (
	"encoding/json"

	"sluice/internal/llm"
)

// Dialect is the wire shape an endpoint speaks, for example "openai".
type Dialect string

// The dialects that have a meaning of their own here. Any other name, such as
// "anthropic", is a shape that calls may have to be translated into.
const (
	OpenAI  Dialect = "openai" // OpenAI's shape, with the small changes of Params and Reply
	Through Dialect = "proxy"  // no typed endpoint: only pass-through
)

// Spec is one provider as its file in specs describes it. It is read-only and
// safe for concurrent use once Load has returned it.
type Spec struct {
	ID      string   `json:"id"`      // value of x-gateway-provider: "groq"
	Name    string   `json:"name"`    // "Groq"
	Aliases []string `json:"aliases"` // further accepted ids: "together" for "together-ai"
	Source  string   `json:"source"`  // where the facts were taken from, with a date
	Docs    string   `json:"docs"`    // the provider's own description of its API; may be empty
	Notes   []string `json:"notes"`   // what a maintainer should know

	Pricing string `json:"pricing"` // "free": calls cost nothing unless a price list says otherwise; empty: as the lists say
	// Platform is the platform whose rules of use and billing the provider shares: "openai" for
	// OpenAI and Azure, whose models read text by the built-in vocabularies, whose projects may
	// be set to the priority tier and whose conversations only store messages. Empty for others.
	Platform string `json:"platform"`

	Dialect Dialect           `json:"dialect"`
	BaseURL string            `json:"base_url"` // "https://{workspace}.example.com/v1"; a custom host replaces it
	Bases   map[string]string `json:"bases"`    // further bases, chosen by Endpoint.Base
	Auth    Auth              `json:"auth"`
	Fields  []Field           `json:"credential"`
	// Derived are placeholders that are made of credential fields, by their names: "project".
	Derived map[string]*Derived `json:"derived"`
	Headers map[string]string   `json:"headers"` // sent unless the client's own were forwarded
	Query   map[string]string   `json:"query"`   // added to every call unless the caller's query has the name
	Model   ModelRule           `json:"model"`

	Endpoints map[llm.Endpoint]*Endpoint `json:"endpoints"`
	Variants  []Variant                  `json:"variants"` // the first that fits the call replaces what it states

	Error         string `json:"error"`          // id of an error shape: "openai", "flat", "detail_list", …
	Stream        Stream `json:"stream"`         // how event streams are framed
	OmitProvider  bool   `json:"omit_provider"`  // unified answers carry no top-level "provider"
	KeepDeveloper bool   `json:"keep_developer"` // role "developer" is forwarded, not rewritten to "system"

	// EmbeddedHost is a host suffix, for example ".openai.azure.com". A
	// pass-through path whose first segment is a host under it goes to that host.
	EmbeddedHost string `json:"embedded_host"`

	shapes []shape        // one per variant, then the spec itself
	fields map[string]int // name and aliases to index of Fields
	paths  bool           // some address takes the model
	must   []int          // fields that may be required and that no address asks for
	up     []int          // fields that are sent as a header
}

// Auth says how a call is authorised. The zero Scheme is not valid; a call
// without credentials has scheme "none".
type Auth struct {
	Scheme  string `json:"scheme"`  // header, query, none, aws, azure, gcp, oci
	Header  string `json:"header"`  // lower case: "authorization"
	Format  string `json:"format"`  // of the header's value: "Bearer {key}"
	Query   string `json:"query"`   // name of the parameter for scheme query: "key"
	Service string `json:"service"` // name that SigV4 signs for: "sagemaker"
	Scope   string `json:"scope"`   // default scope of an Azure token
	Token   *Token `json:"token"`   // keys of another form, for scheme header; nil: none
}

// Token says how a key that begins with a certain prefix is sent instead: access tokens of
// OAuth, for example {"prefix":"sk-ant-oat","header":"authorization","format":"Bearer
// {key}","flag_header":"anthropic-beta","flag":"oauth-2025-04-20"}.
type Token struct {
	Prefix     string `json:"prefix"`      // of the key: "sk-ant-oat"
	Header     string `json:"header"`      // in place of Auth's, lower case: "authorization"
	Format     string `json:"format"`      // "Bearer {key}"
	FlagHeader string `json:"flag_header"` // a header with a comma-separated list, lower case: "anthropic-beta"
	Flag       string `json:"flag"`        // is added to that list: "oauth-2025-04-20"
}

// ModelRule changes the model's name on its way out.
type ModelRule struct {
	StripPrefix string `json:"strip_prefix"` // "mistralai."
	// Publisher makes a slash of the first dot, which stands behind the publisher:
	// "meta.llama-3.3" becomes "meta/llama-3.3".
	Publisher bool `json:"publisher"`
	// Split cuts the name at the first occurrence: what stands before goes into
	// {model} of the path, what stands behind into the body.
	Split string `json:"split"`
}

// Endpoint is how a provider serves one endpoint. In a spec file it is a path,
// optionally behind a method ("DELETE /jobs/{id}"), or an object with "path".
type Endpoint struct {
	Path        string            `json:"path"`         // below the base: "/models/{model}/v1/completions"
	Stream      string            `json:"stream_path"`  // in place of Path when the caller wants a stream
	Method      string            `json:"method"`       // empty: the caller's
	Base        string            `json:"base"`         // a name of Spec.Bases; empty: Spec.BaseURL
	Dialect     Dialect           `json:"dialect"`      // empty in the file: the spec's
	Query       map[string]string `json:"query"`        // as Spec.Query, for this endpoint
	StreamQuery map[string]string `json:"stream_query"` // added to the query when the caller wants a stream: "alt": "sse"
	Strip       string            `json:"strip"`        // removed once from the front of {rest}: "/v1"
	Params      Params            `json:"params"`
	Response    ResponseRules     `json:"reply"`
	Error       string            `json:"error"`   // empty in the file: the spec's
	Service     string            `json:"service"` // that SigV4 signs for here, in place of Auth's: "s3"
	// OwnQuery keeps the caller's query from the provider: the route is that of another
	// vendor's models, who knows parameters that the host refuses ("beta=true").
	OwnQuery bool `json:"own_query"`
	// Without names fields that are not sent here as headers, because this endpoint refuses
	// what the others take.
	Without []string `json:"without"`
	Follow  *Follow  `json:"follow"`

	route *route // compiled
	auth  *Auth  // with Service, when there is one
}

// Params are the changes to a request body. What is not named is forwarded.
type Params struct {
	Drop    []string                              `json:"drop"`    // refused upstream for certain
	Rename  map[string]string                     `json:"rename"`  // ours to theirs; when both are present theirs stays and ours goes
	Default map[string]json.RawMessage            `json:"default"` // sent when absent
	Values  map[string]map[string]json.RawMessage `json:"values"`  // field, string value as sent: what is sent instead
	// ReasoningField is where a message of an assistant takes its thoughts back: "content", a list
	// of thoughts and texts, "reasoning_content", or "reasoning_details", OpenRouter's list
	// with signatures; empty: nowhere.
	ReasoningField string `json:"thoughts"`
	// ThinkingSwitch says that {"thinking":{"type":"disabled"}} turns thinking off, which
	// reasoning_effort "none" does not.
	ThinkingSwitch bool `json:"thinking_switch"`
	// CallIDs is how many letters and digits the id of a tool call must have, at most 32; 0
	// when it may be anything.
	CallIDs int `json:"call_ids"`
	// DocumentURLs says that files of chat completions, {"type":"file","file":{…}}, are sent as
	// {"type":"document_url","document_url":"…"}.
	DocumentURLs bool `json:"document_urls"`
	// CustomTools says that tools may take free text, {"type":"custom",…}; where they may not
	// they are sent as functions with one argument.
	CustomTools bool `json:"custom_tools"`
	// InlineMedia says that media which messages of Anthropic's shape name by URL are sent with
	// their bytes, because the provider fetches none.
	InlineMedia bool `json:"inline_media"`
	// Threads says that the provider keeps conversations between turns, of which messages with
	// a thread hold the last turn alone.
	Threads bool `json:"threads"`
}

// ResponseRules are the changes to an answer and the places where things stand in it.
type ResponseRules struct {
	FinishReasons map[string]string `json:"finish_reasons"` // theirs to OpenAI's: "eos": "stop"
	UsagePath     string            `json:"usage_path"`     // where usage stands besides "usage": "x_groq.usage"
	Extras        []string          `json:"extras"`         // fields of a chat that callers who want OpenAI's alone do not get: "citations"
	ContentLists  bool              `json:"content_lists"`  // the content of an answer may be a list of thoughts and texts
	Rename        map[string]string `json:"rename"`         // paths to their new names, the deepest first: "images[*].image": "b64_json", "images": "data"
}

// Follow makes an endpoint of two calls: the answer of the first names a file
// that the second fetches.
type Follow struct {
	Fields   []string     `json:"fields"`   // the first that is not empty gives the id: "output_file_id"
	Endpoint llm.Endpoint `json:"endpoint"` // "retrieveFileContent"
	Else     string       `json:"else"`     // answered with 200 when no field is set: "errors"
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
	Query     map[string]string          `json:"query"`     // replaces as a whole
	Endpoints map[llm.Endpoint]*Endpoint `json:"endpoints"` // added to or in place of the spec's
	// ModelFrom names a placeholder whose value is the model of the body, if the
	// body has one: "deployment".
	ModelFrom string `json:"model_from"`
}

// Cond is a condition on a credential field, or on "model" or "path" of the call.
// Exactly one test is stated.
type Cond struct {
	Field    string   `json:"field"`
	Is       []string `json:"is"` // one of these; "" stands for absent
	Contains string   `json:"contains"`
	Prefix   []string `json:"prefix"` // it begins with one of these
	Set      *bool    `json:"set"`
}

// Field is one credential field.
type Field struct {
	Name     string   `json:"name"`     // "azure_resource_name"; "key" is the main secret
	Aliases  []string `json:"aliases"`  // further names in configs and stored credentials
	Headers  []string `json:"headers"`  // request headers, lower case; absent: x-gateway- and the name with dashes
	Upstream string   `json:"upstream"` // header it is sent as; empty: not sent as a header
	// Flags are what the provider makes of a list of flags, "a,b": by the beginning of a flag,
	// what it is called there, or nothing where it is refused. Others stay.
	Flags      map[string]string `json:"flags"`
	Default    string            `json:"default"`     // when not given
	Values     []string          `json:"values"`      // the only values allowed; empty: any
	Class      string            `json:"class"`       // what the value may look like, see classes
	Required   bool              `json:"required"`    // unless it has a default; a key is waived for a custom host
	RequiredIf []Cond            `json:"required_if"` // required when all hold
	Secret     bool              `json:"secret"`      // sealed at rest, masked in answers
	Deployment bool              `json:"deployment"`  // set by the deployment, never by a caller
}

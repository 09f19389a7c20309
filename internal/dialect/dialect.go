// Package dialect handles the wire shapes that clients and providers use. It checks requests,
// edits them for a target, reads usage from responses and translates errors. When both sides
// use the same shape, the bytes are relayed unchanged except for small edits.
//
// Each shape is a sub-package. Start with Dialect below; package registry lists the shapes.
package dialect

import (
	"encoding/json"
	"slices"

	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
)

// Dialect is one wire shape, seen from the side that sends requests in it. Its functions are
// pure and safe for concurrent use.
type Dialect struct {
	// Name is the name of the shape in provider specs, for example "openai".
	Name string

	// Check rejects a JSON request that no provider could accept after shaping for its target.
	// The error is fault.InvalidParameter with Param, for example "model". Check does not
	// reject what a provider would report itself.
	Check func(ep llm.Endpoint, d *jsonedit.Doc, s Shaping) error

	// CheckForm is Check for multipart requests.
	CheckForm func(ep llm.Endpoint, f *multipartedit.Form, s Shaping) error

	// Shape converts the shaping that a target requires into edits of the request.
	Shape func(ep llm.Endpoint, d *jsonedit.Doc, s Shaping) Shaped

	// ShapeForm is Shape for multipart requests.
	ShapeForm func(ep llm.Endpoint, f *multipartedit.Form, s Shaping) []multipartedit.Edit

	// Clients are the client sides of this shape, by the endpoint of the route. Upstreams are
	// the provider sides, by the endpoint of the provider's spec. A call in which both sides
	// use the same shape and endpoint is not translated.
	Clients   map[llm.Endpoint]Client
	Upstreams map[llm.Endpoint]Upstream

	// Profiles resolves model names that do not identify the model. It is nil if all names do.
	Profiles Profiles

	// Unified are the endpoints that clients can call only in OpenAI's shape.
	Unified map[llm.Endpoint]OpenAIEndpoint
}

// Param is a body field and its raw JSON value, for example temperature and 0.2.
type Param struct {
	Key string
	Raw json.RawMessage
}

// Shaping is the list of changes that a target requires in a request body. The fields are in
// the order of their application: defaults fill gaps, overrides replace, drops remove, the
// model is set, and the provider's rules follow.
// Source: contract/dataplane.md 3.1.
type Shaping struct {
	Default  []Param
	Override []Param
	Drop     []string // paths, see jsonedit.DropAll
	Model    string   // model name at the provider; empty leaves the body's model unchanged
	Rules    *RequestRules
	NoUsage  bool // the host rejects requests for stream usage, so none is added
}

// Sets reports whether the shaping sets a field that the caller may have omitted: a default
// or an override that is not null, or the model.
func (s *Shaping) Sets(key string) bool {
	if key == "model" && s.Model != "" {
		return true
	}
	for _, list := range [...][]Param{s.Override, s.Default} {
		for _, p := range list {
			if p.Key == key && string(p.Raw) != "null" {
				return true
			}
		}
	}
	return false
}

// RequestRules describes how a provider's requests differ from the shape, as its spec states
// for one endpoint. The zero value changes nothing. It is shared and immutable.
// Source: contract/providers.yaml, renamed, dropped, changes.
type RequestRules struct {
	Default     []Param
	Rename      []fields.Rename
	Drop        []string
	Swap        []Swap
	ModelPrefix string // removed from the model name, for example "mistralai."
	SystemRole  bool   // role developer is sent as system
	StreamUsage bool   // the provider supports stream_options.include_usage
	// ReasoningField is where an assistant message returns its reasoning to the provider:
	// ReasoningInContent, ReasoningInSeparateField or ReasoningInDetails. Empty means that
	// the provider does not accept reasoning.
	ReasoningField string
	// ThinkingSwitch means that {"thinking":{"type":"disabled"}} disables reasoning, while
	// reasoning_effort "none" does not.
	ThinkingSwitch bool
	// CallIDs is the exact number of letters and digits in the id of a tool call, at most 32.
	// Zero allows any id.
	CallIDs int
	// media.DocumentURLs sends the files of chat completions as documents with a URL.
	DocumentURLs bool
	// CustomTools means that tools may accept free text. Otherwise they are sent as functions.
	CustomTools bool
	// Threads means that the provider stores the earlier turns of messages with a thread.
	Threads bool
	// Inline means that the provider does not fetch URLs in messages of Anthropic's shape.
	Inline bool
}

// Fields for reasoning in assistant messages.
const (
	ReasoningInContent       = "content"           // [{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Hi"}]
	ReasoningInSeparateField = "reasoning_content" // "hm", next to the content
	ReasoningInDetails       = "reasoning_details" // [{"type":"reasoning.text","text":"hm","signature":"…"}], next to the content
)

// Any reports whether the rules change a request that was built for the provider. Rules about
// stream usage do not count, because they only state what the provider supports.
func (r *RequestRules) Any() bool {
	return len(r.Default)+len(r.Rename)+len(r.Drop)+len(r.Swap) > 0 || r.ThinkingSwitch || r.CallIDs > 0 || r.DocumentURLs
}

// Rejects reports whether the provider rejects the field that a path of its spec selects, for
// example "user" or "messages[*].name".
func (r *RequestRules) Rejects(path string) bool { return r != nil && slices.Contains(r.Drop, path) }

// Swap replaces raw JSON values, for example {"tool_choice", {`"required"`: `"any"`}}.
type Swap struct {
	Path   string
	Values map[string]string
}

// Shaped is a request that is ready to be sent after Edits are applied.
type Shaped struct {
	Edits []jsonedit.Edit
	// Stream reports whether the edited request is for an event stream.
	Stream bool
	// AddedUsageRequest reports whether the edits request a usage event that the caller did not
	// request. That event must be hidden from the caller: StreamOptions.HideUsage.
	AddedUsageRequest bool
	// Unsupported are the paths of non-empty fields in the caller's body that the provider
	// rejects and therefore does not receive: "messages[2].annotations".
	Unsupported []string
}

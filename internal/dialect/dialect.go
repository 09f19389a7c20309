// Package dialect is about the wire shapes that callers and providers speak: what a
// request of a shape must hold, how a target wants it changed, what a reply says
// about its cost, and how errors are put. Where both sides speak one shape the bytes
// are relayed as they came; edits are splices, and metering only looks.
//
// The shapes themselves live in sub-packages; package all lists them.
package dialect

import (
	"encoding/json"
	"slices"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Dialect is one wire shape, seen from the side that sends requests in it. Its
// functions are pure and safe for concurrent use.
type Dialect struct {
	// Name is what provider specs call the shape, for example "openai".
	Name string

	// Check refuses a JSON request that, shaped for its target, could not be sent to
	// anybody: fault.InvalidParameter with Param, for example "model". It looks at
	// nothing that a provider would answer for itself.
	Check func(ep llm.Endpoint, d *splice.Doc, s Shaping) error

	// CheckForm is Check for multipart requests.
	CheckForm func(ep llm.Endpoint, f *splice.Form, s Shaping) error

	// Shape turns what a target asks for into edits of the request.
	Shape func(ep llm.Endpoint, d *splice.Doc, s Shaping) Shaped

	// ShapeForm is Shape for multipart requests.
	ShapeForm func(ep llm.Endpoint, f *splice.Form, s Shaping) []splice.FieldEdit

	// Clients are the conversations that callers have in this shape, by the endpoint of
	// the route; Upstreams those that providers have, by the endpoint of their spec. A
	// call that both speak in one shape, at the same endpoint, is not translated at all.
	Clients   map[llm.Endpoint]Client
	Upstreams map[llm.Endpoint]Upstream

	// Profiles are names of models that do not tell what they are; nil where all do.
	Profiles Profiles

	// Unified are the endpoints that callers know in OpenAI's shape alone.
	Unified map[llm.Endpoint]OpenAIEndpoint
}

// Param is a body field and its raw JSON value, for example temperature and 0.2.
type Param struct {
	Key string
	Raw json.RawMessage
}

// Shaping is what a target wants done to a request body, in the order of the fields:
// defaults fill gaps, overrides replace, drops remove, the model is set, and then the
// provider's own rules follow.
// Source: contract/dataplane.md 3.1.
type Shaping struct {
	Default  []Param
	Override []Param
	Drop     []string // paths, see splice.DropAll
	Model    string   // the name the provider knows; empty leaves the body's
	Rules    *RequestRules
	NoUsage  bool // the host refuses requests for the usage of a stream: none is added
}

// Sets reports whether the shaping gives the body a field that the caller may have
// left out: a default or an override that is not null, or the model.
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

// RequestRules is how a provider's requests differ from the shape, as its spec says
// for one endpoint. The zero value changes nothing. It is shared and never changed.
// Source: contract/providers.yaml, renamed, dropped, changes.
type RequestRules struct {
	Default     []Param
	Rename      []Rename
	Drop        []string
	Swap        []Swap
	ModelPrefix string // cut off the model's name, for example "mistralai."
	SystemRole  bool   // role developer is sent as system
	StreamUsage bool   // stream_options.include_usage is understood
	// ReasoningField is where a message of an assistant takes its thoughts back:
	// ReasoningInContent, ReasoningInSeparateField, ReasoningInDetails, or empty for nowhere.
	ReasoningField string
	// ThinkingSwitch says that {"thinking":{"type":"disabled"}} turns thinking off, which
	// reasoning_effort "none" does not.
	ThinkingSwitch bool
	// CallIDs is how many letters and digits the id of a tool call has, at most 32; 0 when it
	// may be anything.
	CallIDs int
	// DocumentURLs says that files of chat completions are sent as documents with a URL.
	DocumentURLs bool
	// CustomTools says that tools may take free text; elsewhere they are functions.
	CustomTools bool
	// Threads says that the provider keeps the earlier turns of messages with a thread.
	Threads bool
	// Inline says that the provider fetches nothing that a message of Anthropic's shape names by URL.
	Inline bool
}

// Places of thoughts in the messages of an assistant.
const (
	ReasoningInContent       = "content"           // [{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Hi"}]
	ReasoningInSeparateField = "reasoning_content" // "hm", beside the content
	ReasoningInDetails       = "reasoning_details" // [{"type":"reasoning.text","text":"hm","signature":"…"}], beside the content
)

// Any reports whether the rules change anything of a request that was made for the
// provider: those of a stream's usage do not count, for they say what it understands.
func (r *RequestRules) Any() bool {
	return len(r.Default)+len(r.Rename)+len(r.Drop)+len(r.Swap) > 0 || r.ThinkingSwitch || r.CallIDs > 0 || r.DocumentURLs
}

// Rejects reports whether the provider refuses what a path of its spec selects, for example "user"
// or "messages[*].name".
func (r *RequestRules) Rejects(path string) bool { return r != nil && slices.Contains(r.Drop, path) }

// Rename gives what a path selects another name, see splice.Rename.
type Rename struct{ Path, To string }

// Swap exchanges raw JSON values, for example {"tool_choice", {`"required"`: `"any"`}}.
type Swap struct {
	Path   string
	Values map[string]string
}

// Shaped is a request ready to be sent once Edits are applied.
type Shaped struct {
	Edits []splice.Edit
	// Stream says that the request, as edited, asks for an event stream.
	Stream bool
	// AddedUsageRequest says that the edits ask for a usage event that the caller did not ask
	// for, so that it must be hidden from the caller: StreamOptions.HideUsage.
	AddedUsageRequest bool
	// Unsupported are the places in the caller's body of what the provider does not get because it
	// refuses it, where they say something: "messages[2].annotations".
	Unsupported []string
}

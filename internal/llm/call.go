package llm

import (
	"encoding/json"
	"strings"
)

// Call is one request to go on with a conversation, in the words of no provider:
// what chat completions, messages and responses have in common, and under Params and
// Extra everything else, so that nothing is lost unsaid. A Call is built once by the
// codec of the surface that it came in and read by every dialect that it is put
// into; after that nobody changes it. Its slices point into the caller's body.
//
// A Tally keeps account of what a dialect could carry.
type Call struct {
	Surface  Endpoint // the shape it came in: ChatComplete, Messages or CreateModelResponse
	Model    string   // as the provider shall hear it: "gpt-4o"
	Messages []Message
	Tools    []Tool
	Choice   ToolChoice
	// Functions says that the caller of chat speaks of functions, as before there were tools:
	// it gets calls in this form.
	Functions bool
	Format    *Format // nil: not said
	Stream    bool
	Params    []Param
	// Unserved is what only a provider with the surface's own endpoint does, in the order in
	// which it stands there; nothing else in the Call tells of it. Who puts the call elsewhere
	// refuses it, or does without.
	Unserved []Unserved
	Bytes    int // of the caller's body: about what the call takes in other words
}

// Unserved is a piece of a request that a provider of another shape cannot take, and why:
// {"tools[1]", "web_search", "a tool that needs …"}.
type Unserved struct{ From, Type, Why string }

// Param is a field beside the conversation. Name is the word that OpenAI's chat has
// for it, or the caller's own where chat has none; see the names below. From is where
// it stands in the caller's body, for example "max_output_tokens" or
// "messages[2].content[0].image_url.detail". Null values are left out.
type Param struct {
	Name string
	From string
	Raw  json.RawMessage
}

// Names of parameters that surfaces spell differently. The value is OpenAI's form.
const (
	MaxTokens           = "max_tokens"            // 1024; messages: max_tokens, responses: max_output_tokens
	MaxCompletionTokens = "max_completion_tokens" // chat's newer word for the same; both may be there
	Stop                = "stop"                  // "x" or ["x","y"]; messages: stop_sequences
	User                = "user"                  // "u-1"; messages: metadata.user_id
	ReasoningEffort     = "reasoning_effort"      // "low"; messages: output_config.effort, responses: reasoning.effort
	Thinking            = "thinking"              // {"type":"enabled","budget_tokens":2048}, Anthropic's form; wins over ReasoningEffort
	ParallelToolCalls   = "parallel_tool_calls"   // false; messages: tool_choice.disable_parallel_tool_use
	Verbosity           = "verbosity"             // "low"; responses: text.verbosity
	StreamOptions       = "stream_options"        // {"include_usage":true}; chat only, answered by the gateway
)

// Role is who speaks.
type Role string

// The roles. A message of RoleTool holds parts of kind ResultPart and nothing else.
const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn, or the part of a turn that has one role. Instructions that
// stand outside the list of messages come first, with Index -1.
type Message struct {
	Role  Role
	Name  string // of the speaker; mostly empty
	Parts []Part
	Index int // in the caller's list
	Extra []Param
}

// Instructs reports whether messages of the role are instructions: of the system, or of the
// developer.
func (r Role) Instructs() bool { return r == RoleSystem || r == RoleDeveloper }

// PartKind says which fields of a Part have a meaning.
type PartKind uint8

// The kinds of parts.
const (
	TextPart      PartKind = iota // Text, Citations
	ImagePart                     // Media
	AudioPart                     // Media
	FilePart                      // Media: a document, or video
	RefusalPart                   // Text
	ReasoningPart                 // Text, Signature: what a model thought, maybe only its summary
	SealedPart                    // Text: thoughts that only the provider can read
	CallPart                      // Call, Signature
	ResultPart                    // Result
	OpaquePart                    // Raw: a block that means something to Shape alone
)

// Part is one piece of a message, in the order in which it was said.
type Part struct {
	Kind      PartKind
	Index     int    // in the caller's content; -1 when the content was a plain string; see Call.Path
	Text      string // unescaped
	Signature string // with which the provider knows its own thoughts or calls again
	// EmbeddedSignature is a signature that the gateway had put into the id of a call or behind a
	// text, where the caller's surface has no place for it. The provider that signed takes
	// it; to others nothing is lost without it.
	EmbeddedSignature string
	ID                string // of the item, on surfaces that have such: "rs_1"
	Media             *Media
	Call              *ToolCall
	Result            *ToolResult
	Cache             *Cache
	Citations         json.RawMessage // in the form of Shape
	Raw               json.RawMessage
	// Shape is the name of the dialect whose form Raw and Citations have, "anthropic", or in
	// which a thought was signed or sealed; empty when nobody knows.
	Shape string
	Extra []Param
}

// Media is an image, a recording or a document: in the call as Data, or named by URL
// or FileID.
type Media struct {
	MIME   string // "image/png"; may be empty with URL and FileID
	Data   string // base64, without the head of a data URL; of a text/plain document the text itself when Plain
	Plain  bool   // Data is text
	URL    string // "https://…", "gs://…", "s3://…"
	FileID string
	Name   string // "report.pdf"
	Format string // of audio, as the caller named it: "wav"
	Detail string // "low", "high", "auto"
}

// ToolCall is a call that the model asked for.
type ToolCall struct {
	ID        string // "call_1"
	Name      string // "get_weather"
	Arguments string // JSON text as the model wrote it: {"city":"Rome"}; may be empty or broken
	Custom    bool   // the tool takes free text: Arguments is no JSON
}

// ToolResult is what a call came to.
type ToolResult struct {
	ID    string // of the call
	Name  string // of the tool; looked up in the conversation when the surface has none
	Parts []Part // of kinds TextPart, ImagePart, FilePart
	Error bool   // the call failed
}

// Cache marks the end of what the provider shall keep of a prompt.
type Cache struct {
	TTL string // "5m", "1h"; empty: the provider's default
}

// Tool is something that the model may call. Type is "function" or the word of the
// surface for a tool that the provider itself runs, which stands whole in Raw.
type Tool struct {
	Type        string
	Name        string
	Description string
	Schema      json.RawMessage // of the arguments; nil: none given
	Strict      *bool
	Cache       *Cache
	Raw         json.RawMessage // as the caller wrote it
	Shape       string          // name of the dialect whose form Raw has
	Index       int             // in the caller's list
	Namespace   *Namespace      // that groups it, which its Name begins with; mostly nil
	Extra       []Param
}

// Namespace groups tools on the surface of responses, whose calls name it beside the tool.
type Namespace struct {
	Name string          // "crm"
	Raw  json.RawMessage // as the caller wrote it, its tools included
}

// Join is the name of one of its tools where there are no namespaces: "crm__find".
func (n *Namespace) Join(tool string) string {
	if strings.HasSuffix(n.Name, "__") {
		return n.Name + tool
	}
	return n.Name + "__" + tool
}

// Split is the tool of such a name.
func (n *Namespace) Split(name string) string { return name[len(n.Join("")):] }

// Tool is the tool of that name, nil when there is none.
func (c *Call) Tool(name string) *Tool {
	for i := range c.Tools {
		if c.Tools[i].Name == name {
			return &c.Tools[i]
		}
	}
	return nil
}

// TakesText reports whether the tool of that name takes free text.
func (c *Call) TakesText(name string) bool {
	t := c.Tool(name)
	return t != nil && t.Type == Custom
}

// The Types of tools that the caller runs. Those of Custom take free text.
const (
	Function = "function"
	Custom   = "custom"
)

// ToolChoice says whether the model shall call tools. Mode is empty when the caller
// did not say.
type ToolChoice struct {
	Mode string          // "auto", "none", "required", "tool" (the one of Name), "opaque"
	Name string          // "get_weather"
	Raw  json.RawMessage // for opaque: a form that only the surface's own shape has
	From string          // "tool_choice"
}

// Forces reports whether a tool must be called.
func (c *ToolChoice) Forces() bool { return c.Mode == "required" || c.Mode == "tool" }

// Format is the form that the answer shall have.
type Format struct {
	Type        string // "text", "json_object", "json_schema"
	Name        string
	Description string
	Schema      json.RawMessage
	Strict      *bool
	From        string // "response_format"
}

// Called lists the tools that were called so far, each once.
func (c *Call) Called() []string {
	var names []string
	seen := map[string]bool{}
	for i := range c.Messages {
		for k := range c.Messages[i].Parts {
			if call := c.Messages[i].Parts[k].Call; call != nil && !seen[call.Name] {
				seen[call.Name] = true
				names = append(names, call.Name)
			}
		}
	}
	return names
}

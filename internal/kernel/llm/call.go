package llm

import (
	"encoding/json"
	"strings"
)

// Call is one request to continue a conversation, in a form that belongs to no provider.
// Its fields are what chat completions, messages and responses have in common. Params and
// Extra contain everything else, so that no field is dropped without a report. The codec of
// the caller's surface builds a Call once, and each dialect that encodes it only reads it.
// A Call is not changed after it is built. Its slices point into the caller's body.
//
// A FieldTracker records which fields a dialect supports.
type Call struct {
	Surface  Endpoint // endpoint of the caller: ChatComplete, Messages or CreateModelResponse
	Model    string   // name that is sent to the provider: "gpt-4o"
	Messages []Message
	Tools    []Tool
	Choice   ToolChoice
	// Functions is set if the chat request uses functions, the predecessor of tools. The
	// response then contains calls in this form.
	Functions bool
	Format    *Format // nil if the request does not set one
	Stream    bool
	Params    []Param
	// Unserved lists what only a provider with the surface's own endpoint supports, in the
	// order of the request. No other field of the Call contains it. A dialect for another
	// endpoint rejects it or drops it.
	Unserved []Unserved
	Bytes    int // size of the caller's body: about the size of the call in another dialect
}

// Unserved is a part of a request that a provider of another shape does not support, and
// the reason: {"tools[1]", "web_search", "a tool that needs …"}.
type Unserved struct{ From, Type, Why string }

// Param is a field that is not part of the conversation. Name is the name in OpenAI's
// chat, or the caller's name if chat does not have the field; see the names below. From is
// the path in the caller's body, for example "max_output_tokens" or
// "messages[2].content[0].image_url.detail". Null values are omitted.
type Param struct {
	Name string
	From string
	Raw  json.RawMessage
}

// Names of parameters that surfaces spell differently. The value is OpenAI's form.
const (
	MaxTokens           = "max_tokens"            // 1024; messages: max_tokens, responses: max_output_tokens
	MaxCompletionTokens = "max_completion_tokens" // chat's newer name for MaxTokens; both may be set
	Stop                = "stop"                  // "x" or ["x","y"]; messages: stop_sequences
	User                = "user"                  // "u-1"; messages: metadata.user_id
	ReasoningEffort     = "reasoning_effort"      // "low"; messages: output_config.effort, responses: reasoning.effort
	Thinking            = "thinking"              // {"type":"enabled","budget_tokens":2048}, Anthropic's form; wins over ReasoningEffort
	ParallelToolCalls   = "parallel_tool_calls"   // false; messages: tool_choice.disable_parallel_tool_use
	Verbosity           = "verbosity"             // "low"; responses: text.verbosity
	StreamOptions       = "stream_options"        // {"include_usage":true}; chat only, served by the gateway
)

// Role is the author of a message.
type Role string

// The roles. A message of RoleTool contains only parts of kind ResultPart.
const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn, or the part of a turn that has one role. Instructions from
// outside the list of messages come first, with Index -1.
type Message struct {
	Role  Role
	Name  string // name of the author; usually empty
	Parts []Part
	Index int // in the caller's list
	Extra []Param
}

// Instructs reports whether messages of the role are instructions: RoleSystem and
// RoleDeveloper.
func (r Role) Instructs() bool { return r == RoleSystem || r == RoleDeveloper }

// PartKind determines which fields of a Part are meaningful.
type PartKind uint8

// The kinds of parts.
const (
	TextPart      PartKind = iota // Text, Citations
	ImagePart                     // Media
	AudioPart                     // Media
	FilePart                      // Media: a document, or video
	RefusalPart                   // Text
	ReasoningPart                 // Text, Signature: reasoning of a model, or only its summary
	SealedPart                    // Text: reasoning that only the provider can read
	CallPart                      // Call, Signature
	ResultPart                    // Result
	OpaquePart                    // Raw: a block that only the dialect named by Shape understands
)

// Part is one part of a message. Parts are in the order of the message.
type Part struct {
	Kind      PartKind
	Index     int    // in the caller's content; -1 when the content was a plain string; see Call.Path
	Text      string // unescaped
	Signature string // signature by which the provider verifies its own reasoning or calls
	// EmbeddedSignature is a signature that the gateway put into the id of a call or after a
	// text, because the caller's surface does not have a field for it. Only the provider that
	// signed needs it; other providers lose nothing without it.
	EmbeddedSignature string
	ID                string // id of the item, on surfaces that have item ids: "rs_1"
	Media             *Media
	Call              *ToolCall
	Result            *ToolResult
	Cache             *Cache
	Citations         json.RawMessage // in the form of Shape
	Raw               json.RawMessage
	// Shape is the name of the dialect of Raw and Citations, or of the dialect that signed or
	// sealed the reasoning: "anthropic". It is empty if the dialect is unknown.
	Shape string
	Extra []Param
}

// Media is an image, a recording or a document. The call contains it as Data, or refers
// to it by URL or FileID.
type Media struct {
	MIME   string // "image/png"; may be empty with URL and FileID
	Data   string // base64 without the data URL prefix; the text of a text/plain document if Plain
	Plain  bool   // Data is text, not base64
	URL    string // "https://…", "gs://…", "s3://…"
	FileID string
	Name   string // "report.pdf"
	Format string // audio format as the caller named it: "wav"
	Detail string // "low", "high", "auto"
}

// ToolCall is a call that the model requested.
type ToolCall struct {
	ID        string // "call_1"
	Name      string // "get_weather"
	Arguments string // JSON string as the model wrote it: {"city":"Rome"}; may be empty or invalid
	Custom    bool   // the tool takes free text: Arguments is not JSON
}

// ToolResult is the result of a tool call.
type ToolResult struct {
	ID    string // id of the call
	Name  string // name of the tool; found in the conversation if the surface does not send it
	Parts []Part // of kinds TextPart, ImagePart, FilePart
	Error bool   // the call failed
}

// Cache marks the end of the part of a prompt that the provider caches.
type Cache struct {
	TTL string // "5m", "1h"; empty means the provider's default
}

// Tool is a tool that the model may call. Type is "function", "custom", or the surface's
// name of a tool that the provider runs. Raw contains such a tool completely.
type Tool struct {
	Type        string
	Name        string
	Description string
	Schema      json.RawMessage // schema of the arguments; nil if not set
	Strict      *bool
	Cache       *Cache
	Raw         json.RawMessage // as the caller wrote it
	Shape       string          // name of the dialect of Raw
	Index       int             // in the caller's list
	Namespace   *Namespace      // group of the tool, whose name is a prefix of Name; usually nil
	Extra       []Param
}

// Namespace groups tools on the responses surface. Calls there name the namespace and the
// tool.
type Namespace struct {
	Name string          // "crm"
	Raw  json.RawMessage // as the caller wrote it, including its tools
}

// Join returns the name of a tool of n on surfaces without namespaces: "crm__find".
func (n *Namespace) Join(tool string) string {
	if strings.HasSuffix(n.Name, "__") {
		return n.Name + tool
	}
	return n.Name + "__" + tool
}

// Split returns the tool in a name that Join built.
func (n *Namespace) Split(name string) string { return name[len(n.Join("")):] }

// Tool returns the tool with that name, or nil if there is none.
func (c *Call) Tool(name string) *Tool {
	for i := range c.Tools {
		if c.Tools[i].Name == name {
			return &c.Tools[i]
		}
	}
	return nil
}

// TakesText reports whether the tool with that name takes free text.
func (c *Call) TakesText(name string) bool {
	t := c.Tool(name)
	return t != nil && t.Type == Custom
}

// The Types of tools that the caller runs. Tools of type Custom take free text.
const (
	Function = "function"
	Custom   = "custom"
)

// ToolChoice states whether the model must, may or must not call tools. Mode is empty if
// the caller did not set it.
type ToolChoice struct {
	Mode string          // "auto", "none", "required", "tool" (the tool in Name), "opaque"
	Name string          // "get_weather"
	Raw  json.RawMessage // for opaque: a form that only the surface's own dialect has
	From string          // "tool_choice"
}

// Forces reports whether the model must call a tool.
func (c *ToolChoice) Forces() bool { return c.Mode == "required" || c.Mode == "tool" }

// Format is the requested format of the response.
type Format struct {
	Type        string // "text", "json_object", "json_schema"
	Name        string
	Description string
	Schema      json.RawMessage
	Strict      *bool
	From        string // "response_format"
}

// Called lists the tools that the conversation called so far, each once.
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

package dialect

import (
	"context"
	"io"

	"sluice/internal/dialect/media"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/wire"
)

// Client is the caller-facing side of a dialect. It decodes callers' requests and encodes our
// responses. Its methods are safe for concurrent use.
type Client interface {
	// DecodeCall reads a request. Content that no target can support is fault.InvalidParameter
	// with Param, for example "messages[2].role". Examples are unknown roles, tool results
	// without calls and data URLs that are not base64. The Call points into body.
	DecodeCall(body []byte) (*llm.Call, error)

	// EncodeResponse appends the complete response to dst.
	EncodeResponse(dst []byte, r *llm.Response, a *ResponseContext) []byte

	// NewEncoder returns the encoder of one stream. Only one goroutine may use it.
	NewEncoder(a *ResponseContext) EventEncoder
}

// EventEncoder writes the events of one stream as server-sent events, including the blank lines
// that separate them.
type EventEncoder interface {
	// Append appends the wire format of e to dst. Often it appends nothing. It retains nothing of
	// e. The last event of a stream is EventEnd or upstreamerror.ReadEvent.
	Append(dst []byte, e *llm.Event) []byte
}

// ResponseContext contains what a response repeats from its call, and how the response was
// obtained.
type ResponseContext struct {
	Call     *llm.Call
	ID       string // 26 characters, unique; used with the codec's prefix if the provider sent no id
	Created  int64  // epoch seconds; used if the provider sent none
	Provider string // "anthropic"; empty: omitted from the response
	Strict   bool   // write only fields of the dialect itself; otherwise also the provider's extra fields
	Store    bool   // responses: the gateway stores the response
	Previous string // responses: the caller's previous_response_id
}

// Upstream is the provider-facing side of a dialect. It encodes our calls and decodes providers'
// responses. Its methods are safe for concurrent use.
type Upstream interface {
	// EncodeCall builds the provider's request. Outgoing.Dropped lists the content that the
	// provider does not support. If the request makes no sense without that content, the error is
	// fault.InvalidParameter. Its Param uses the names of the caller's surface (llm.Call.Path).
	// EncodeCall does not override the provider's defaults and does not clamp values silently.
	EncodeCall(ctx context.Context, c *llm.Call, to *Target) (*Outgoing, error)

	// DecodeResponse reads a complete success response. A body that does not match the dialect is
	// fault.UpstreamInvalid.
	DecodeResponse(incoming *Incoming) (*llm.Response, error)

	// NewDecoder returns the decoder of one stream. Only one goroutine may use it.
	NewDecoder(incoming *Incoming) EventDecoder
}

// EventDecoder reads a provider's stream as it arrives, in chunks of any size.
type EventDecoder interface {
	// Feed reads one chunk and calls emit for each event in it, in order. Invalid data is
	// fault.UpstreamInvalid. An error that the provider reports in the stream is an upstreamerror.ReadEvent.
	Feed(p []byte, emit func(*llm.Event)) error

	// Close reports that the provider closed the connection. A decoder emits EventEnd here if the
	// provider does not mark the end of a stream in another way. If neither EventEnd nor
	// upstreamerror.ReadEvent was emitted after Close, the stream was cut off.
	Close(emit func(*llm.Event)) error
}

// OpenAIEndpoint is an endpoint that callers use only in OpenAI's format, such as embeddings,
// images, rerank, files and batches. It translates the caller's request to the provider's and the
// provider's response to OpenAI's. Its methods are safe for concurrent use.
type OpenAIEndpoint interface {
	// EncodeRequest builds the provider's request. Errors are those of Upstream.EncodeCall.
	EncodeRequest(ctx context.Context, r *Request, to *Target) (*Outgoing, error)
	// TranslateResponse builds the caller's response from a success response. Errors are those of
	// Upstream.DecodeResponse.
	TranslateResponse(incoming *Incoming) (*Response, error)
}

// MultiStep is an OpenAIEndpoint whose response needs several provider requests. An example is a
// batch whose output is in files that its job names.
type MultiStep interface {
	OpenAIEndpoint
	// Follow examines the responses so far, Incoming.Body and then More, and returns the next
	// request to send. It is called until ok is false; then TranslateResponse is called. An error
	// becomes the response, for example fault.Conflict for a batch that is still running.
	Follow(incoming *Incoming) (next Next, ok bool, err error)
}

// Next describes a further request. It names one of the provider's own endpoints and the id for
// its path, or a URL from a provider response. The gateway fetches such a URL without credentials
// and with the address checks of every upstream.
type Next struct {
	Endpoint llm.Endpoint
	ID       string // unescaped
	URL      string // "https://storage.googleapis.com/…?X-Goog-Signature=…"
	Method   string // empty: GET
	Path     string // escaped; replaces the path of the endpoint; see Outgoing.Path
	Query    string // raw; added to the query of the provider's spec
	Header   wire.Header
	Body     wire.Payload
	// File marks the last step: a file that may be too large for the memory of one call. The
	// reader that File returns is the caller's response, and TranslateResponse is not called.
	// Errors of that reader are those of TranslateResponse and end the response.
	File        func(src io.Reader) io.Reader
	Further     []string // URLs of further files; File reads them after the first as one stream
	ContentType string   // of the reader that File returns: "application/jsonl"
}

// FileStreamer is an OpenAIEndpoint with responses that are files. The gateway relays such files
// to the caller unchanged as they arrive, whatever their size.
type FileStreamer interface {
	OpenAIEndpoint
	// FileType returns the content type of such a file, for use when the provider sends none. If
	// ok is false, the response must be decoded instead.
	FileType(ep llm.Endpoint) (contentType string, ok bool)
}

// Profiles resolves model names that do not reveal the model, for example the ARN of an inference
// profile. The provider is queried for the model. Its methods are safe for concurrent use.
type Profiles interface {
	// Lookup returns the request that resolves a name. If ok is false, the name already reveals
	// the model or cannot be resolved.
	Lookup(model string) (next Next, ok bool)
	// Underlying returns the model in the provider's response, or "" if there is none.
	Underlying(response []byte) string
}

// Streamer is an OpenAIEndpoint whose success responses may be streams. Responses to requests
// with Target.Stream are streams, unless the provider's spec states that it does not stream.
type Streamer interface {
	OpenAIEndpoint
	// NewStream returns the transcoder of one provider stream. The caller's stream consists of
	// server-sent events of the endpoint with their end marker, for example data: [DONE]. Only
	// one goroutine may use the transcoder.
	NewStream(incoming *Incoming) StreamTranscoder
}

// StreamTranscoder translates a provider's stream to the caller's as it arrives, in chunks of any
// size.
type StreamTranscoder interface {
	// Append translates p, the provider's next bytes, and appends the result to dst. Often it
	// appends nothing. Invalid data is fault.UpstreamInvalid. An error that the provider reports
	// in the stream is appended in the caller's format and ends the stream.
	Append(dst, p []byte) ([]byte, error)

	// Close reports that the provider closed the connection. It does not add an end marker if the
	// provider did not send an end.
	Close(dst []byte) ([]byte, error)
}

// Request is a caller's request to an OpenAIEndpoint.
type Request struct {
	Endpoint    llm.Endpoint
	Body        []byte              // JSON with the changes of the target's config applied; nil if there is no JSON body
	Payload     wire.Payload        // body of any other type, for example a form
	Form        *multipartedit.Form // the parsed Payload; nil if it is not a form
	ContentType string
	ID          string // id in the route, unescaped: "batch_1"
	Query       string // raw
	// Call is the conversation whose tokens are counted (messagesCountTokens). It is nil on every
	// other endpoint.
	Call *llm.Call
	// NewSpool returns a spool for a body that may be large, such as the translated lines of a
	// file. The creator of the request closes the spool at the end of the call.
	NewSpool func() *wire.Spool
	// Lines translates files whose lines are calls, such as the input of a batch. It is nil on
	// endpoints without such files.
	Lines *FileLines
}

// FileLines translates the lines of files. A dialect does not import other dialects, so it
// receives those that appear in files here.
type FileLines struct {
	Client   Client   // chat completions: decodes the calls in the lines and encodes their responses
	Messages Upstream // Anthropic's messages, the format of Claude on cloud providers too
}

// Response is the response to the caller.
type Response struct {
	Body        []byte
	ContentType string // empty: application/json
	Usage       llm.Usage
	Model       string
}

// Target is the destination of a call.
type Target struct {
	Endpoint llm.Endpoint // endpoint of the provider
	Provider string       // "bedrock"
	Model    string       // the provider's name for the model
	Profiled string       // the model that the profile Model refers to, if known; see Underlying
	Stream   bool
	// Rules are the request rules in the provider's spec for the endpoint. They are applied to
	// the result of EncodeCall. EncodeCall reads only the rules that determine where a field
	// belongs. Nil means that there are none.
	Rules *RequestRules
	Newer bool // supports OpenAI's newest names: role developer, max_completion_tokens
	// Value returns a credential field by name, for example anthropic_beta, or "" if it is
	// absent.
	Value func(name string) string
	// Fetch loads the content of a caller's URL for providers that do not accept URLs. The limits
	// are 20 MiB and 30 s, and the address checks of every upstream apply. Errors do not name the
	// host.
	Fetch media.Fetch
}

// Underlying returns the name that reveals the model: Profiled if it is known, otherwise Model.
func (t *Target) Underlying() string {
	if t.Profiled != "" {
		return t.Profiled
	}
	return t.Model
}

// Outgoing is a request to a provider.
type Outgoing struct {
	Body    []byte
	Large   wire.Payload // replaces Body if the body may be too large for the memory of one call
	Header  wire.Header  // added to the headers of the provider's spec; has content-type if the body is not JSON
	Query   string       // raw; added to the query of the provider's spec: "name=rows.jsonl"
	Path    string       // escaped; relative to the spec's base, replaces its path: "/bucket/rows.jsonl"; empty: the spec's path
	Dropped []string     // omitted content, as paths into the caller's body
	Added   Added        // parameters in Body that the caller did not request and that may be omitted
	// More contains further requests to the same address, for providers that accept one input at
	// a time. Their responses are in Incoming.More in the same order.
	More [][]byte
}

// Incoming is a response of a provider.
type Incoming struct {
	Status  int
	Header  wire.Header
	Body    []byte
	More    [][]byte
	Created int64     // epoch seconds of its arrival, for formats that require a time that the provider does not send
	Call    *llm.Call // set for conversations
	Sent    *Request  // set for requests to an OpenAIEndpoint
	To      *Target
}

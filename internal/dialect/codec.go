package dialect

import (
	"context"
	"io"

	"sluice/internal/llm"
	"sluice/internal/splice"
	"sluice/internal/wire"
)

// Client is the side of a shape that callers speak: their call in, our answer out.
// Its methods are safe for concurrent use.
type Client interface {
	// DecodeCall reads a request. It refuses what no target could carry with
	// fault.InvalidParameter and Param, for example "messages[2].role": unknown roles,
	// tool results without calls, a data URL that is not base64. The Call points into
	// body.
	DecodeCall(body []byte) (*llm.Call, error)

	// EncodeResponse appends the whole answer to dst.
	EncodeResponse(dst []byte, r *llm.Response, a *ResponseContext) []byte

	// NewEncoder makes the encoder of one stream. It belongs to one goroutine.
	NewEncoder(a *ResponseContext) EventEncoder
}

// EventEncoder puts the events of one stream on the wire, server-sent events with
// their blank lines.
type EventEncoder interface {
	// Append appends what e is on the wire to dst; often nothing. It keeps nothing of
	// e. The last event of a stream is EventEnd or EventFault.
	Append(dst []byte, e *llm.Event) []byte
}

// ResponseContext is what an answer repeats of its call and of the way it came.
type ResponseContext struct {
	Call     *llm.Call
	ID       string // 26 characters, unique: the codec puts its prefix before it where the provider gave no id
	Created  int64  // epoch seconds, where the provider gave none
	Provider string // "anthropic"; empty: not told
	Strict   bool   // only what the shape itself knows; otherwise the provider's extras too
	Store    bool   // responses: the gateway keeps the answer
	Previous string // responses: the previous_response_id that the caller gave
}

// Upstream is the side that providers speak: our call out, their answer in. Its
// methods are safe for concurrent use.
type Upstream interface {
	// EncodeCall makes the provider's request. What the provider cannot carry is named
	// in Outgoing.Lost; what would make the request senseless without it is refused
	// with fault.InvalidParameter and Param in the words of the caller's surface
	// (llm.Call.Path). No default of the provider is overridden, and nothing is clamped in silence.
	EncodeCall(ctx context.Context, c *llm.Call, to *Target) (*Outgoing, error)

	// DecodeResponse reads a whole answer of success. What is no answer of this shape is
	// fault.UpstreamInvalid.
	DecodeResponse(incoming *Incoming) (*llm.Response, error)

	// NewDecoder makes the decoder of one stream. It belongs to one goroutine.
	NewDecoder(incoming *Incoming) EventDecoder
}

// EventDecoder reads a provider's stream as it comes, in pieces of any size.
type EventDecoder interface {
	// Feed takes what one read brought and calls emit for each event in it, in order.
	// What cannot be read is fault.UpstreamInvalid; an error that the provider reports
	// in the stream is an EventFault.
	Feed(p []byte, emit func(*llm.Event)) error

	// Close tells that the provider closed the connection. A decoder whose provider
	// marks its end in no other way emits EventEnd here. A stream that has had neither
	// EventEnd nor EventFault after it was cut.
	Close(emit func(*llm.Event)) error
}

// OpenAIEndpoint is an endpoint that callers know in OpenAI's shape alone (embeddings,
// images, rerank, files, batches …): their request becomes the provider's, the
// provider's answer becomes OpenAI's. Its methods are safe for concurrent use.
type OpenAIEndpoint interface {
	// EncodeRequest makes the provider's request; errors as in Upstream.EncodeCall.
	EncodeRequest(ctx context.Context, r *Request, to *Target) (*Outgoing, error)
	// TranslateResponse makes the caller's answer of one of success; errors as in
	// Upstream.DecodeResponse.
	TranslateResponse(incoming *Incoming) (*Response, error)
}

// MultiStep is a Unified whose answer stands in several places, for example a batch whose
// output is in files that its job names.
type MultiStep interface {
	OpenAIEndpoint
	// Follow looks at the answers so far, Incoming.Body and then More, and says which to
	// get next. It is called until it says that there is none (ok false), TranslateResponse
	// after that. An error, for example fault.Conflict of a batch that still runs, is the
	// answer.
	Follow(incoming *Incoming) (next Next, ok bool, err error)
}

// Next names a further answer: one of the provider's own endpoints with the id of its
// path, or a URL that the provider gave, which is fetched without credentials and
// guarded as every upstream is.
type Next struct {
	Endpoint llm.Endpoint
	ID       string // unescaped
	URL      string // "https://storage.googleapis.com/…?X-Goog-Signature=…"
	Method   string // empty: GET
	Path     string // escaped, in place of the endpoint's; see Outgoing.Path
	Query    string // raw, beside that of the provider's spec
	Header   wire.Header
	Body     wire.Payload
	// File says that this is the last answer, a file that may be larger than the memory that
	// a call should take: what File makes of it, as it is read, is the caller's answer in the
	// place of TranslateResponse's. Its errors are as TranslateResponse's, and end the answer.
	File        func(src io.Reader) io.Reader
	Further     []string // URLs of the files that File reads behind this one, end to end
	ContentType string   // of what File makes: "application/jsonl"
}

// FileStreamer is a Unified of which some answers are files: callers get them as they come and as
// they are, whatever their size.
type FileStreamer interface {
	OpenAIEndpoint
	// FileType is the content type of such an answer where the provider names none; ok is
	// false where the answer is to be decoded.
	FileType(ep llm.Endpoint) (contentType string, ok bool)
}

// Profiles are names that do not tell which model is behind them, for example the ARN of
// an inference profile; the provider tells when it is asked. Its methods are safe for
// concurrent use.
type Profiles interface {
	// Lookup says what to ask the provider about a name; ok is false when the name tells
	// by itself, or nobody can.
	Lookup(model string) (next Next, ok bool)
	// Underlying is the model that the provider's answer names; "" when it names none.
	Underlying(response []byte) string
}

// Streamer is a Unified whose answers of success may be streams: those of requests
// with Target.Stream, unless the provider's spec says that it streams nothing.
type Streamer interface {
	OpenAIEndpoint
	// NewStream makes what turns one stream of the provider into the caller's, server-sent
	// events of the endpoint with their end, for example data: [DONE]. It belongs to one
	// goroutine.
	NewStream(incoming *Incoming) StreamTranscoder
}

// StreamTranscoder turns a provider's stream into the caller's as it comes, in pieces of any
// size.
type StreamTranscoder interface {
	// Append appends what p, the provider's next bytes, is to the caller; often nothing.
	// What cannot be read is fault.UpstreamInvalid; an error that the provider reports in
	// the stream is appended in the caller's words and ends it.
	Append(dst, p []byte) ([]byte, error)

	// Close tells that the provider closed the connection. It adds no end that the
	// provider did not tell.
	Close(dst []byte) ([]byte, error)
}

// Request is a caller's request to a unified endpoint.
type Request struct {
	Endpoint    llm.Endpoint
	Body        []byte       // JSON, already changed as the target's config asks; nil when there is none
	Payload     wire.Payload // of anything else, for example a form
	Form        *splice.Form // the same, read; nil when it is none
	ContentType string
	ID          string // of the route, unescaped: "batch_1"
	Query       string // raw
	// Call is the conversation whose tokens shall be counted (messagesCountTokens); nil on
	// every other endpoint.
	Call *llm.Call
	// NewSpool makes a spool for a body that may be large, such as the lines of a file in other
	// words. Whoever made the request closes it when the call is over.
	NewSpool func() *wire.Spool
	// Lines translates the lines of files whose lines are calls, as batches have them; nil
	// on endpoints without such files.
	Lines *FileLines
}

// FileLines translates the lines of files. A dialect knows no other, so the shapes that it
// meets there are given to it.
type FileLines struct {
	Client   Client   // chat completions: the calls of the lines, and what comes of them
	Messages Upstream // Anthropic's messages, which Claude speaks on the clouds too
}

// Response is what the caller gets.
type Response struct {
	Body        []byte
	ContentType string // empty: application/json
	Usage       llm.Usage
	Model       string
}

// Target is where a call goes.
type Target struct {
	Endpoint llm.Endpoint // that the provider is asked for
	Provider string       // "bedrock"
	Model    string       // as the provider knows it
	Profiled string       // the model that Model is a profile of, when that is known; see Underlying
	Stream   bool
	// Rules are what the provider's spec says of the endpoint's requests. They are applied to
	// what EncodeCall makes; it looks at those that say where something belongs. May be nil.
	Rules *RequestRules
	Newer bool // it follows OpenAI's newest words: role developer, max_completion_tokens
	// Value is a credential field by its name, for example anthropic_beta; "" when absent.
	Value func(name string) string
	// Fetch gets what a caller's URL names, for providers that take no URLs: at most
	// 20 MiB within 30 s, guarded as every upstream is. Errors name no host.
	Fetch Fetch
}

// Underlying is the name that tells which model it is: that behind the profile, else Model.
func (t *Target) Underlying() string {
	if t.Profiled != "" {
		return t.Profiled
	}
	return t.Model
}

// Outgoing is a request to a provider.
type Outgoing struct {
	Body    []byte
	Large   wire.Payload // in place of Body: one that may be larger than the memory that one call should take
	Header  wire.Header  // beside those of the provider's spec; content-type when it is not JSON
	Query   string       // raw, beside that of the provider's spec: "name=rows.jsonl"
	Path    string       // escaped, below the base of the spec and in place of its path: "/bucket/rows.jsonl"; empty: the spec's
	Dropped []string     // what of the caller's body is left out, as paths into it
	Added   Added        // what is in Body without a request of the caller, and may be left out
	// More are further requests to the same address, for providers that take one input
	// at a time; their answers stand in Incoming.More in this order.
	More [][]byte
}

// Incoming is an answer of a provider.
type Incoming struct {
	Status  int
	Header  wire.Header
	Body    []byte
	More    [][]byte
	Created int64     // epoch seconds at which it came, for shapes that want a time of those that give none
	Call    *llm.Call // of conversations
	Sent    *Request  // of unified endpoints
	To      *Target
}

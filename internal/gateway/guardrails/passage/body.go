package passage

import (
	"errors"
	"fmt"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Role is the author of a passage. The names of all surfaces are mapped to these four: "developer"
// becomes System, "model" becomes Assistant, "function" becomes Tool.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Kind is the purpose of a passage.
type Kind string

// The kinds.
const (
	Text      Kind = "text"
	Arguments Kind = "arguments" // string value in the arguments of a tool call
	Result    Kind = "result"    // of a tool
	Reasoning Kind = "reasoning"
	Refusal   Kind = "refusal"
	Citation  Kind = "citation" // quote of a source; repeats a text of the source

	Definition Kind = "definition" // description of a tool or of a format of the answer
	Other      Kind = "other"      // string or long number outside of the known members: a place for checks that search
	Tokens     Kind = "tokens"     // joined tokens of log probabilities: Body.Replace removes their list
)

// Passage is one text of a body.
type Passage struct {
	Text    string // decoded
	Role    Role
	Kind    Kind
	Message int    // position of its message, response item or choice, from 0; -1 outside of messages
	Signed  bool   // its block is signed: Body.Replace removes the block
	Path    string // "messages[2].content[0].text"; long names and paths are cut
}

// Bounds of a body. The texts of a body beyond them cannot be read: ErrUnreadable.
const (
	maxDepth    = 200     // nested values with texts
	maxPassages = 100_000 // texts
)

// Errors of Request, Response and the functions for shapes.
var (
	// ErrUnreadable means that the texts of the body cannot be read: its endpoint has no form here,
	// or it exceeds a bound.
	ErrUnreadable = errors.New("the texts of the body cannot be read")
	// ErrNoForm is an ErrUnreadable of an endpoint or a shape that has no form here.
	ErrNoForm = fmt.Errorf("%w: its format is unknown", ErrUnreadable)
	// ErrNotJSON means that the body is not one JSON object in UTF-8.
	ErrNotJSON = errors.New("the body is not a JSON object")
)

// Names of shapes in addition to those of endpoints.
const (
	Google   = "google"        // generateContent, streamGenerateContent, countTokens, embedContent
	Bedrock  = "bedrock"       // Converse
	Realtime = "realtimeEvent" // an event of a realtime conversation, or the configuration of a session
)

// Body is a request or response body with its texts. It refers to the bytes that it was read from:
// do not change them while the Body is in use. A Body is not safe for concurrent use.
type Body struct {
	src      []byte
	passages []Passage
	spots    []spot // one for each passage
	blocks   []block
	groups   []group
	messages int            // number of messages
	lists    int            // number of message lists; more than one is a duplicate
	response bool           // all passages are in each scope
	known    bool           // it has a text in a known member
	replaced map[int]string // new texts by position of the passage
}

// Request reads the texts of a request body. The error is ErrNotJSON or ErrUnreadable.
func Request(ep llm.Endpoint, body []byte) (*Body, error) { return RequestShape(string(ep), body) }

// Response reads the texts of a response body. A transcription that is not JSON, such as srt, is
// one passage. The error is ErrNotJSON or ErrUnreadable.
func Response(ep llm.Endpoint, body []byte) (*Body, error) { return ResponseShape(string(ep), body) }

// RequestShape is Request for a shape by its name: Google, Bedrock or an endpoint such as
// "messages". Calls that are passed through use the shape of their provider.
func RequestShape(name string, body []byte) (*Body, error) {
	f, ok := requestForms[name]
	if !ok {
		return nil, fmt.Errorf("read request of %s: %w", name, ErrNoForm)
	}
	b := &Body{src: body, response: rules[f].unscoped}
	if err := b.read(f); err != nil {
		return nil, fmt.Errorf("read request of %s: %w", name, err)
	}
	return b, nil
}

// ResponseShape is Response for a shape by its name, in the same way as RequestShape.
func ResponseShape(name string, body []byte) (*Body, error) {
	f, ok := responseForms[name]
	if !ok {
		return nil, fmt.Errorf("read response of %s: %w", name, ErrNoForm)
	}
	b := &Body{src: body, response: true}
	err := b.read(f)
	if errors.Is(err, ErrNotJSON) && rules[f].plain {
		return plainBody(body), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read response of %s: %w", name, err)
	}
	return b, nil
}

// plainBody returns a body that is one text as a whole.
func plainBody(body []byte) *Body {
	return &Body{
		src:      body,
		response: true,
		passages: []Passage{{Text: string(body), Role: Assistant, Kind: Text, Message: -1}},
		spots:    []spot{{end: len(body), coding: unquoted, block: -1}},
	}
}

// read fills the body with the texts of a form.
func (b *Body) read(f form) error {
	w := newWalker(b)
	if err := w.root(f); err != nil {
		return err
	}
	b.decode()
	return nil
}

// decode fills in the texts and roles that are missing, and removes the passages that turned out to
// be data.
func (b *Body) decode() {
	n := 0
	for i := range b.passages {
		p, s := &b.passages[i], &b.spots[i]
		if s.media {
			continue
		}
		b.known = b.known || p.Kind != Other && p.Kind != Definition && p.Kind != Tokens
		if p.Role == "" {
			p.Role = User
		}
		if s.coding == quoted {
			p.Text, _ = jsonedit.Unquote(b.src[s.start:s.end])
		}
		if n != i {
			b.passages[n], b.spots[n] = *p, *s
		}
		n++
	}
	b.passages, b.spots = b.passages[:n], b.spots[:n]
}

// HasKnownTexts reports whether a known member of the format has a text. A body without one may have
// another format.
func (b *Body) HasKnownTexts() bool { return b.known }

// Passages returns the texts in the order of the body. The Body owns the slice. Replacements do not
// change it.
func (b *Body) Passages() []Passage { return b.passages }

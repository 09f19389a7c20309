// Package replay converts between the two forms of a response, in the format of one surface: the
// complete JSON, which the cache stores, and the event stream. An Assembler builds the JSON of a
// stream. JSON and Stream build the response to a hit from a stored one, with new ids and times.
//
// The conversions stay within one surface and retain members that they do not know, so a hit
// contains what the provider sent. (The encoders of package dialect serve translated responses:
// they write what all surfaces have in common.) The package does not decide what is stored.
package replay

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// chunkChars is the maximum size of the text in one event, in characters.
// Source: contract/dataplane.md 4.7.
const chunkChars = 500

// Options are what the response to a hit depends on.
type Options struct {
	Now time.Time // becomes the time of the response
	// ID becomes the id of the response, for example that of a response which the gateway stores for
	// later calls. Empty: a new id in the form of the old one.
	ID string
	// Usage is that of the entry. It is added to a chat or text completion without usage: the stream of
	// a caller who did not request it has none.
	Usage llm.Usage
	// IncludeUsage reports that the caller requested the usage of a stream. Chat and text completions
	// omit it otherwise. The other surfaces always contain it.
	IncludeUsage bool
}

// JSON returns the stored response with new ids and times. It returns body itself if it contains
// none, and never changes it.
func JSON(ep llm.Endpoint, body []byte, o Options) []byte { return renew(ep, body, &o) }

// CanStream reports whether responses of the endpoint can be event streams here.
func CanStream(ep llm.Endpoint) bool { return streamers[ep] != nil }

// Stream appends the stored response to dst as a stream of server-sent events, with new ids and
// times: texts in chunks of 500 characters, then the end marker of the surface. It appends nothing
// for an endpoint that CanStream rejects. The body must be a complete JSON response of the
// endpoint, as entry.Storable accepts it.
func Stream(dst []byte, ep llm.Endpoint, body []byte, o Options) []byte {
	if write := streamers[ep]; write != nil {
		return write(dst, renew(ep, oneLine(body), &o), o)
	}
	return dst
}

// oneLine returns the body without line ends, because the data of an event is one line. In JSON, line
// ends occur between values only.
func oneLine(body []byte) []byte {
	if bytes.IndexByte(body, '\n') < 0 && bytes.IndexByte(body, '\r') < 0 {
		return body
	}
	var b bytes.Buffer
	b.Grow(len(body))
	if json.Compact(&b, body) != nil {
		return body // not a response of the cache
	}
	return b.Bytes()
}

var streamers = map[llm.Endpoint]func(dst, body []byte, o Options) []byte{
	llm.ChatComplete:        streamChat,
	llm.Complete:            streamCompletion,
	llm.Messages:            streamMessage,
	llm.CreateModelResponse: streamResponse,
}

// chunks calls do with consecutive parts of a text, each of at most chunkChars characters. An
// empty text has no parts.
func chunks(text string, do func(part string)) {
	for text != "" {
		end := 0
		for n := 0; n < chunkChars && end < len(text); n++ {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		do(text[:end])
		text = text[end:]
	}
}

// appendEvent appends a named event whose data fill writes.
func appendEvent(dst []byte, name string, fill func(w *jsonwriter.Writer)) []byte {
	dst = append(append(append(dst, "event: "...), name...), "\ndata: "...)
	w := jsonwriter.AppendTo(dst)
	w.Open('{')
	w.Str("type", name)
	fill(&w)
	w.Close('}')
	return append(w.B, "\n\n"...)
}

// copyMembers writes the members of an object, except those that change handles. change returns true
// if it wrote the member or omits it.
func copyMembers(w *jsonwriter.Writer, object []byte, change func(name string, val []byte) bool) {
	for raw, val := range jsonedit.Members(object) {
		if name, _ := jsonedit.Unquote(raw); !change(name, val) {
			w.RawKey(raw).Value(val)
		}
	}
}

func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

var (
	null      = []byte("null")
	emptyList = []byte("[]")
	emptyText = []byte(`""`)
)

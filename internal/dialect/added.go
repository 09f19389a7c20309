package dialect

import (
	"bytes"
)

// Added is a set of request parameters that the gateway adds although the caller did not send them.
// If a provider rejects one, the request is sent again without it. The zero value is the empty set.
type Added uint8

// The parameters.
const (
	AddedUsage   Added = 1 << iota // stream_options.include_usage, for the usage of a stream
	AddedStore                     // store: false of Responses
	AddedInclude                   // include: ["reasoning.encrypted_content"] of Responses
	AddedDisplay                   // thinking.display of Claude, for a visible summary
)

// addedParam is where a parameter is in a request, and its name in errors.
type addedParam struct {
	paths []string // see jsonedit.DropAll
	names []string // names in errors
	plain bool     // the name is not an English word: it counts without quotes or dots around it
}

// addedParams has one entry for each bit of Added, in their order.
var addedParams = [...]addedParam{
	{paths: []string{"stream_options.include_usage"}, names: []string{"stream_options", "include_usage"}, plain: true},
	{paths: []string{"store"}, names: []string{"store"}},
	{paths: []string{"include"}, names: []string{"include", "encrypted_content"}},
	{paths: []string{"thinking.display", "additionalModelRequestFields.thinking.display"}, names: []string{"display"}},
}

// Paths are the paths of the parameters in a request body, as jsonedit.DropAll accepts them.
func (a Added) Paths() (paths []string) {
	for i := range addedParams {
		if a&(1<<i) != 0 {
			paths = append(paths, addedParams[i].paths...)
		}
	}
	return paths
}

// RefusedBy returns the parameters that a provider error names. Names that are English words
// count only in quotes or as part of a path: "Unknown parameter: 'store'",
// "thinking.display: Extra inputs are not permitted".
// Source: errors of OpenAI, Mistral, Anthropic and vLLM for unknown parameters, read 2026-11.
func (a Added) RefusedBy(text []byte) (refused Added) {
	for i := range addedParams {
		p := &addedParams[i]
		if bit := Added(1 << i); a&bit != 0 && p.named(text) {
			refused |= bit
		}
	}
	return refused
}

func (p *addedParam) named(text []byte) bool {
	for _, name := range p.names {
		for rest := text; ; {
			offset := bytes.Index(rest, []byte(name))
			if offset < 0 {
				break
			}
			before, after := byte(' '), byte(' ')
			if offset > 0 {
				before = rest[offset-1]
			}
			if rest = rest[offset+len(name):]; len(rest) > 0 {
				after = rest[0]
			}
			if !isNameByte(before) && !isNameByte(after) && (p.plain || isMark(before)) {
				return true
			}
		}
	}
	return false
}

// isNameByte reports whether a byte can be part of a parameter name.
func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// isMark reports whether a byte before a name marks it as one: a quote, or the end of the
// preceding path.
func isMark(c byte) bool { return bytes.IndexByte([]byte("\"'`./"), c) >= 0 }

package bound

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/domain/routing"
	"sluice/internal/gateway/call"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Length is the size of the response that a call permits.
type Length struct {
	MaxTokens int64 // of one response; 0: the call does not limit it
	Responses int64 // number of responses to one prompt, at least 1
}

// Length returns the length that the call requests, from its parameters as the provider gets
// them. A fallback model with a limit of its own may extend it.
func (c *Call) Length(m *Models) Length {
	l := c.requestedLength()
	n := l.tokens()
	if n > 0 {
		n = max(n, m.maxTokens)
	}
	return Length{MaxTokens: n, Responses: l.responses}
}

// length is the size of the response that the parameters of a call request. A body may contain
// several limits, of which the provider reads one: the largest counts. Limits that this provider
// does not read have no effect alone.
type length struct {
	limit     int64 // maximum tokens of a response, the largest limit in the call; 0 without a limit
	limited   bool  // the call contains a limit that the provider reads
	open      bool  // a limit is below 1, which some providers take for no limit, or beyond any response
	responses int64 // number of responses to one prompt, at least 1
}

// lengthNames are the names of limits at all providers, in lower case and without underscores.
// responseNames are the names of the number of responses.
var (
	lengthNames = map[string]bool{
		"maxtokens": true, "maxcompletiontokens": true, "maxoutputtokens": true, "maxnewtokens": true, "maxtokenstosample": true,
		"maxtokencount": true, "maxgenlen": true, "numpredict": true, "npredict": true,
	}
	responseNames = map[string]bool{
		"n": true, "bestof": true, "candidatecount": true, "numgenerations": true, "numresults": true, "samplecount": true, "numreturnsequences": true,
	}
)

// lengthHolders are the members in which some providers read such limits and numbers.
var lengthHolders = map[string]bool{
	"generationconfig": true, "inferenceconfig": true, "textgenerationconfig": true, "additionalmodelrequestfields": true,
	"parameters": true, "options": true, "extrabody": true,
}

// longestName is the maximum length of a name in these maps.
const longestName = len("additionalmodelrequestfields")

// reader is where a provider reads the limit of a response. The spelling is exact: servers ignore a
// member that is spelled in any other way and return a response of full length.
type reader struct {
	holders []string // spellings of the member that contains the limit; empty for the top level
	names   []string
}

var (
	chatReader     = reader{names: []string{"max_tokens", "max_completion_tokens"}}
	limitReader    = reader{names: []string{"max_tokens"}}
	responseReader = reader{names: []string{"max_output_tokens"}}
)

// readers are the readers of the typed endpoints.
var readers = map[llm.Endpoint][]reader{
	llm.ChatComplete:        {chatReader},
	llm.Complete:            {limitReader},
	llm.Messages:            {limitReader},
	llm.CreateModelResponse: {responseReader},
}

// nativeReaders are the readers of other routes, found by the end of the path. They apply to the
// listed providers, or to all where none is listed.
// Source: https://ai.google.dev/api/generate-content, https://ai.google.dev/api/interactions-api,
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html,
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html,
// https://docs.ollama.com/api, read 2026-11.
var nativeReaders = []struct {
	ends, providers []string
	read            []reader
}{
	{[]string{":generatecontent", ":streamgeneratecontent"}, []string{"google", "vertex-ai"}, []reader{
		{[]string{"generationConfig", "generation_config"}, []string{"maxOutputTokens", "max_output_tokens"}},
	}},
	{[]string{"/interactions"}, []string{"google", "vertex-ai"}, []reader{{[]string{"generation_config"}, []string{"max_output_tokens"}}}},
	{[]string{":predict"}, []string{"google", "vertex-ai"}, []reader{{[]string{"parameters"}, []string{"maxOutputTokens"}}}},
	{[]string{"/converse", "/converse-stream"}, []string{"bedrock"}, []reader{{[]string{"inferenceConfig"}, []string{"maxTokens"}}}},
	{[]string{"/invoke", "/invoke-with-response-stream"}, []string{"bedrock"}, []reader{
		{names: []string{"max_tokens", "max_completion_tokens", "max_tokens_to_sample", "max_gen_len"}},
		{[]string{"inferenceConfig"}, []string{"maxTokens", "max_new_tokens"}},
		{[]string{"textGenerationConfig"}, []string{"maxTokenCount"}},
	}},
	{[]string{"/api/chat", "/api/generate"}, []string{"ollama"}, []reader{{[]string{"options"}, []string{"num_predict"}}}},
	{[]string{"/generate", "/generate_stream"}, []string{"huggingface", "predibase"}, []reader{{[]string{"parameters"}, []string{"max_new_tokens"}}}},
	{[]string{"/chat/completions"}, nil, []reader{chatReader}},
	{[]string{"/completions", "/messages", ":rawpredict", ":streamrawpredict"}, nil, []reader{limitReader}},
	{[]string{"/responses"}, nil, []reader{responseReader}},
}

// anyReader is the reader of an unknown route.
var anyReader = []reader{{names: []string{"max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "max_tokens_to_sample"}}}

// readers returns where the provider of the attempt reads the limit of a response.
func (c *Call) readers() []reader {
	if ep := c.Endpoint; ep != llm.Proxy {
		return readers[ep]
	}
	path := "/" + strings.Join(call.PathSegments(c.Path), "/")
	ends := func(end string) bool { return strings.HasSuffix(path, end) }
	for i := range nativeReaders {
		n := &nativeReaders[i]
		if (n.providers == nil || slices.Contains(n.providers, c.Spec.ID)) && slices.ContainsFunc(n.ends, ends) {
			return n.read
		}
	}
	return anyReader
}

// reads reports whether the provider reads a limit with that name in the member holder. A nil
// holder is the top level.
func (r *reader) reads(holder, name []byte) bool {
	return isOne(r.holders, holder) && isOne(r.names, name)
}

// isOne reports whether a name, raw or not, is in a list. For a nil name it reports whether the
// list is empty.
func isOne(list []string, name []byte) bool {
	if name == nil {
		return len(list) == 0
	}
	for _, one := range list {
		if string(name) == one || name[0] == '"' && jsonedit.IsName(name, one) {
			return true
		}
	}
	return false
}

// requestedLength returns the length that the call requests, from its parameters as the provider
// gets them: the target's config may replace, add and remove parameters.
func (c *Call) requestedLength() length {
	l, r, t := length{responses: 1}, c.readers(), c.Target
	for i := range t.Override {
		if p := &t.Override[i]; !slices.Contains(t.Drop, p.Key) {
			l.set(r, p)
		}
	}
	for i := range t.Default {
		p := &t.Default[i]
		if _, set := call.FindParam(t.Override, p.Key); !set && !slices.Contains(t.Drop, p.Key) && (c.Doc == nil || !c.Doc.Has(p.Key)) {
			l.set(r, p)
		}
	}
	if c.Doc == nil {
		return l
	}
	var key [longestName]byte
	for k := range c.Doc.Len() {
		name, val := c.Doc.Member(k)
		if plain := plainName(key[:0], name); len(plain) > 0 && !c.IsReplaced(name) {
			l.take(r, nil, name, plain, val)
		}
	}
	return l
}

// set applies a parameter of the target's config.
func (l *length) set(r []reader, p *routing.Param) {
	var key [longestName]byte
	name := []byte(p.Key)
	l.take(r, nil, name, plainName(key[:0], name), p.Raw)
}

// take applies a parameter at the top level (holder is nil) or in the member holder. name is its
// raw name and plain the result of plainName. A name that only resembles one that the provider
// reads can make the maximum larger, never smaller.
func (l *length) take(r []reader, holder, name, plain, val []byte) {
	switch {
	case len(plain) == 0:
	case lengthNames[string(plain)]:
		l.limitTo(slices.ContainsFunc(r, func(r reader) bool { return r.reads(holder, name) }), val)
	case responseNames[string(plain)]:
		l.responses = max(l.responses, countIn(val))
	case holder == nil && lengthHolders[string(plain)]:
		var key [longestName]byte
		for member, val := range jsonedit.Members(val) {
			l.take(r, name, member, plainName(key[:0], member), val)
		}
	}
}

// limitTo applies a limit. read reports whether the provider reads it. Other values than numbers
// are ignored.
func (l *length) limitTo(read bool, val []byte) {
	n, ok := numberIn(val)
	switch {
	case !ok:
	case n < 1 || n >= 1<<40:
		l.open = true
	default:
		l.limit, l.limited = max(l.limit, int64(n)), l.limited || read
	}
}

// tokens returns the maximum number of tokens of a response; 0 means that the call does not
// limit it.
func (l *length) tokens() int64 {
	if l.open || !l.limited {
		return 0
	}
	return l.limit
}

// countIn returns a number of responses; 1 when val is not a positive number.
func countIn(val []byte) int64 {
	n, ok := numberIn(val)
	if !ok || n < 1 {
		return 1
	}
	return int64(min(n, 1<<20))
}

// numberIn parses a number, or a string that contains one, which some providers accept.
func numberIn(val []byte) (n float64, ok bool) {
	text := string(val)
	if plain, quoted := jsonedit.Unquote(val); quoted {
		text = strings.TrimSpace(plain)
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsNaN(n)
}

// plainName appends a name, raw or not, in lower case and without quotes, underscores and hyphens.
// It returns nil for a name that does not fit into the capacity of to: none that counts is so long.
func plainName(to, name []byte) []byte {
	if bytes.IndexByte(name, '\\') >= 0 {
		text, _ := jsonedit.Unquote(name)
		name = []byte(text)
	}
	for _, c := range name {
		switch {
		case c == '"' || c == '_' || c == '-':
			continue
		case len(to) == cap(to):
			return nil
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

package dataplane

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/llm"
	"sluice/internal/routing"
	"sluice/internal/splice"
)

// length is how much of an answer the parameters of a call ask for. A body may have several
// limits, of which its provider reads one: the largest counts. One that this provider does not
// read limits nothing by itself.
type length struct {
	limit     int64 // tokens of an answer, the largest that is named; 0: none is
	limited   bool  // a limit is named that the provider reads
	open      bool  // one is below 1, which some providers take for no limit, or beyond any answer
	responses int64 // to one prompt, at least 1
}

// lengthNames are the names of limits in the words of all providers, without capitals and
// underscores; responseNames those of numbers of answers.
var (
	lengthNames = map[string]bool{
		"maxtokens": true, "maxcompletiontokens": true, "maxoutputtokens": true, "maxnewtokens": true, "maxtokenstosample": true,
		"maxtokencount": true, "maxgenlen": true, "numpredict": true, "npredict": true,
	}
	responseNames = map[string]bool{
		"n": true, "bestof": true, "candidatecount": true, "numgenerations": true, "numresults": true, "samplecount": true, "numreturnsequences": true,
	}
)

// lengthHolders are the members in which some providers take both.
var lengthHolders = map[string]bool{
	"generationconfig": true, "inferenceconfig": true, "textgenerationconfig": true, "additionalmodelrequestfields": true,
	"parameters": true, "options": true, "extrabody": true,
}

// longestName is how many letters a name of these has at most.
const longestName = len("additionalmodelrequestfields")

// reader is where a provider reads the limit of an answer, letter for letter: servers pass over
// a member that is spelled in any other way, and answer at full length.
type reader struct {
	holders []string // the spellings of the member that has it; none: it stands at the top
	names   []string
}

var (
	chatReader     = reader{names: []string{"max_tokens", "max_completion_tokens"}}
	limitReader    = reader{names: []string{"max_tokens"}}
	responseReader = reader{names: []string{"max_output_tokens"}}
)

// readers are those of the typed endpoints.
var readers = map[llm.Endpoint][]reader{
	llm.ChatComplete:        {chatReader},
	llm.Complete:            {limitReader},
	llm.Messages:            {limitReader},
	llm.CreateModelResponse: {responseReader},
}

// nativeReaders are those of other routes, by the end of the path: at the providers whose route
// it is, or at any where none is named.
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

// anyReader is that of a route that nobody here knows.
var anyReader = []reader{{names: []string{"max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "max_tokens_to_sample"}}}

// readers are where the provider of the attempt reads the limit of an answer.
func (a *attempt) readers() []reader {
	if ep := a.x.match.Endpoint; ep != llm.Proxy {
		return readers[ep]
	}
	path := "/" + strings.Join(pathSegments(a.x.path), "/")
	ends := func(end string) bool { return strings.HasSuffix(path, end) }
	for i := range nativeReaders {
		n := &nativeReaders[i]
		if (n.providers == nil || slices.Contains(n.providers, a.spec.ID)) && slices.ContainsFunc(n.ends, ends) {
			return n.read
		}
	}
	return anyReader
}

// reads reports whether a limit of that name in a member, nil for the top, is read.
func (r *reader) reads(holder, name []byte) bool {
	return isOne(r.holders, holder) && isOne(r.names, name)
}

// isOne reports whether a name, raw or not, is one of a list, and nil whether the list is empty.
func isOne(list []string, name []byte) bool {
	if name == nil {
		return len(list) == 0
	}
	for _, one := range list {
		if string(name) == one || name[0] == '"' && splice.IsName(name, one) {
			return true
		}
	}
	return false
}

// requestedLength finds how much of an answer the call asks for, in its parameters as the provider gets
// them: the target's config may replace those of the caller, add some, or take some out.
func (a *attempt) requestedLength() length {
	l, r, t := length{responses: 1}, a.readers(), a.target
	for i := range t.Override {
		if p := &t.Override[i]; !slices.Contains(t.Drop, p.Key) {
			l.set(r, p)
		}
	}
	for i := range t.Default {
		p := &t.Default[i]
		if _, set := setBy(t.Override, p.Key); !set && !slices.Contains(t.Drop, p.Key) && (a.x.doc == nil || !a.x.doc.Has(p.Key)) {
			l.set(r, p)
		}
	}
	if a.x.doc == nil {
		return l
	}
	var key [longestName]byte
	for k := range a.x.doc.Len() {
		name, val := a.x.doc.Member(k)
		if plain := plainName(key[:0], name); len(plain) > 0 && !a.replaced(name) {
			l.take(r, nil, name, plain, val)
		}
	}
	return l
}

// replaced reports whether the target's config takes a member of the body out or sets it.
func (a *attempt) replaced(name []byte) bool {
	for i := range a.target.Override {
		if splice.IsName(name, a.target.Override[i].Key) {
			return true
		}
	}
	return slices.ContainsFunc(a.target.Drop, func(key string) bool { return splice.IsName(name, key) })
}

// set takes a parameter of the target's config.
func (l *length) set(r []reader, p *routing.Param) {
	var key [longestName]byte
	name := []byte(p.Key)
	l.take(r, nil, name, plainName(key[:0], name), p.Raw)
}

// take takes a parameter at the top, or in the member holder, by its name and that in plain. A
// name that is only like one that is read makes the most larger, and never smaller.
func (l *length) take(r []reader, holder, name, plain, val []byte) {
	switch {
	case len(plain) == 0:
	case lengthNames[string(plain)]:
		l.limitTo(slices.ContainsFunc(r, func(r reader) bool { return r.reads(holder, name) }), val)
	case responseNames[string(plain)]:
		l.responses = max(l.responses, countIn(val))
	case holder == nil && lengthHolders[string(plain)]:
		var key [longestName]byte
		for member, val := range splice.Members(val) {
			l.take(r, name, member, plainName(key[:0], member), val)
		}
	}
}

// limitTo takes a limit.
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

// tokens is how many tokens an answer may become; 0 where nobody says.
func (l *length) tokens() int64 {
	if l.open || !l.limited {
		return 0
	}
	return l.limit
}

// countIn is a number of answers; 1 for what is none.
func countIn(val []byte) int64 {
	n, ok := numberIn(val)
	if !ok || n < 1 {
		return 1
	}
	return int64(min(n, 1<<20))
}

// numberIn is a number, or a text that is one, as some providers take it.
func numberIn(val []byte) (n float64, ok bool) {
	text := string(val)
	if plain, quoted := splice.Unquote(val); quoted {
		text = strings.TrimSpace(plain)
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsNaN(n)
}

// plainName appends a name, raw or not, without its quotes, capitals, underscores and hyphens;
// nothing for one that is longer than any that counts.
func plainName(to, name []byte) []byte {
	if bytes.IndexByte(name, '\\') >= 0 {
		text, _ := splice.Unquote(name)
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

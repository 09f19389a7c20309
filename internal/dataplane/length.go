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

// reader is where a provider reads the limit of an answer.
type reader struct {
	holder string   // a member in lengthHolders; empty: at the top
	names  []string // empty: any of lengthNames, anywhere where holder is empty
}

// readers are those of the typed endpoints; any other reads any name.
var readers = map[llm.Endpoint]reader{
	llm.ChatComplete:        {names: []string{"maxtokens", "maxcompletiontokens"}},
	llm.Complete:            {names: []string{"maxtokens"}},
	llm.Messages:            {names: []string{"maxtokens"}},
	llm.CreateModelResponse: {names: []string{"maxoutputtokens"}},
}

// nativeReaders are those of providers' own routes, by the end of the path.
// Source: https://ai.google.dev/api/generate-content,
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html,
// https://docs.ollama.com/api, read 2026-11.
var nativeReaders = []struct{ end, holder string }{
	{":generatecontent", "generationconfig"}, {":streamgeneratecontent", "generationconfig"},
	{"/converse", "inferenceconfig"}, {"/converse-stream", "inferenceconfig"},
	{"/api/chat", "options"}, {"/api/generate", "options"},
}

// reader is where the provider of the attempt reads the limit of an answer.
func (a *attempt) reader() reader {
	if ep := a.x.match.Endpoint; ep != llm.Proxy {
		return readers[ep]
	}
	path := "/" + strings.Join(pathSegments(a.x.path), "/")
	for _, native := range nativeReaders {
		if strings.HasSuffix(path, native.end) {
			return reader{holder: native.holder}
		}
	}
	return reader{}
}

// reads reports whether a limit of that name in a member, empty for the top, is read.
func (r *reader) reads(holder, name string) bool {
	switch {
	case r.holder != "":
		return holder == r.holder
	case len(r.names) > 0:
		return holder == "" && slices.Contains(r.names, name)
	}
	return true
}

// length finds how much of an answer the call asks for, in its parameters as the provider gets
// them: the target's config may replace those of the caller, add some, or take some out.
func (a *attempt) length() length {
	l, r, t := length{responses: 1}, a.reader(), a.target
	for i := range t.Override {
		if p := &t.Override[i]; !slices.Contains(t.Drop, p.Key) {
			l.set(&r, p)
		}
	}
	for i := range t.Default {
		p := &t.Default[i]
		if _, set := setBy(t.Override, p.Key); !set && !slices.Contains(t.Drop, p.Key) && (a.x.doc == nil || !a.x.doc.Has(p.Key)) {
			l.set(&r, p)
		}
	}
	if a.x.doc == nil {
		return l
	}
	var key [longestName]byte
	for k := range a.x.doc.Len() {
		name, val := a.x.doc.Member(k)
		if plain := plainName(key[:0], name); len(plain) > 0 && !a.replaced(name) {
			l.take(&r, "", plain, val)
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
func (l *length) set(r *reader, p *routing.Param) {
	var key [longestName]byte
	l.take(r, "", plainName(key[:0], []byte(p.Key)), p.Raw)
}

// take takes a parameter at the top, or in the member holder, by its plain name.
func (l *length) take(r *reader, holder string, name, val []byte) {
	switch {
	case lengthNames[string(name)]:
		l.limitTo(r.reads(holder, string(name)), val)
	case responseNames[string(name)]:
		l.responses = max(l.responses, countIn(val))
	case holder == "" && lengthHolders[string(name)]:
		holder = string(name)
		var key [longestName]byte
		for name, val := range splice.Members(val) {
			l.take(r, holder, plainName(key[:0], name), val)
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

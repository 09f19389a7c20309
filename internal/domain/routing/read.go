package routing

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// maxIssues is the maximum number of issues that are reported for a config.
const maxIssues = 20

// issue is one error in the document. It never quotes a value, which may be a key.
type issue struct{ path, message string }

// parser contains the state of one Parse, including the issues found so far.
type parser struct {
	valueReader
	limits       Limits
	stored       bool // an earlier version accepted the document
	leaves       []*Target
	instructions *int // of all regular expressions so far; nil before the first
}

// valueReader converts the JSON values of a document to Go values and collects what is wrong with
// them.
type valueReader struct{ issues []issue }

// failf records an issue at a path of the document. The empty path is its root.
func (p *valueReader) failf(path, format string, args ...any) {
	if len(p.issues) < maxIssues {
		if path == "" {
			path = rootPath
		}
		p.issues = append(p.issues, issue{path, fmt.Sprintf(format, args...)})
	}
}

// key appends an object key to a path, item a list index.
func key(path, name string) string {
	if !plainKey.MatchString(name) {
		name = printable(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_$.-]{1,64}$`)

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// printable quotes and shortens an unusual key of the document for a path.
func printable(name string) string {
	const limit = 64
	if len(name) > limit {
		name = strings.ToValidUTF8(name[:limit], "") + "…"
	}
	return strconv.Quote(name)
}

// reader reads one field of a T from the document.
type reader[T any] func(p *parser, path string, v gjson.Result, to *T)

// fields are the known fields of an object, by both spellings of their names.
type fields[T any] map[string]field[T]

type field[T any] struct {
	name string // snake_case
	read reader[T]
}

// bothSpellings indexes readers by their snake_case names and the camelCase forms.
func bothSpellings[T any](readers map[string]reader[T]) fields[T] {
	fs := make(fields[T], 2*len(readers))
	for name, read := range readers {
		fs[name] = field[T]{name, read}
		fs[camel(name)] = field[T]{name, read}
	}
	return fs
}

// as adds another spelling of a field.
func (fs fields[T]) as(alias, name string) fields[T] {
	fs[alias], fs[camel(alias)] = fs[name], fs[name]
	return fs
}

// camel converts use_retry_after_header to useRetryAfterHeader.
func camel(name string) string {
	parts := strings.Split(name, "_")
	for i, w := range parts[1:] {
		if w != "" {
			parts[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(parts, "")
}

// readObject reads an object of known fields into to. A field that is null is absent. It
// reports whether v is an object.
func readObject[T any](p *parser, path string, v gjson.Result, known fields[T], to *T) bool {
	if !v.IsObject() {
		p.failf(path, "must be an object")
		return false
	}
	seen := map[string]string{}
	v.ForEach(func(k, v gjson.Result) bool {
		f, ok := known[k.String()]
		if !ok {
			p.failf(key(path, k.String()), "unknown field")
			return true
		}
		if other, twice := seen[f.name]; twice {
			p.failf(key(path, k.String()), "duplicates the field %s", other)
			return true
		}
		seen[f.name] = k.String()
		if v.Type != gjson.Null {
			f.read(p, key(path, k.String()), v, to)
		}
		return true
	})
	return true
}

// eachItem calls f for the items of a list.
func (p *valueReader) eachItem(path string, v gjson.Result, f func(path string, v gjson.Result)) {
	p.upTo(MaxBytes, path, v, f) // limited by the size of the document
}

// upTo is eachItem for a list with at most limit items.
func (p *valueReader) upTo(limit int, path string, v gjson.Result, f func(path string, v gjson.Result)) {
	if !v.IsArray() {
		p.failf(path, "must be a list")
		return
	}
	items := v.Array()
	if len(items) > limit {
		p.failf(path, "must not have more than %d items", limit)
		return
	}
	for i, v := range items {
		f(item(path, i), v)
	}
}

// text reads a non-empty string.
func (p *valueReader) text(path string, v gjson.Result) string {
	if v.Type != gjson.String || v.Str == "" {
		p.failf(path, "must be a non-empty string")
		return ""
	}
	return v.Str
}

// word returns a string that must be one of these.
func (p *valueReader) word(path string, v gjson.Result, words ...string) string {
	if v.Type != gjson.String || !slices.Contains(words, v.Str) {
		p.failf(path, "must be one of %s", strings.Join(words, ", "))
	}
	return v.Str
}

func (p *valueReader) flag(path string, v gjson.Result) bool {
	if !v.IsBool() {
		p.failf(path, "must be true or false")
	}
	return v.Type == gjson.True
}

func (p *valueReader) number(path string, v gjson.Result, low, high float64) float64 {
	if v.Type != gjson.Number || !(v.Num >= low && v.Num <= high) {
		p.failf(path, "must be a number from %s to %s", plain(low), plain(high))
		return low
	}
	return v.Num
}

func (p *valueReader) integer(path string, v gjson.Result, low, high int) int {
	if v.Type != gjson.Number || v.Num != math.Trunc(v.Num) || v.Num < float64(low) || v.Num > float64(high) {
		p.failf(path, "must be an integer from %d to %d", low, high)
		return low
	}
	return int(v.Num)
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// millis reads a whole number of milliseconds, at most a day.
func (p *valueReader) millis(path string, v gjson.Result, low int) time.Duration {
	return time.Duration(p.integer(path, v, low, 24*60*60*1000)) * time.Millisecond
}

// statuses reads a list of HTTP statuses. An empty list is not nil.
func (p *valueReader) statuses(path string, v gjson.Result) []int {
	list := []int{}
	p.upTo(MaxStatuses, path, v, func(path string, v gjson.Result) {
		list = append(list, p.integer(path, v, 100, 599))
	})
	return list
}

// texts reads a list of strings, at most MaxParams.
func (p *valueReader) texts(path string, v gjson.Result) []string {
	var list []string
	p.upTo(MaxParams, path, v, func(path string, v gjson.Result) {
		list = append(list, p.text(path, v))
	})
	return list
}

// params reads an object whose values are stored unchanged.
func (p *valueReader) params(path string, v gjson.Result) []Param {
	if !v.IsObject() {
		p.failf(path, "must be an object")
		return nil
	}
	list := []Param{}
	v.ForEach(func(k, v gjson.Result) bool {
		list = append(list, Param{k.String(), []byte(v.Raw)})
		return len(list) <= MaxParams
	})
	if len(list) > MaxParams {
		p.failf(path, "must not have more than %d fields", MaxParams)
	}
	return list
}

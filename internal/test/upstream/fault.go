package upstream

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

const (
	faultPath   = "/v1/fault/"
	faultHeader = "x-fault"
	modelPrefix = "fault:"
)

// fault is a way to go wrong. Most change the answer that would have been right.
type fault struct {
	does string                                 // for a reader of the list
	def  argument                               // the argument when none is given; its kind is that of the non-zero field
	make func(ok Response, a argument) Response // nil for those decided by the head
	head func(a string) Response                // of those decided by the head, before the body is read
}

// argument is what stands after @ in a fault.
type argument struct {
	n    int // 0 to 1,048,575
	d    time.Duration
	text string
}

// faultSpec is a fault as a request names it: name[@argument][*times][#label],
// for example "status@503*2#retry-test": the first two requests with this very
// text get it, later ones work. The label only distinguishes tests.
type faultSpec struct {
	text, name, arg string
	times           int // 0: always
}

func parseFault(text string) faultSpec {
	spec := faultSpec{text: text}
	rest, _, _ := strings.Cut(text, "#")
	if before, times, ok := strings.Cut(rest, "*"); ok {
		spec.times, _ = strconv.Atoi(times) // nonsense is "always"
		rest = before
	}
	spec.name, spec.arg, _ = strings.Cut(rest, "@")
	return spec
}

// Faults lists the names of all faults and what each does.
func Faults() map[string]string {
	out := make(map[string]string, len(faults))
	for name, f := range faults {
		out[name] = f.does
	}
	return out
}

// faults is every fault by name.
var faults = joined(connectionFaults, headFaults, statusFaults, bodyFaults, streamFaults, earlyFaults)

func joined(tables ...map[string]fault) map[string]fault {
	all := map[string]fault{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}

// Fault is the reply of a fault, for example "cut-stream@3", to a request; limits
// to a number of times do not count here. A fault that does not exist answers 501
// with a text that says so.
func (s *Server) Fault(text string, seen Seen) Response {
	spec := parseFault(text)
	f, ok := faults[spec.name]
	if !ok {
		return Text(http.StatusNotImplemented, "text/plain", "upstream: no fault "+strconv.Quote(spec.name))
	}
	s.seen.name(seen.ID, text)
	if f.make == nil { // what it did, it did before the body was read
		return s.OK(seen)
	}
	a, err := f.def.parse(spec.arg)
	if err != nil {
		return Text(http.StatusNotImplemented, "text/plain", fmt.Sprintf("upstream: fault %q: %v", text, err))
	}
	return f.make(s.OK(seen), a)
}

// parse reads an argument of the kind that a is of; "" is a itself.
func (a argument) parse(text string) (argument, error) {
	switch {
	case text == "":
		return a, nil
	case a.text != "":
		return argument{text: text}, nil
	case a.d != 0:
		d, err := time.ParseDuration(text)
		return argument{d: d}, err
	}
	n, err := strconv.ParseUint(text, 10, 20)
	return argument{n: int(n)}, err
}

// name notes the fault of a request.
func (r *record) name(id int, fault string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.list) - 1; i >= 0; i-- {
		if r.list[i].ID == id {
			r.list[i].Fault = fault
			r.notify()
			return
		}
	}
}

// namedInHead is the fault that a request's head names.
func namedInHead(seen *Seen) faultSpec {
	if text := seen.Get(faultHeader); text != "" {
		return parseFault(text)
	}
	path, query, _ := strings.Cut(seen.Target, "?")
	if text, ok := strings.CutPrefix(path, faultPath); ok {
		if plain, err := url.PathUnescape(text); err == nil {
			return parseFault(plain)
		}
	}
	values, _ := url.ParseQuery(query) // what can be read of it
	if text := values.Get("fault"); text != "" {
		return parseFault(text)
	}
	text, _ := strings.CutPrefix(values.Get("model"), modelPrefix)
	if text != values.Get("model") {
		return parseFault(text)
	}
	return faultSpec{}
}

// namedIn is the fault that a request's head or its model names.
func namedIn(seen *Seen) faultSpec {
	if spec := namedInHead(seen); spec.name != "" {
		return spec
	}
	if text, ok := strings.CutPrefix(modelOf(seen), modelPrefix); ok {
		return parseFault(text)
	}
	return faultSpec{}
}

// modelOf is the model of a JSON or form body, "" when there is none.
func modelOf(seen *Seen) string {
	kind, params, _ := mime.ParseMediaType(seen.Get("Content-Type"))
	if kind != "multipart/form-data" {
		return gjson.GetBytes(seen.Body, "model").String()
	}
	parts := multipart.NewReader(bytes.NewReader(seen.Body), params["boundary"])
	for {
		p, err := parts.NextPart()
		if err != nil {
			return ""
		}
		if p.FormName() == "model" {
			v, _ := io.ReadAll(p)
			return string(v)
		}
	}
}

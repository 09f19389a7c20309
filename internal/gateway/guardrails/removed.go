package guardrails

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// removed are the texts that the redactions of a phase removed, with what replaced them. The results
// of checks may quote the judged text: scrub redacts them, too.
type removed struct {
	with map[string]string
	full bool // more was removed than is kept: results must not quote anything
}

// Bounds of what is kept of the removed texts.
const (
	maxRemoved     = 1000
	maxRemovedText = 4096 // bytes of one
	shortestQuote  = 64   // bytes of a quote that may have been cut at its end
)

func (r *removed) add(text, with string) {
	if text == "" || text == with {
		return
	}
	if _, known := r.with[text]; known {
		return
	}
	if len(r.with) >= maxRemoved || len(text) > maxRemovedText {
		r.full = true
	}
	if r.with == nil {
		r.with = make(map[string]string)
	}
	if !r.full {
		r.with[strings.Clone(text)] = with
	}
}

func (r *removed) clone() removed { return removed{maps.Clone(r.with), r.full} }

func (r *removed) merge(o *removed) {
	r.full = r.full || o.full
	for text, with := range o.with {
		r.add(text, with)
	}
}

// scrub redacts the data of the results, and removes what was sent to services.
func (r *removed) scrub(list []Result) {
	if len(r.with) == 0 && !r.full {
		return
	}
	s := newScrubber(r)
	for i := range list {
		for k := range list[i].Checks {
			c := &list[i].Checks[k]
			c.Log = nil
			if c.Data != nil {
				c.Data = s.data(c.Data)
			}
		}
	}
}

// scrubber replaces removed texts in values of JSON.
type scrubber struct {
	texts    []string // removed, the longest first
	replacer *strings.Replacer
	full     bool
}

func newScrubber(r *removed) *scrubber {
	s := &scrubber{texts: slices.Collect(maps.Keys(r.with)), full: r.full}
	slices.SortFunc(s.texts, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	pairs := make([]string, 0, 4*len(s.texts))
	for _, text := range s.texts {
		pairs = append(pairs, text, r.with[text])
		if q := jsonedit.Quote(text); string(q[1:len(q)-1]) != text {
			pairs = append(pairs, string(q[1:len(q)-1]), r.with[text])
		}
	}
	s.replacer = strings.NewReplacer(pairs...)
	return s
}

// data returns data of a check without removed texts.
func (s *scrubber) data(v any) any {
	raw, err := json.Marshal(v)
	if err != nil || s.full {
		return metricsOf(v)
	}
	var plain any
	if json.Unmarshal(raw, &plain) != nil {
		return metricsOf(v)
	}
	return s.value(plain)
}

func (s *scrubber) value(v any) any {
	switch v := v.(type) {
	case string:
		return s.text(v)
	case []any:
		for i := range v {
			v[i] = s.value(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[s.text(name)] = s.value(member)
		}
		return out
	}
	return v
}

// text returns a text without removed texts. An excerpt may end inside of one.
func (s *scrubber) text(text string) string {
	text = s.replacer.Replace(text)
	if len(text) < shortestQuote {
		return text
	}
	bare := strings.TrimRight(text, ".\u2026")
	for _, hidden := range s.texts {
		for n := min(len(hidden)-1, len(bare)); n > 0; n-- {
			if strings.HasSuffix(bare, hidden[:n]) {
				return bare[:len(bare)-n] + text[len(bare):]
			}
		}
	}
	return text
}

// metricsOf returns the numbers, verdicts and counts of data, without any text; nil for none.
func metricsOf(data any) any {
	out := make(map[string]any)
	members, _ := data.(map[string]any)
	for name, v := range members {
		switch v := v.(type) {
		case bool, int, int64, float64, map[string]int:
			out[name] = v
		case map[string]any:
			if counts(v) {
				out[name] = v
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// counts reports whether all members of an object are numbers.
func counts(members map[string]any) bool {
	for _, v := range members {
		if _, isNumber := v.(float64); !isNumber {
			return false
		}
	}
	return len(members) > 0
}

package partner

import (
	"encoding/json"
	"io/fs"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

// Load returns the checks of other files than the embedded ones.
func Load(fsys fs.FS) ([]check.Check, error) {
	s, err := compileSet(fsys)
	if err != nil {
		return nil, err
	}
	return s.checks(), nil
}

// Fragment is a fragment of a text.
type Fragment struct {
	Start int
	Text  string
}

// Cut cuts a text into fragments of at most limit characters.
func Cut(s string, limit int) (out []Fragment) {
	for _, f := range cut(nil, 0, s, "", &limits{MaxChars: limit}) {
		out = append(out, Fragment{f.start, f.s})
	}
	return out
}

// Overlap is the number of characters that fragments share under a limit.
func Overlap(limit int) int { return min(overlapChars, limit/4) }

// Difference returns the replacements that turn one text into another.
func Difference(from, to string) []check.Edit { return difference(from, to) }

// FindPath returns the values at a path.
func FindPath(s string, doc []byte) ([]any, error) {
	p, err := parsePath(s)
	if err != nil {
		return nil, err
	}
	var root any
	if err := json.Unmarshal(doc, &root); err != nil {
		return nil, err
	}
	return p.find(root, &values{params: map[string]any{"names": []any{"A", "c"}}}), nil
}

// Build builds a template for an input with these parameters.
func Build(source []byte, in *check.Input, params map[string]any) ([]byte, error) {
	t, err := parseTemplate(source)
	if err != nil {
		return nil, err
	}
	c := chunk{}
	for i, s := range in.Texts {
		c.fragments = append(c.fragments, fragment{text: i, s: s})
	}
	value, err := t.build(&values{in: in, params: params, chunk: &c})
	if err != nil {
		return nil, err
	}
	return encode(value)
}

// BreakerOpenTime is the time for which a breaker is open.
const BreakerOpenTime = breakerOpenTime

// BreakerFailures is the number of failures that open a breaker.
const BreakerFailures = breakerFailures

// Partner is a row of PARTNERS.md.
type Partner struct {
	ID, Source, Date, OnError, Unavailable string
	Phases                                 []guardrail.Phase
	Replaces                               bool
	MaxChars, MaxTexts                     int
	Timeout                                time.Duration
}

// Partners lists the embedded checks with their sources.
func Partners() (out []Partner, err error) {
	s, err := compileSet(specFiles)
	if err != nil {
		return nil, err
	}
	for _, c := range s.specs {
		out = append(out, Partner{
			ID: c.name(), Source: c.source, Date: c.date, OnError: c.OnError, Phases: c.Phases, Timeout: c.timeout,
			Replaces: c.Redact != nil || c.Inject != nil, MaxChars: max(c.Limits.MaxChars, c.Limits.MaxCallChars), MaxTexts: c.Limits.MaxTexts,
		})
	}
	for i := range s.unavailable {
		f := &s.unavailable[i]
		out = append(out, Partner{ID: f.Partner, Source: f.Source, Date: f.Date, Unavailable: f.Unavailable})
	}
	return out, nil
}

// Redacts reports whether an embedded check can replace texts.
func Redacts(id string) bool {
	_, specs, err := load(specFiles)
	for i := range specs {
		if specs[i].name() == id {
			return specs[i].Redact != nil
		}
	}
	return err != nil
}

// ParamForms returns the forms of the parameters and credentials of the embedded checks, by
// "azure.pii credentials.pii.customHost".
func ParamForms() (map[string]string, error) {
	_, specs, err := load(specFiles)
	out := map[string]string{}
	for i := range specs {
		addForms(out, specs[i].name()+" ", specs[i].Parameters)
		addForms(out, specs[i].name()+" credentials.", specs[i].Credentials)
	}
	return out, err
}

func addForms(out map[string]string, path string, list map[string]paramSpec) {
	for name, s := range list {
		out[path+name] = s.Form
		addForms(out, path+name+".", s.Fields)
	}
}

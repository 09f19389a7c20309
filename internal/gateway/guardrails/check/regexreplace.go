package check

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/textfold"
)

// Limits of the matches in a text that are replaced one by one, and of what replaces them. Beyond
// them, the rest of the text is replaced as a whole.
const (
	maxReplacements     = 100_000
	maxReplacementBytes = 16 << 20
)

// regexReplace replaces what a pattern matches. Without the flag g it replaces the first match of each
// text; on a stream, the first match of each window.
func regexReplace() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.regexReplace", Phases: bothPhases(), Transformer: true, Params: []param.Param{
			param.Required("rule", param.SlashedPattern), param.Optional("redactText", param.Text(1024)), param.Optional("failOnDetection", param.Boolean),
		}},
		New: func(p Params, _ *Deps) (Runner, error) { return newReplaceRunner(p) },
	}
}

type replaceRunner struct {
	rule            string
	search          *searcher
	with            replacement
	all             bool // flag g
	sticky          bool // flag y: matches follow each other from the start of the text
	failOnDetection bool
}

func newReplaceRunner(p Params) (*replaceRunner, error) {
	r := &replaceRunner{rule: p.Text("rule", ""), failOnDetection: p.Bool("failOnDetection", false)}
	pattern, flags := splitRule(r.rule)
	r.all, r.sticky = strings.Contains(flags, "g"), strings.Contains(flags, "y")
	set := ""
	for _, flag := range []string{"i", "m", "s"} { // u and d change nothing in RE2
		if strings.Contains(flags, flag) {
			set += flag
		}
	}
	if set != "" {
		pattern = "(?" + set + ":" + pattern + ")"
	}
	s, err := newSearcher(pattern, "rule")
	if err != nil {
		return nil, err
	}
	r.search, r.with = s, newReplacement(p.Text("redactText", "[REDACTED]"), s.re)
	return r, nil
}

// splitRule splits "/pattern/flags"; other rules are a pattern without flags.
func splitRule(rule string) (pattern, flags string) {
	if end := strings.LastIndexByte(rule, '/'); rule != "" && rule[0] == '/' && end > 0 && strings.Trim(rule[end+1:], "gimsuyd") == "" {
		return rule[1:end], rule[end+1:]
	}
	return rule, ""
}

// Redacts implements Redactor.
func (r *replaceRunner) Redacts() bool { return true }

// Window implements Windowed.
func (r *replaceRunner) Window() int {
	if r.sticky {
		return 0
	}
	return r.search.window
}

// Run replaces the matches of each text.
func (r *replaceRunner) Run(ctx context.Context, in *Input) Result {
	ctx, cancel := withSearchTime(ctx, len(in.Text()))
	defer cancel()
	var edits []Edit
	for i := range in.Texts {
		found, err := r.edits(ctx, in.formsOf(i))
		if err != nil {
			return errorResult(err.Error(), report{"regexPattern": r.rule})
		}
		for _, e := range found {
			e.Text = i
			edits = append(edits, e)
		}
	}
	detected := len(edits) > 0
	verdict := !detected || !r.failOnDetection
	return Result{Verdict: verdict, Edits: edits, Data: report{
		"regexPattern": r.rule, "verdict": verdict, "failOnDetection": r.failOnDetection, "textExcerpt": excerpt(in.Text()),
		"explanation": choose(detected, "the pattern was found and replaced", "the pattern was not found"),
	}}
}

// edits returns the replacements in one text: those of matches in the original, and those of matches
// in its folded forms that do not overlap them.
func (r *replaceRunner) edits(ctx context.Context, forms *textForms) ([]Edit, error) {
	edits, err := r.add(ctx, nil, &textfold.Text{Folded: forms.original})
	if err != nil || len(edits) > 0 && !r.all {
		return edits, err
	}
	for _, form := range forms.folded() {
		if edits, err = r.add(ctx, edits, form); err != nil || !r.all && len(edits) > 0 {
			break
		}
	}
	return edits, err
}

// add adds the replacements of one form. edits are sorted and do not overlap; so is the result.
func (r *replaceRunner) add(ctx context.Context, edits []Edit, form *textfold.Text) ([]Edit, error) {
	matches, err := r.matches(ctx, form.Folded)
	earlier := edits
	next, size := 0, 0
	for i, at := range matches {
		if !form.Same() && at[0] == at[1] {
			continue // the original has the same empty matches
		}
		e := Edit{Kind: "MATCH"}
		e.Start, e.End = form.Original(at[0], at[1])
		if i == maxReplacements || size > maxReplacementBytes {
			return r.replaceRest(edits, form, e), err
		}
		for next < len(earlier) && earlier[next].End <= e.Start {
			next++
		}
		if next < len(earlier) && earlier[next].Start < e.End || overlapsLast(edits[len(earlier):], &e) {
			continue
		}
		e.With = r.with.expand(form.Folded, at)
		size += len(e.With)
		edits = append(edits, e)
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	return edits, err
}

// overlapsLast reports whether e begins in the same sign of the original as the edit before it ends.
func overlapsLast(edits []Edit, e *Edit) bool {
	return len(edits) > 0 && edits[len(edits)-1].End > e.Start
}

// replaceRest replaces the text from the start of e to its end as a whole.
func (r *replaceRunner) replaceRest(edits []Edit, form *textfold.Text, e Edit) []Edit {
	_, e.End = form.Original(0, len(form.Folded))
	e.With = r.with.text
	edits = slices.DeleteFunc(edits, func(o Edit) bool {
		if o.End <= e.Start {
			return false
		}
		e.Start = min(e.Start, o.Start)
		return true
	})
	edits = append(edits, e)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	return edits
}

// matches returns the offsets of the matches and their groups, at most maxReplacements and one more.
func (r *replaceRunner) matches(ctx context.Context, s string) ([][]int, error) {
	limit := 1
	if r.all {
		limit = maxReplacements + 1
	}
	found, err := r.search.findAll(ctx, s, limit)
	if r.sticky {
		end := 0
		for i, at := range found {
			if at[0] != end {
				return found[:i], err
			}
			end = at[1]
		}
	}
	return found, err
}

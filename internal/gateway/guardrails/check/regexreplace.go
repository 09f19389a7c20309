package check

import (
	"cmp"
	"context"
	"regexp"
	"regexp/syntax"
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
	re              *regexp.Regexp
	with            replacement
	all             bool // flag g
	sticky          bool // flag y: matches follow each other from the start of the text
	context         bool // the pattern reads the text before a match
	failOnDetection bool
	window          int
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
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, invalidParameter("rule", "must be a regular expression in RE2 syntax")
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, invalidParameter("rule", "must be a regular expression in RE2 syntax")
	}
	r.re, r.context, r.with = re, readsContext(tree), newReplacement(p.Text("redactText", "[REDACTED]"), re)
	if !r.sticky {
		r.window = patternWindow(re)
	}
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
func (r *replaceRunner) Window() int { return r.window }

// Run replaces the matches of each text.
func (r *replaceRunner) Run(ctx context.Context, in *Input) Result {
	var edits []Edit
	for i, text := range in.Texts {
		found, err := r.edits(ctx, text)
		if err != nil {
			return errorResult("the text was not searched in time; use a simpler pattern", report{"regexPattern": r.rule})
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
func (r *replaceRunner) edits(ctx context.Context, text string) ([]Edit, error) {
	forms := formsOf(text)
	plain := textfold.Text{Folded: text}
	edits, err := r.add(ctx, nil, &plain)
	for i := 0; i < len(forms.folded) && err == nil && (r.all || len(edits) == 0); i++ {
		edits, err = r.add(ctx, edits, &forms.folded[i])
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
func (r *replaceRunner) matches(ctx context.Context, s string) (found [][]int, err error) {
	limit := 1
	if r.all {
		limit = maxReplacements + 1
	}
	if r.all && !r.context {
		found, err = r.search(ctx, s, limit)
	} else {
		found = r.re.FindAllStringSubmatchIndex(s, limit)
	}
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

// search is FindAllStringSubmatchIndex for patterns that do not read the text before a match. It ends
// when ctx ends: the time for all matches of some patterns grows with the square of the text.
func (r *replaceRunner) search(ctx context.Context, s string, limit int) (found [][]int, err error) {
	previous := -1 // end of the previous match
	for from := 0; from <= len(s) && len(found) < limit; {
		if len(found)%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		at := r.re.FindStringSubmatchIndex(s[from:])
		if at == nil {
			break
		}
		for i := range at {
			if at[i] >= 0 {
				at[i] += from
			}
		}
		isNew := at[1] > at[0] || at[0] != previous
		if previous, from = at[1], at[1]; at[1] == at[0] {
			from += runeLength(s[at[1]:])
		}
		if isNew {
			found = append(found, at)
		}
	}
	return found, nil
}

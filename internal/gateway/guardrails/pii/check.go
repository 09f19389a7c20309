package pii

import (
	"context"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/check"
)

// maxFindings bounds the findings in one text. The rest of a text with more is one finding.
const maxFindings = 10_000

// window is the number of characters on each side of a position that the matchers read at most.
const window = 256

// List returns the check gateway.pii. The caller owns the slice.
func List() []check.Check {
	return []check.Check{{
		Definition: guardrail.Definition{
			ID:     "gateway.pii",
			Phases: []guardrail.Phase{guardrail.Input, guardrail.Output},
			Params: []param.Param{
				param.Required("categories", param.ListOf(categoryNames()...)), param.Redact, param.Not, param.Timeout,
			},
		},
		New: func(p check.Params, _ *check.Deps) (check.Runner, error) {
			set := newSet(p.List("categories"))
			if set&name != 0 {
				nameKinds() // built here, so that no call waits for it
			}
			return &runner{
				set: set, names: set.names(), redact: param.Redacts(p["redact"]), not: p.Bool("not", false),
				timeout: time.Duration(p.Number("timeout", 0)) * time.Millisecond,
			}, nil
		},
	}}
}

// runner passes texts without the selected categories, and those in which it replaced them.
type runner struct {
	set     category
	names   []string // of the set, in the order of the table
	redact  bool
	not     bool
	timeout time.Duration // 0 for none
}

// Interfaces of the engine.
var (
	_ check.Redactor = (*runner)(nil)
	_ check.Windowed = (*runner)(nil)
)

// Redacts implements check.Redactor.
func (r *runner) Redacts() bool { return r.redact }

// Window implements check.Windowed. Inverted, the check needs the complete text.
func (r *runner) Window() int {
	if r.not {
		return 0
	}
	return window
}

// Run searches each text. The data have the number of findings of each category, but no part of a text.
func (r *runner) Run(ctx context.Context, in *check.Input) check.Result {
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.timeout)
		defer cancel()
	}
	counts := make(map[string]int)
	var edits []check.Edit
	for i, text := range in.Texts {
		found, err := find(ctx, text, r.set)
		if err != nil || ctx.Err() != nil {
			return check.Failed("TimeoutError", "the texts were not searched in time; raise the parameter timeout")
		}
		for _, f := range found {
			kind := f.kind.String()
			counts[kind]++
			if r.redact {
				edits = append(edits, check.Edit{Text: i, Start: f.start, End: f.end, With: "[" + kind + "]", Kind: kind})
			}
		}
	}
	found := len(counts) > 0
	verdict := (!found || r.redact) != r.not
	return check.Result{Verdict: verdict, Edits: edits, Data: map[string]any{
		"verdict": verdict, "not": r.not, "found": found, "redacted": r.redact && found, "categories": counts, "checkedCategories": r.names,
	}}
}

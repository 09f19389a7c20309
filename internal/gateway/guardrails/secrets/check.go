package secrets

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/check"
)

const (
	// maxFindings bounds the findings in one text. The rest of a text with more is one finding.
	maxFindings = 10_000
	// maxSecretBytes bounds what one finding covers: a private key of 4096 bits is shorter.
	maxSecretBytes = 8192
	// judgeWindow is the number of characters from its beginning that decide about a secret.
	judgeWindow = 1024
)

// List returns the check gateway.secrets. The caller owns the slice.
func List() []check.Check {
	return []check.Check{{
		Definition: guardrail.Definition{
			ID:     "gateway.secrets",
			Phases: []guardrail.Phase{guardrail.Input, guardrail.Output},
			Params: []param.Param{
				param.Optional("types", param.ListOf(Types()...)), param.Redact, param.Not, param.Timeout,
			},
		},
		New: func(p check.Params, _ *check.Deps) (check.Runner, error) {
			return &runner{
				types: newTypeSet(p.List("types")), redact: param.Redacts(p["redact"]), not: p.Bool("not", false),
				timeout: time.Duration(p.Number("timeout", 0)) * time.Millisecond,
			}, nil
		},
	}}
}

// Types returns the types of secrets that the parameter types may name, sorted: "aws-access-key",
// "generic". The caller owns the slice.
func Types() []string {
	set := map[string]bool{typeURL: true, typeDatabase: true, typePrivateKey: true, typeJWT: true, typeGeneric: true}
	for i := range formats {
		set[formats[i].id] = true
	}
	for i := range infixFormats {
		set[infixFormats[i].id] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// typeSet is a set of types; nil has all.
type typeSet map[string]bool

func newTypeSet(types []string) typeSet {
	if len(types) == 0 {
		return nil
	}
	set := make(typeSet, len(types))
	for _, t := range types {
		set[t] = true
	}
	return set
}

func (s typeSet) has(id string) bool { return s == nil || s[id] }

// runner passes texts without secrets, and those in which it replaced them.
type runner struct {
	types   typeSet
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

// Window implements check.Windowed. To replace a private key, the check needs all of it; to find one, its
// beginning. Inverted, the check needs the complete text.
func (r *runner) Window() int {
	switch {
	case r.not:
		return 0
	case r.redact:
		return maxSecretBytes
	}
	return judgeWindow
}

// Run searches each text. The data have the number of findings of each type, but no part of a text.
func (r *runner) Run(ctx context.Context, in *check.Input) check.Result {
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.timeout)
		defer cancel()
	}
	counts := make(map[string]int)
	var edits []check.Edit
	for i, text := range in.Texts {
		found, err := find(ctx, text, r.types)
		if err != nil || ctx.Err() != nil {
			return check.Failed("TimeoutError", "the texts were not searched in time; raise the parameter timeout")
		}
		for _, f := range found {
			counts[f.id]++
			if r.redact {
				kind := kindName(f.id)
				edits = append(edits, check.Edit{Text: i, Start: f.start, End: f.end, With: "[" + kind + "]", Kind: kind})
			}
		}
	}
	found := len(counts) > 0
	verdict := (!found || r.redact) != r.not
	return check.Result{Verdict: verdict, Edits: edits, Data: map[string]any{
		"verdict": verdict, "not": r.not, "found": found, "redacted": r.redact && found, "types": counts,
	}}
}

// kindName returns the name of a type in masks: "SECRET_AWS_ACCESS_KEY".
func kindName(id string) string {
	return "SECRET_" + strings.ToUpper(strings.ReplaceAll(id, "-", "_"))
}

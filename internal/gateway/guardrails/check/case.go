package check

import (
	"context"
	"strings"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
)

// allUpperCase passes texts without lower-case letters from a to z.
func allUpperCase() Check {
	return caseCheck(guardrail.Definition{ID: "default.alluppercase"}, caseRunner{name: "upper", forbidden: lowerLetters})
}

// allLowerCase passes texts without capital letters from A to Z.
func allLowerCase() Check {
	return caseCheck(guardrail.Definition{ID: "default.isAllLowerCase", Aliases: []string{"default.alllowercase"}}, caseRunner{name: "lower", forbidden: capitals})
}

const (
	lowerLetters = "abcdefghijklmnopqrstuvwxyz"
	capitals     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

type caseRunner struct {
	name      string // "upper"
	forbidden string // letters of the other case
	not       bool
}

func caseCheck(d guardrail.Definition, c caseRunner) Check {
	d.Phases, d.Params = bothPhases(), []param.Param{param.Not}
	return Check{Definition: d, New: func(p Params, _ *Deps) (Runner, error) {
		r := c
		r.not = p.Bool("not", false)
		return &r, nil
	}}
}

// Run compares the ASCII letters; others do not count.
func (c *caseRunner) Run(_ context.Context, in *Input) Result {
	text := in.Text()
	data := report{"not": c.not, "textExcerpt": excerpt(text)}
	if text == "" {
		return errorResult("the text is empty", data)
	}
	uniform := !strings.ContainsAny(text, c.forbidden)
	verdict := uniform != c.not
	data["verdict"] = verdict
	data["explanation"] = choose(uniform, "all letters are "+c.name+" case", "some letters are not "+c.name+" case")
	return Result{Verdict: verdict, Data: data}
}

package classify

import (
	"context"
	"slices"
	"strings"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/classify/language"
)

// languageCheck passes texts whose language is one of a list.
func languageCheck() check.Check {
	return check.Check{
		Definition: guardrail.Definition{ID: "gateway.language", Phases: bothPhases(), Params: []param.Param{
			param.Required("language", param.LanguageCodes), param.Not, timeout,
		}},
		New: func(p check.Params, _ *check.Deps) (check.Runner, error) {
			r := &languageRunner{listed: p.List("language"), not: p.Bool("not", false)}
			for _, code := range r.listed {
				known, ok := language.Canonical(code)
				if !ok {
					return nil, invalidParameter("language", "has "+code+", which cannot be detected; use codes of "+strings.Join(language.Codes(), ", "))
				}
				r.accepted = append(r.accepted, known)
			}
			return r, nil
		},
	}
}

type languageRunner struct {
	listed   []string // as the parameters name them
	accepted []string // as language.Detect names them
	not      bool
}

// Limits below which the language of a text is a guess (our choice, not tuned on texts).
const (
	sureLetters    = 20   // a text of fewer letters is short
	sureConfidence = 0.65 // of the best guess
)

// Run compares the most likely language with the list. It passes texts whose language is not certain
// if any likely language may be accepted.
func (l *languageRunner) Run(_ context.Context, in *check.Input) check.Result {
	text := in.Text()
	if strings.TrimSpace(text) == "" {
		return empty()
	}
	guesses, letters := language.Detect(text)
	data := report{"languages": l.listed, "not": l.not, "detected": guesses}
	verdict, explanation := l.judge(guesses, letters)
	data["verdict"], data["explanation"] = verdict, explanation
	return check.Result{Verdict: verdict, Data: data}
}

func (l *languageRunner) judge(guesses []language.Guess, letters int) (verdict bool, explanation string) {
	switch {
	case letters == 0:
		return true, "the text has no letters, so it has no language; it passes"
	case len(guesses) == 0 && letters < sureLetters:
		return l.uncertain(guesses, letters)
	case len(guesses) == 0:
		return l.not, "the text is in a language that this check cannot name"
	}
	best := guesses[0]
	if best.Confidence >= sureConfidence || letters >= sureLetters && len(guesses) == 1 {
		if slices.Contains(l.accepted, best.Code) {
			return !l.not, "the language is " + best.Code + ", which is in the list"
		}
		return l.not, "the language is " + best.Code + ", which is not in the list"
	}
	return l.uncertain(guesses, letters)
}

// uncertain judges a text that several languages fit: it passes if one of them passes.
func (l *languageRunner) uncertain(guesses []language.Guess, letters int) (verdict bool, explanation string) {
	if letters < sureLetters {
		return true, "the text is too short to be certain of its language; it passes"
	}
	for _, g := range guesses {
		if slices.Contains(l.accepted, g.Code) != l.not {
			return true, "the language is not certain; " + g.Code + " is likely, so the text passes"
		}
	}
	return false, "the language is not certain, but none of the likely ones is accepted"
}

package check

import (
	"regexp/syntax"
	"slices"
)

// maxWindow is the length in characters of the longest match that a window is made for.
const maxWindow = 1024

// windowFor returns the window of a check whose findings have at most n visible characters; 0 if n is
// beyond maxWindow. It has space for an invisible sign after each of them.
func windowFor(n int) int {
	if n > maxWindow {
		return 0
	}
	return max(2*n, 1)
}

// matchLength is the result of measuring a pattern: the number of characters of its longest match,
// and of the context that it reads on each side.
type matchLength struct {
	chars   int
	context int
	bounded bool
}

// patternWindow returns the window that a pattern needs, 0 if it needs the complete text.
func patternWindow(tree *syntax.Regexp) int {
	m := measure(tree)
	if !m.bounded {
		return 0
	}
	return windowFor(m.chars + m.context)
}

// measure returns the length of the longest match of a syntax tree.
func measure(t *syntax.Regexp) matchLength {
	switch t.Op {
	case syntax.OpLiteral:
		return matchLength{chars: len(t.Rune), bounded: true}
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return matchLength{chars: 1, bounded: true}
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpBeginLine, syntax.OpEndLine:
		return matchLength{context: 1, bounded: true}
	case syntax.OpEmptyMatch, syntax.OpNoMatch:
		return matchLength{bounded: true}
	case syntax.OpCapture, syntax.OpQuest:
		return measure(t.Sub[0])
	case syntax.OpRepeat:
		return repeat(measure(t.Sub[0]), t.Max)
	case syntax.OpStar, syntax.OpPlus:
		return repeat(measure(t.Sub[0]), -1)
	case syntax.OpConcat:
		return measureAll(t.Sub, func(a, b int) int { return min(a+b, maxWindow+1) })
	case syntax.OpAlternate:
		return measureAll(t.Sub, func(a, b int) int { return max(a, b) })
	default:
		return matchLength{} // the anchors of the text depend on all of it
	}
}

// repeat measures a repetition; -1 is without limit.
func repeat(m matchLength, times int) matchLength {
	if m.chars == 0 {
		return m
	}
	m.bounded = m.bounded && times >= 0
	m.chars = min(m.chars*max(times, 1), maxWindow+1)
	return m
}

func measureAll(parts []*syntax.Regexp, join func(a, b int) int) matchLength {
	all := matchLength{bounded: true}
	for _, t := range parts {
		m := measure(t)
		all.chars = join(all.chars, m.chars)
		all.context = max(all.context, m.context)
		all.bounded = all.bounded && m.bounded
	}
	return all
}

// readsContext reports whether matches of a pattern depend on the text before them.
func readsContext(t *syntax.Regexp) bool {
	switch t.Op {
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return true
	default:
		return slices.ContainsFunc(t.Sub, readsContext)
	}
}

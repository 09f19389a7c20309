package check

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxRequired is the number of strings of a requirement.
const maxRequired = 10

// requirement is a list of strings of which each match of a pattern contains at least one. Looking for
// them is much faster than matching. The empty list requires nothing.
type requirement []requiredString

// requiredString is a part of a pattern that is a plain string.
type requiredString struct {
	text string
	fold bool // capital letters do not matter; text has ASCII characters only
	rare int  // position of the letter in text that is rarest in English, for fold
}

// isMetBy reports whether a text may have a match.
func (r requirement) isMetBy(text string) bool {
	for i := range r {
		if r[i].isIn(text) {
			return true
		}
	}
	return len(r) == 0
}

func (r *requiredString) isIn(text string) bool {
	if !r.fold {
		return strings.Contains(text, r.text)
	}
	lower := lowerASCII(r.text[r.rare])
	return r.isAround(text, lower) || upperASCII(lower) != lower && r.isAround(text, upperASCII(lower))
}

// isAround reports whether the string is in a text with this spelling of its rarest letter.
func (r *requiredString) isAround(text string, letter byte) bool {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], letter)
		if i < 0 {
			return false
		}
		start := from + i - r.rare
		if start >= 0 && start+len(r.text) <= len(text) && equalASCII(text[start:start+len(r.text)], r.text) {
			return true
		}
		from += i + 1
	}
}

func equalASCII(a, b string) bool {
	for i := range len(a) {
		if lowerASCII(a[i]) != lowerASCII(b[i]) {
			return false
		}
	}
	return true
}

func lowerASCII(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upperASCII(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// requiredBy returns the best requirement of a syntax tree.
func requiredBy(t *syntax.Regexp) requirement {
	switch t.Op {
	case syntax.OpLiteral:
		return requiredLiteral(t.Rune, t.Flags&syntax.FoldCase != 0)
	case syntax.OpCharClass:
		return requiredClass(t.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return requiredBy(t.Sub[0])
	case syntax.OpRepeat:
		if t.Min > 0 {
			return requiredBy(t.Sub[0])
		}
	case syntax.OpConcat:
		return bestRequirement(t.Sub)
	case syntax.OpAlternate:
		return anyRequirement(t.Sub)
	default: // matches of all others may be short
	}
	return nil
}

// bestRequirement returns the requirement of a concatenation: that of the part which the fewest texts
// meet.
func bestRequirement(parts []*syntax.Regexp) requirement {
	var best requirement
	for _, part := range parts {
		r := requiredBy(part)
		if n, longest := r.shortest(), best.shortest(); n > longest || n == longest && len(r) < len(best) {
			best = r
		}
	}
	return best
}

// anyRequirement returns the requirement of alternatives, nil if one of them requires nothing.
func anyRequirement(alternatives []*syntax.Regexp) requirement {
	var all requirement
	for _, a := range alternatives {
		r := requiredBy(a)
		if len(r) == 0 || len(all)+len(r) > maxRequired {
			return nil
		}
		all = append(all, r...)
	}
	return all
}

// shortest is the length of the shortest string: the longer it is, the rarer are texts that have it.
func (r requirement) shortest() int {
	shortest := 0
	for i := range r {
		if n := len(r[i].text); shortest == 0 || n < shortest {
			shortest = n
		}
	}
	return shortest
}

// requiredLiteral returns the longest part of a literal that every match spells in the same way, apart
// from ASCII capitals. With fold, k and s have spellings beyond ASCII. U+FFFD matches invalid bytes.
func requiredLiteral(runes []rune, fold bool) requirement {
	best, part := "", ""
	for _, c := range runes {
		if c == utf8.RuneError || fold && (c >= utf8.RuneSelf || strings.ContainsRune("kKsS", c)) {
			part = ""
			continue
		}
		if part += string(c); len(part) > len(best) {
			best = part
		}
	}
	if best == "" {
		return nil
	}
	return requirement{{text: best, fold: fold, rare: rarest(best)}}
}

// requiredClass returns the characters of a small class.
func requiredClass(ranges []rune) requirement {
	var all requirement
	for i := 0; i < len(ranges); i += 2 {
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			if len(all) == maxRequired || c == utf8.RuneError {
				return nil
			}
			all = append(all, requiredString{text: string(c)})
		}
	}
	return all
}

// byFrequency are characters from frequent to rare in English text. All others are rarer.
const byFrequency = " etaoinshrdlcumwfgypbvkjxqz"

// rarest returns the position of the rarest character of an ASCII string.
func rarest(s string) int {
	position, rank := 0, -1
	for i := range len(s) {
		r := strings.IndexByte(byFrequency, lowerASCII(s[i]))
		if r < 0 {
			return i
		}
		if r > rank {
			position, rank = i, r
		}
	}
	return position
}

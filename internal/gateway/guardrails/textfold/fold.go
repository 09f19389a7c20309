// Package textfold brings text into the form in which checks compare it: compatibility forms become
// plain letters, invisible signs disappear, and letters of other scripts that look like Latin ones
// become those. A finding in the folded text is mapped back to the bytes of the original.
package textfold

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Text is a folded text. The zero value is the empty text. It is read-only after Fold, so it is safe for
// concurrent use.
type Text struct {
	Folded string
	// origin maps Folded to the original; nil if both texts are equal.
	origin origin
}

// Same reports whether the folded text equals the original.
func (t *Text) Same() bool { return t.origin == nil }

// Original returns the part of the original that the part [start, end) of the folded text comes from, in
// bytes. It contains whole characters, and the invisible signs between and after them.
func (t *Text) Original(start, end int) (int, int) {
	if t.origin == nil {
		return start, end
	}
	from, to := t.origin.segment(start)
	switch {
	case start >= end:
		return from, from
	case end > start+1:
		_, to = t.origin.segment(end - 1)
	}
	return from, to
}

// Fold folds a text of less than 2 GB. Text that folding does not change is returned as it is, without
// allocation.
func Fold(s string) Text { return fold(s, true) }

// FoldSigns is Fold without the letters of other scripts, for comparison with text that is written in
// one of these scripts: "сло\u00adво" becomes "слово".
func FoldSigns(s string) Text { return fold(s, false) }

func fold(s string, letters bool) Text {
	first := firstChange(s, letters)
	if first == len(s) {
		return Text{Folded: s}
	}
	f := folder{out: make([]byte, 0, len(s)), letters: letters}
	f.out = append(f.out, s[:first]...)
	f.origin.addUnchanged(first)
	var it norm.Iter
	it.InitString(norm.NFKC, s[first:])
	for !it.Done() {
		at := first + it.Pos()
		f.add(it.Next(), at)
	}
	if string(f.out) == s {
		return Text{Folded: s}
	}
	return Text{Folded: string(f.out), origin: f.origin.finish(len(f.out), len(s))}
}

// folder collects a folded text.
type folder struct {
	out     []byte
	origin  originBuilder
	letters bool
}

// add appends a normalised segment that begins at an offset of the original.
func (f *folder) add(segment []byte, at int) {
	begin := len(f.out)
	for len(segment) > 0 {
		r, n := utf8.DecodeRune(segment)
		plain, found := "", false
		if r >= utf8.RuneSelf && f.letters {
			plain, found = lookAlike(r)
		}
		switch {
		case IsInvisible(r):
		case found:
			f.out = append(f.out, plain...)
		default:
			f.out = append(f.out, segment[:n]...)
		}
		segment = segment[n:]
	}
	if len(f.out) > begin {
		f.origin.add(begin, at)
	}
}

// firstChange returns an offset before which folding leaves all bytes as they are; the length if it
// changes none. The text before the offset does not combine with what follows it.
func firstChange(s string, letters bool) int {
	boundary := 0 // offset of the last ASCII character
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			boundary = i
			i++
			continue
		}
		end := i
		for end < len(s) && s[end] >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[end:])
			if r == utf8.RuneError || IsInvisible(r) || letters && isLookAlike(r) {
				return boundary
			}
			end += n
		}
		if !norm.NFKC.IsNormalString(s[boundary:end]) {
			return boundary
		}
		i = end
	}
	return len(s)
}

// IsInvisible reports whether a sign is not a letter of its own: format characters such as the soft hyphen and
// the zero-width signs, variation selectors, fillers, and combining marks for letters of Europe, such as
// the stroke through a letter. Folding composes a mark with its letter where there is one sign for both.
func IsInvisible(r rune) bool {
	switch {
	case r < 0xAD, r > 0x070F && r < 0x0890, r >= 0x3165 && r < 0xFE00:
		return false
	case r == 0x00AD, r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFFA0,
		r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF:
		return true
	case r >= 0x0300 && r <= 0x036F, r >= 0x1AB0 && r <= 0x1AFF, r >= 0x1DC0 && r <= 0x1DFF, r >= 0x20D0 && r <= 0x20FF, r >= 0xFE20 && r <= 0xFE2F:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// lookAlike returns the Latin letters that a letter looks like.
func lookAlike(r rune) (plain string, found bool) {
	if r >= 0x0590 && r < 0x1D00 || r >= 0x1E00 && r < 0xA700 || r >= 0xAC00 {
		return "", false // scripts without any
	}
	plain, found = lookAlikes[r]
	return plain, found
}

func isLookAlike(r rune) bool {
	_, found := lookAlike(r)
	return found
}

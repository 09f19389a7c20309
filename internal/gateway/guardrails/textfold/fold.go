// Package textfold brings text into the form in which checks compare it: compatibility forms become
// plain letters, invisible signs disappear, and letters of other scripts that look like Latin ones
// become those. A finding in the folded text is mapped back to the bytes of the original.
package textfold

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Text is a folded text.
type Text struct {
	Folded string
	// offsets[i] is the offset in the original of byte i of Folded; nil if both texts are equal. It has
	// one more element, for the end.
	offsets []int
	length  int
}

// Same reports whether the folded text equals the original.
func (t *Text) Same() bool { return t.offsets == nil }

// Original returns the part of the original that the part [start, end) of the folded text comes from.
func (t *Text) Original(start, end int) (int, int) {
	if t.offsets == nil {
		return start, end
	}
	if start >= end {
		return t.offsets[start], t.offsets[start]
	}
	return t.offsets[start], t.after(end)
}

// after returns the end, in the original, of the sign that the byte before end comes from.
func (t *Text) after(end int) int {
	last := t.offsets[end-1]
	for ; end < len(t.offsets); end++ {
		if t.offsets[end] != last {
			return t.offsets[end]
		}
	}
	return t.length
}

// Fold folds a text. Text that folding does not change is returned as it is, without allocation.
func Fold(s string) Text { return fold(s, true) }

// FoldSigns is Fold without the letters of other scripts, for comparison with text that is written in
// one of these scripts: "сло\u00adво" becomes "слово".
func FoldSigns(s string) Text { return fold(s, false) }

func fold(s string, letters bool) Text {
	first := firstChange(s, letters)
	if first == len(s) {
		return Text{Folded: s, length: len(s)}
	}
	f := folder{out: make([]byte, 0, len(s)), offsets: make([]int, 0, len(s)+1), letters: letters}
	for i := range first {
		f.out, f.offsets = append(f.out, s[i]), append(f.offsets, i)
	}
	var it norm.Iter
	it.InitString(norm.NFKC, s[first:])
	for !it.Done() {
		at := first + it.Pos()
		f.add(it.Next(), at)
	}
	if string(f.out) == s {
		return Text{Folded: s, length: len(s)}
	}
	return Text{Folded: string(f.out), offsets: append(f.offsets, len(s)), length: len(s)}
}

// folder collects a folded text.
type folder struct {
	out     []byte
	offsets []int
	letters bool
}

// add appends a normalised segment that begins at an offset of the original.
func (f *folder) add(segment []byte, at int) {
	for len(segment) > 0 {
		r, n := utf8.DecodeRune(segment)
		plain, found := "", false
		if r >= utf8.RuneSelf && f.letters {
			plain, found = lookAlike(r)
		}
		switch {
		case isInvisible(r):
		case found:
			f.out = append(f.out, plain...)
		default:
			f.out = append(f.out, segment[:n]...)
		}
		segment = segment[n:]
	}
	for len(f.offsets) < len(f.out) {
		f.offsets = append(f.offsets, at)
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
			if r == utf8.RuneError || isInvisible(r) || letters && isLookAlike(r) {
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

// isInvisible reports whether a sign is not shown: format characters such as the soft hyphen and the
// zero-width signs, variation selectors, fillers, and combining marks that only join letters.
func isInvisible(r rune) bool {
	switch {
	case r < 0xAD, r > 0x070F && r < 0x0890, r >= 0x3165 && r < 0xFE00:
		return false
	case r == 0x00AD, r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFFA0,
		r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF:
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

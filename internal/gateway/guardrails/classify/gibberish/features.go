package gibberish

import (
	"strings"
	"unicode"
)

// Features are shares from 0 to 1.
type Features [7]float64

// counts are what the features of a part of a text are computed from.
type counts struct {
	letters  int // of the words that are judged
	triples  int // sequences of three letters
	cost     int // of all triples, from the table
	unseen   int // triples that no language has
	odd      int // letters of words whose mean cost is high
	keys     int // letters that follow their neighbour on the keyboard, in runs of at least three
	repeated int // letters that equal the one or two before
	vowels   int
	signs    int // characters of words that have neither letters nor digits
	others   int // characters of words that are not judged
}

func (c *counts) add(o *counts) {
	c.letters += o.letters
	c.triples += o.triples
	c.cost += o.cost
	c.unseen += o.unseen
	c.odd += o.odd
	c.keys += o.keys
	c.repeated += o.repeated
	c.vowels += o.vowels
	c.signs += o.signs
	c.others += o.others
}

// features returns the shares.
func (c *counts) features() Features {
	letters, triples := float64(max(c.letters, 1)), float64(max(c.triples, 1))
	all := float64(max(c.letters+c.signs+c.others, 1))
	return Features{
		float64(c.cost) / triples / unseenCost,
		float64(c.unseen) / triples,
		float64(c.odd) / letters,
		float64(c.keys) / letters,
		float64(c.repeated) / letters,
		float64(c.vowels) / letters,
		float64(c.signs) / all,
	}
}

// Limits of the parts of a text.
const (
	blockWords = 12  // words of a block; two blocks are judged together
	wordBytes  = 64  // longer words are judged in parts
	highCost   = 165 // mean cost of a word from which it is odd
	unseenCost = 255 // cost of a triple that no language has
)

// reader splits a text into words and counts them.
type reader struct {
	text  string
	at    int
	table []byte
	plain [wordBytes]byte // the letters of a word, 0 for a
}

// block counts the next words and reports whether there are more.
func (r *reader) block(c *counts) bool {
	for range blockWords {
		word := r.word()
		if word == "" {
			return false
		}
		r.count(word, c)
	}
	return true
}

// word returns the next word between white space, or a part of a long one; empty at the end.
func (r *reader) word() string {
	for r.at < len(r.text) && isSpace(r.text[r.at]) {
		r.at++
	}
	start := r.at
	for r.at < len(r.text) && r.at-start < wordBytes && !isSpace(r.text[r.at]) {
		r.at++
	}
	return r.text[start:r.at]
}

func isSpace(c byte) bool { return c <= ' ' || c == ',' || c == ';' || c == '-' || c == '\'' }

// count adds a word.
func (r *reader) count(word string, c *counts) {
	trimmed := trim(word)
	if trimmed == "" {
		c.countSigns(word)
		return
	}
	n, ok := r.letters(trimmed)
	if !ok || n < 2 || isAcronym(trimmed) {
		c.others += len(word)
		return
	}
	countWord(r.plain[:n], r.table, c)
}

// markup are the signs of tables, lists, headings and lines. They do not count.
const markup = "|-=*#_:+.`~"

// countSigns adds a word without letters and digits.
func (c *counts) countSigns(word string) {
	for i := range len(word) {
		if strings.IndexByte(markup, word[i]) < 0 {
			c.signs++
		} else {
			c.others++
		}
	}
}

// trim returns a word without punctuation and symbols at its ends.
func trim(word string) string {
	if first, last := word[0]|0x20, word[len(word)-1]|0x20; first >= 'a' && first <= 'z' && last >= 'a' && last <= 'z' {
		return word
	}
	return strings.TrimFunc(word, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) })
}

// letters fills plain with the letters of a word. It reports false for a word that has other characters.
func (r *reader) letters(word string) (n int, ok bool) {
	for _, ch := range word {
		p := plainLetter(ch)
		if p < 0 || n == len(r.plain) {
			return 0, false
		}
		r.plain[n] = byte(p)
		n++
	}
	return n, true
}

// plainLetter returns the position in the alphabet of a Latin letter without its accents; -1 for other
// characters.
func plainLetter(r rune) int {
	switch {
	case r >= 'a' && r <= 'z':
		return int(r - 'a')
	case r >= 'A' && r <= 'Z':
		return int(r - 'A')
	case r >= 0xC0 && r < 0xC0+rune(len(accented)) && accented[r-0xC0] != '.':
		return int(accented[r-0xC0] - 'a')
	case r >= 0x1EA0 && r < 0x1EFA:
		return vietnamese(r)
	}
	return -1
}

// accented are the plain letters of the characters from U+00C0 to U+017F; a dot for none.
const accented = "aaaaaaaceeeeiiiidnooooo.ouuuuytsaaaaaaaceeeeiiiidnooooo.ouuuuyty" +
	"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"

// vietnamese returns the position of a letter from U+1EA0 to U+1EF9.
func vietnamese(r rune) int {
	switch {
	case r < 0x1EB8:
		return 'a' - 'a'
	case r < 0x1EC8:
		return 'e' - 'a'
	case r < 0x1ECC:
		return 'i' - 'a'
	case r < 0x1EE4:
		return 'o' - 'a'
	case r < 0x1EF2:
		return 'u' - 'a'
	}
	return 'y' - 'a'
}

// isAcronym reports whether a word has at most five letters, all capital.
func isAcronym(word string) bool {
	if len(word) > 5 {
		return false
	}
	for i := range len(word) {
		if word[i] < 'A' || word[i] > 'Z' {
			return false
		}
	}
	return true
}

// keyboard are the rows of common keyboards, forwards; letters that stand together count in both directions.
var keyboard = neighbours("qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm")

func neighbours(rows ...string) (set [Letters][Letters]bool) {
	for _, row := range rows {
		for i := 1; i < len(row); i++ {
			a, b := row[i-1]-'a', row[i]-'a'
			set[a][b], set[b][a] = true, true
		}
	}
	return set
}

// vowels has a bit for each vowel.
const vowels = 1<<('a'-'a') | 1<<('e'-'a') | 1<<('i'-'a') | 1<<('o'-'a') | 1<<('u'-'a') | 1<<('y'-'a')

// countWord adds a word of letters, given by their positions in the alphabet.
func countWord(w []byte, table []byte, c *counts) {
	c.letters += len(w)
	run := 0 // letters since the last that does not follow its neighbour
	for i, l := range w {
		c.vowels += vowels >> l & 1
		if repeats(w, i) {
			c.repeated++
		}
		if i == 0 || !keyboard[w[i-1]][l] {
			run = 0
			continue
		}
		if run++; run >= 2 {
			c.keys++
		}
	}
	c.countTriples(w, table)
}

// repeats reports whether a letter continues a row such as "aaa" or "abab".
func repeats(w []byte, i int) bool {
	switch {
	case i < 2 || w[i] != w[i-2]:
		return false
	case w[i] == w[i-1]:
		return true
	}
	return i > 3 && w[i-1] == w[i-3]
}

// countTriples adds the sequences of three letters of a word.
func (c *counts) countTriples(w []byte, table []byte) {
	n := len(w) - 2
	if n < 1 {
		return
	}
	cost := 0
	for i := 2; i < len(w); i++ {
		v := int(table[(int(w[i-2])*Letters+int(w[i-1]))*Letters+int(w[i])])
		cost += v
		if v == unseenCost {
			c.unseen++
		}
	}
	c.triples += n
	c.cost += cost
	if cost > n*highCost {
		c.odd += len(w)
	}
}

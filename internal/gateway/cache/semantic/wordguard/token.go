package wordguard

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind uint8

const (
	word   kind = iota // "python", "node.js", "c++", "x"
	number             // "10", "1.2.3", "10:30"
	sign               // "%", "+", "-v"
	pause              // a comma or dash
	stop               // the end of a sentence
)

// token is a word, number or sign of a text.
type token struct {
	text    string // in lower case, unless literal
	kind    kind
	isName  bool // written with a capital letter where a common word has none
	capital bool // begins with a capital letter
	literal bool // quoted, or after a colon or line break: compared as it is
}

// isPause reports whether the token is a comma or the end of a sentence.
func (t token) isPause() bool { return !t.literal && (t.kind == pause || t.kind == stop) }

// tokenizer splits a text into tokens.
type tokenizer struct {
	text    string
	tokens  []token
	closing string // quotes that end the current quotation; "" outside quotations
	literal bool   // in the text after a colon or line break
	started bool   // inside a sentence: a capital letter here marks a name
	alone   bool   // the character before text is a space
	inWord  bool   // the character before text belongs to a word, so an apostrophe is not a quote
}

// quotes are the opening quotes and the quotes that close them.
var quotes = map[rune]string{'"': `"”`, '“': `”"“`, '„': `“”"`, '«': "»", '»': "«", '‘': "’'", '\'': "'’", '`': "`"}

func tokenize(text string) []token {
	t := tokenizer{text: strings.TrimSpace(text)}
	for t.text != "" {
		t.next()
	}
	for n := len(t.tokens); n > 0 && (t.tokens[n-1].kind == stop || t.tokens[n-1].kind == pause); n-- {
		t.tokens = t.tokens[:n-1]
	}
	clearTitleCase(t.tokens)
	return t.tokens
}

// next reads one token, or skips a character.
func (t *tokenizer) next() {
	r, size := utf8.DecodeRuneInString(t.text)
	inWord := t.inWord
	t.inWord = false
	switch {
	case inWord && t.closing == "" && isApostrophe(r):
		t.addSuffix(size)
	case isWordRune(r) || isPrefix(r) && t.startsPrefixed(size, inWord):
		t.addWord(wordLength(t.text))
	case unicode.IsSpace(r):
		t.literal = t.literal || r == '\n' && len(t.tokens) > 0
		t.skip(size)
		t.alone = true
	default:
		t.mark(r, size)
		t.skip(size)
	}
}

// startsPrefixed reports whether a prefix and a word follow: "-v". After a number, "-" is a minus.
func (t *tokenizer) startsPrefixed(size int, inWord bool) bool {
	return startsWord(t.text[size:]) && (!inWord || !startsNumber(t.text[size:]))
}

// mark reads a quote, a colon or another sign.
func (t *tokenizer) mark(r rune, size int) {
	switch {
	case t.closing != "" && strings.ContainsRune(t.closing, r):
		t.closing = ""
	case t.closing == "" && t.opensQuote(r, size):
		t.closing, t.started = quotes[r], true
	case isApostrophe(r):
	case r == ':' && strings.HasPrefix(t.text[size:], " ") && !t.alone:
		t.literal = t.literal || len(t.tokens) > 0
	default:
		t.addSign(r, size)
	}
}

func (t *tokenizer) skip(size int) {
	t.text = t.text[size:]
	t.alone = false
}

// opensQuote reports whether r begins a quotation. An apostrophe does if a word follows.
func (t *tokenizer) opensQuote(r rune, size int) bool {
	if _, ok := quotes[r]; !ok {
		return false
	}
	return r != '\'' && r != '‘' || startsWord(t.text[size:])
}

// addSign adds a character that is not part of a word.
func (t *tokenizer) addSign(r rune, size int) {
	if strings.ContainsRune("¿¡\"“”„«»‘`", r) {
		return
	}
	added := token{text: string(r), kind: t.signKind(r, size), literal: t.isLiteral()}
	switch {
	case added.kind == pause:
		added.text = ","
	case added.kind == stop:
		t.started = t.started && added.literal
	case isDash(r) && !added.literal:
		added.text = "-"
	}
	t.tokens = append(t.tokens, added)
}

// signKind returns the kind of a character: a dash before a number is a minus, and punctuation
// between spaces is quoted, as in "the ? operator".
func (t *tokenizer) signKind(r rune, size int) kind {
	switch {
	case isDash(r) && startsNumber(t.text[size:]), isPunctuation(r) && t.alone && len(t.text) > size:
		return sign
	case strings.ContainsRune(".?!;…。？！", r):
		return stop
	case !t.isLiteral() && (isDash(r) || strings.ContainsRune(",:•", r)):
		return pause
	}
	return sign
}

func (t *tokenizer) isLiteral() bool { return t.literal || t.closing != "" }

// suffixes are the contractions of English, and what they mean.
var suffixes = map[string]string{"s": "'s", "m": "am", "re": "are", "ve": "have", "d": "would", "ll": "will"}

// addSuffix reads an apostrophe after a word, and what follows it: "what's", "I'm".
func (t *tokenizer) addSuffix(size int) {
	t.skip(size)
	n := strings.IndexFunc(t.text, func(r rune) bool { return !unicode.IsLetter(r) })
	if n < 0 {
		n = len(t.text)
	}
	if meaning, ok := suffixes[strings.ToLower(t.text[:n])]; ok && !t.isLiteral() {
		t.tokens = append(t.tokens, token{text: meaning})
		t.skip(n)
	}
}

// addWord reads a word or number of n bytes.
func (t *tokenizer) addWord(n int) {
	text := t.text[:n]
	t.skip(n)
	switch {
	case t.isLiteral(), strings.HasPrefix(text, "-"), strings.Contains(text, "_"):
		t.tokens = append(t.tokens, token{text: text, kind: kindOf(text), literal: true})
	default:
		t.addPlainWord(text)
	}
	t.started, t.inWord = true, true
	if strings.HasPrefix(t.text, "-") && startsWord(t.text[1:]) && (kindOf(text) != number || !startsNumber(t.text[1:])) {
		t.skip(1) // a hyphen: "two-factor" is two words
	}
}

// addPlainWord adds a word outside quotations: "don't" is two words.
func (t *tokenizer) addPlainWord(text string) {
	lower := strings.ToLower(text)
	isName := isCapital(text) && t.started || len(text) > 1 && text == strings.ToUpper(text) && text != lower
	switch verb, negative := strings.CutSuffix(strings.ReplaceAll(lower, "’", "'"), "n't"); {
	case negative && verb == "ca":
		t.tokens = append(t.tokens, token{text: "can"}, token{text: "not"})
	case negative && verb == "wo":
		t.tokens = append(t.tokens, token{text: "will"}, token{text: "not"})
	case negative:
		t.tokens = append(t.tokens, token{text: verb}, token{text: "not"})
	case lower == "cannot":
		t.tokens = append(t.tokens, token{text: "can"}, token{text: "not"})
	default:
		t.tokens = append(t.tokens, token{text: lower, kind: kindOf(text), isName: isName && lower != "i", capital: isCapital(text)})
	}
}

func kindOf(text string) kind {
	if text[0] >= '0' && text[0] <= '9' {
		return number
	}
	return word
}

// clearTitleCase removes the mark of names from a text that writes most words with a capital letter,
// such as a headline or German.
func clearTitleCase(tokens []token) {
	words, names := 0, 0
	for _, t := range tokens {
		if t.kind == word && !t.literal {
			words++
		}
		if t.isName {
			names++
		}
	}
	if names < 3 || names*3 < words*2 {
		return
	}
	for i := range tokens {
		tokens[i].isName = false
	}
}

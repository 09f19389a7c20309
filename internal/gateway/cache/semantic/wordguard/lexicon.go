package wordguard

import (
	_ "embed" // the lexicons
	"slices"
	"strings"
	"sync"
)

// lexicon is what Compare reads of a language. A line of its file is "name: values" or
// "name argument: values", with values separated by spaces, or by | if they are phrases.
//
//	detect     words that mark a text as being in the language
//	article G  words without a meaning that begin a noun phrase, of the gender G if they have one
//	contracted G   prepositions that contain such an article
//	drop       other words without a meaning: auxiliary verbs
//	perfect    forms of "have", which are dropped before a participle
//	support    forms of "do", which are dropped before other words
//	manner     the "like" of "what is it like"
//	topic      names of tools, which are names in lower case too
//	past, present   auxiliary verbs of the two tenses
//	polite     phrases that are removed everywhere
//	negation   words that mean "not"
//	own X      possessive words of person X
//	person X   pronouns of person X
//	role X     prepositions that give the words after them role X
//	number N   words for a number
//	frame      phrases before a request: "can you"
//	intent     phrases before what a person wants, if a question follows: "I want to"
//	question K phrases that begin a question of kind K
//	degree N   phrases that ask for the degree N: "how tall is" is "the height of"
//	same       words with one meaning
//	names      names of one thing
//	be         forms of "to be", which make a passive
//	past verbs "wrote>write" in lines of "past"
//	frozen     words that are not an inflection of another word
//	prefix     separable prefixes of verbs
//	literal    words after which the exact wording counts: "translate", "rhyme"
//	nouns      "capital" if nouns begin with a capital letter, so that it does not mark names
//	spelling   pairs of endings that are spelled in two ways
//	ending, verb ending, past ending   pairs of endings that one word may have; a single value is
//	           an ending that the other word does not have
type lexicon struct {
	words     map[string]map[string]string // by name and word: the argument
	phrases   map[string][]phrase          // frames, questions, degrees, polite phrases by first word; the longest first
	groups    map[string][]int             // the "same" lines that contain a word
	names     map[string][]int             // the same for "names" lines
	pastForms map[string]string            // "wrote": "write"
	endings   []ending
	spellings [][2]string // endings, and what replaces them
	groupsLen int
}

// ending is a pair of endings that an inflected word may have.
type ending struct {
	kind string // "", "verb" or "past"
	base string // "e" in "write"
	form string // "ing" in "writing"
}

// phrase is a sequence of words with a function.
type phrase struct {
	name, argument string // "question", "howto"
	words          []string
}

var (
	//go:embed lexicon/en.txt
	english string
	//go:embed lexicon/de.txt
	german string
	//go:embed lexicon/es.txt
	spanish string
)

var lexicons = sync.OnceValue(func() []*lexicon {
	return []*lexicon{parseLexicon(english), parseLexicon(german), parseLexicon(spanish)}
})

func parseLexicon(text string) *lexicon {
	l := &lexicon{
		words: map[string]map[string]string{}, groups: map[string][]int{}, names: map[string][]int{},
		pastForms: map[string]string{}, phrases: map[string][]phrase{},
	}
	for line := range strings.Lines(text) {
		head, values, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(head, "#") {
			continue
		}
		l.addLine(head, values)
	}
	for _, p := range l.phrases {
		slices.SortStableFunc(p, func(a, b phrase) int { return len(b.words) - len(a.words) })
	}
	return l
}

func (l *lexicon) addLine(head, values string) {
	name, argument, _ := strings.Cut(head, " ")
	switch {
	case strings.HasSuffix(head, "ending"):
		l.addEndings(strings.TrimSuffix(head, "ending"), values)
	case name == "frame" || name == "intent" || name == "question" || name == "degree" || name == "polite":
		l.addPhrases(name, argument, values)
	case name == "spelling":
		for pair := range strings.SplitSeq(values, " | ") {
			from, to, _ := strings.Cut(pair, " ")
			l.spellings = append(l.spellings, [2]string{from, to})
		}
	case name == "same":
		l.addGroup(l.groups, values)
	case name == "names":
		l.addGroup(l.names, values)
	default:
		l.addWords(name, argument, values)
	}
}

// addGroup adds a line of words with one meaning.
func (l *lexicon) addGroup(groups map[string][]int, values string) {
	l.groupsLen++
	for _, w := range strings.Fields(values) {
		groups[w] = append(groups[w], l.groupsLen)
	}
}

func (l *lexicon) addWords(name, argument, values string) {
	if l.words[name] == nil {
		l.words[name] = map[string]string{}
	}
	for _, w := range strings.Fields(values) {
		if form, base, ok := strings.Cut(w, ">"); ok {
			l.pastForms[form] = base
			continue
		}
		if _, ok := l.words[name][w]; !ok {
			l.words[name][w] = argument
		}
	}
}

// addPhrases adds each phrase twice if it has accents: many people leave them out.
func (l *lexicon) addPhrases(name, argument, values string) {
	for text := range strings.SplitSeq(values, " | ") {
		variants := []string{text}
		if plain := accents.Replace(text); plain != text {
			variants = append(variants, plain)
		}
		for _, variant := range variants {
			var words []string
			for _, t := range tokenize(variant) {
				words = append(words, t.text)
			}
			l.phrases[words[0]] = append(l.phrases[words[0]], phrase{name: name, argument: argument, words: words})
		}
	}
}

var accents = strings.NewReplacer("á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u")

func (l *lexicon) addEndings(kind, values string) {
	for pair := range strings.SplitSeq(values, " | ") {
		base, form, two := strings.Cut(pair, " ")
		if !two {
			base, form = "", base
		}
		l.endings = append(l.endings, ending{kind: strings.TrimSpace(kind), base: base, form: form})
	}
}

// respell gives a word the spelling that the lexicon uses: "summarise" becomes "summarize".
func (l *lexicon) respell(word string) string {
	for _, pair := range l.spellings {
		if start, ok := strings.CutSuffix(word, pair[0]); ok && len(start) > 2 {
			return start + pair[1]
		}
	}
	return word
}

func (l *lexicon) has(name, word string) bool {
	_, ok := l.words[name][word]
	return ok
}

// argument returns the argument of a word in lines of a name: "to" for "into" in "role".
func (l *lexicon) argument(name, word string) (string, bool) {
	argument, ok := l.words[name][word]
	return argument, ok
}

// commonLexicon returns the lexicon of the language of both texts. It reports false if they are in
// two languages, and nil if their language has no lexicon.
func commonLexicon(a, b []token) (*lexicon, bool) {
	x, y := detect(a), detect(b)
	switch {
	case x == nil:
		return y, true
	case y == nil || x == y:
		return x, true
	}
	return nil, false
}

// detect returns the lexicon with the most words in a text; nil for none, and for two that fit.
func detect(tokens []token) *lexicon {
	var best *lexicon
	maxCount := 0
	for _, l := range lexicons() {
		n := 0
		for _, t := range tokens {
			if !t.literal && l.has("detect", t.text) {
				n++
			}
		}
		switch {
		case n > maxCount:
			best, maxCount = l, n
		case n == maxCount:
			best = nil // two languages fit
		}
	}
	return best
}

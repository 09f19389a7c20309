package wordguard

import (
	"slices"
	"strings"
)

// reading is what a text contains that counts.
type reading struct {
	lexicon       *lexicon
	question      string   // kind of the question: "howto", "what"; "" for a text without one
	owners        []string // "my" and "your" in their order, each change once
	past, present bool     // has an auxiliary verb in the tense
	did           bool     // has "did", so verbs are in the base form
	be            bool     // has a form of "to be", so verbs may be in the passive
	lowerCase     bool     // has no capital letter
	synonyms      bool     // has two words with one meaning, such as "begin or start"
	items         []item
}

// item is a word, number or sign that counts.
type item struct {
	text    string
	role    string // of the phrase it is in: "from" in "from London"; "" for none
	chunk   int    // number of the phrase it is in
	number  bool
	literal bool
	isName  bool
	gender  string // of its article; "" if it has none, or one for all genders
	verbal  bool   // follows "to", a pronoun or the question words, as a verb does
}

// negated is the text of each negation.
const negated = "not"

// reader builds a reading from tokens.
type reader struct {
	reading
	exact bool   // the wording counts: no word is dropped
	role  string // of the phrase that begins
	prep  string // preposition without words yet; "" for none
	verb  bool   // the next word may be a verb
	fresh bool   // the next item begins a phrase
	chunk int    // number of the current phrase

	gender string  // of the article before the next item
	next   []token // after the current one
}

// read reads tokens in a language.
func read(tokens []token, l *lexicon) reading {
	r := reader{reading: reading{lexicon: l}}
	r.lowerCase = !slices.ContainsFunc(tokens, func(t token) bool { return t.capital })
	tokens = moveTopic(tokens, l)
	for _, t := range tokens {
		r.noteTense(t)
	}
	r.exact = r.needsExactWords(tokens)
	tokens = trimPauses(r.takePhrases(tokens))
	for i, t := range tokens {
		r.next = tokens[i+1:]
		r.add(t)
	}
	r.closePreposition()
	r.synonyms = r.hasSynonyms()
	return r.reading
}

// hasSynonyms reports whether two different words have one meaning.
func (r *reader) hasSynonyms() bool {
	words := map[int]string{}
	for _, it := range r.items {
		for _, group := range r.lexicon.groups[it.text] {
			if other, ok := words[group]; ok && other != it.text {
				return true
			}
			words[group] = it.text
		}
	}
	return false
}

// needsExactWords reports whether the text is about words, and does not quote them.
func (r *reader) needsExactWords(tokens []token) bool {
	about := false
	for _, t := range tokens {
		if t.literal {
			return false
		}
		about = about || r.lexicon.has("literal", t.text)
	}
	return about
}

func (r *reader) noteTense(t token) {
	if t.literal {
		return
	}
	r.past = r.past || r.lexicon.has("past", t.text)
	r.present = r.present || r.lexicon.has("present", t.text)
	r.did = r.did || t.text == "did"
	r.be = r.be || r.lexicon.has("be", t.text)
}

// add adds a token to the items.
func (r *reader) add(t token) {
	switch {
	case t.isPause():
		r.pause(t)
	case t.literal, t.kind == sign, r.exact && !r.isPreposition(t):
		r.addItem(item{text: t.text, literal: t.literal || t.kind == sign || r.exact, number: t.kind == number})
	case t.kind == number:
		r.addItem(item{text: plainNumber(t.text), number: true})
	default:
		r.addWord(t)
	}
}

func (r *reader) isPreposition(t token) bool { return r.lexicon.has("role", t.text) }

// addWord adds a word by its function.
func (r *reader) addWord(t token) {
	l := r.lexicon
	if t.isName && !l.has("nouns", "capital") {
		r.addItem(item{text: t.text, isName: true})
		return
	}
	if t.text == "that" && len(r.items) == 0 {
		r.addItem(item{text: t.text}) // "is that right" is not "is it right"
		return
	}
	for _, name := range functions {
		if argument, ok := l.argument(name, t.text); ok {
			r.addFunction(name, argument, t.text)
			return
		}
	}
	if t.text != "'s" {
		r.addItem(item{text: t.text, isName: t.isName})
	}
}

// functions are the names of lines for function words, in the order in which they apply.
var functions = []string{"negation", "role", "article", "number", "own", "perfect", "support", "drop", "person"}

// addFunction adds a word of a function.
func (r *reader) addFunction(name, argument, text string) {
	switch name {
	case "negation":
		r.addItem(item{text: negated})
	case "role":
		r.startPreposition(argument)
		r.gender, _ = r.lexicon.argument("contracted", text)
	case "article":
		r.startChunk()
		r.gender = argument
	case "number":
		r.addItem(item{text: argument, number: true})
	case "own":
		r.noteOwner(argument)
	case "drop":
		r.drop(text)
	case "perfect":
		r.addAuxiliary("have", r.nextIsParticiple(), text)
	case "support":
		r.addAuxiliary("do", r.hasNext(), text)
	case "person":
		r.addItem(item{text: argument})
	}
}

// hasNext reports whether the clause continues.
func (r *reader) hasNext() bool { return len(r.next) > 0 && !r.next[0].isPause() }

// addAuxiliary drops a verb that supports another one, and adds it otherwise: "I have a dog".
func (r *reader) addAuxiliary(verb string, supports bool, text string) {
	if supports {
		r.drop(text)
		return
	}
	r.addItem(item{text: verb})
}

// nextIsParticiple reports whether the next word is the participle of a perfect: "have not logged in".
func (r *reader) nextIsParticiple() bool {
	for _, t := range r.next {
		switch {
		case r.lexicon.has("negation", t.text):
			continue
		case t.text == "been":
			return true
		}
		_, irregular := r.lexicon.pastForms[t.text]
		return irregular || strings.HasSuffix(t.text, "ed")
	}
	return false
}

// pause adds a comma, except before "and", where both are correct.
func (r *reader) pause(t token) {
	r.boundary()
	if t.kind == pause && len(r.next) > 0 && !isConjunction(r.next[0].text) && r.next[0].kind != pause {
		r.addItem(item{text: ","})
		r.fresh = true
	}
}

// drop leaves out a word without a meaning. A verb may follow it.
func (r *reader) drop(text string) {
	r.startChunk()
	if text != "some" && text != "any" {
		r.role, r.prep = "", ""
	} else if !isRequest(r.question) {
		r.addItem(item{text: text}) // "are some dogs dangerous"
		return
	}
	r.verb = true
}

// noteOwner records a possessive word.
func (r *reader) noteOwner(owner string) {
	if n := len(r.owners); n == 0 || r.owners[n-1] != owner {
		r.owners = append(r.owners, owner)
	}
	r.startChunk()
}

// startPreposition gives the next words a role.
func (r *reader) startPreposition(role string) {
	r.closePreposition()
	r.role, r.prep, r.fresh, r.verb = role, role, true, role == "to"
}

// startChunk begins a phrase, which keeps the role of a preposition directly before it.
func (r *reader) startChunk() {
	r.fresh = true
	if r.prep == "" {
		r.role = ""
	}
}

// boundary ends a clause.
func (r *reader) boundary() {
	r.closePreposition()
	r.role, r.fresh, r.verb = "", true, false
}

// closePreposition adds a preposition without words as an item: "where is he from". After "how long"
// it means nothing: "how long do I boil an egg for".
func (r *reader) closePreposition() {
	if r.prep != "" && r.question != "howlong" {
		prep := r.prep
		r.role, r.fresh = "", true
		r.addItem(item{text: ">" + prep})
	}
	r.prep = ""
}

// addItem adds an item to the current phrase.
func (r *reader) addItem(it item) {
	if r.fresh {
		r.chunk++
	}
	if !it.literal && !it.isName && !r.exact {
		it.text = r.lexicon.respell(it.text)
	}
	it.gender = r.gender
	it.role, it.chunk, it.verbal = r.role, r.chunk, r.verb || len(r.items) == 0 && r.question == ""
	r.items = append(r.items, it)
	r.prep, r.verb, r.fresh, r.gender = "", false, false, ""
}

// plainNumber removes the commas between thousands: "1,000" is "1000".
func plainNumber(text string) string {
	groups := strings.Split(text, ",")
	for i, group := range groups {
		if i > 0 && len(group) != 3 || len(group) > 3 || strings.ContainsAny(group, ".:/") {
			return text
		}
	}
	return strings.Join(groups, "")
}

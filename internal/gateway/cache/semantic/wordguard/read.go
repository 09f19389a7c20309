package wordguard

import (
	"slices"
	"strings"
)

// reading is what a text contains that counts.
type reading struct {
	lexicon       *lexicon
	question      string // kind of the question: "howto", "what"; "" for a text without one
	owner         string // "my" or "your"; "" for neither or both
	past, present bool   // has an auxiliary verb in the tense
	did           bool   // has "did", so verbs are in the base form
	lowerCase     bool   // has no capital letter
	synonyms      bool   // has two words with one meaning, such as "begin or start"
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
}

// moveTopic moves a topic from the start to the end: "In Python, how do I" ends with "in Python".
func moveTopic(tokens []token, l *lexicon) []token {
	const longest = 5
	if len(tokens) == 0 || !l.has("role", tokens[0].text) {
		return tokens
	}
	for i, t := range tokens[:min(len(tokens), longest)] {
		if t.kind == pause {
			return append(slices.Clone(tokens[i+1:]), tokens[:i]...)
		}
	}
	return tokens
}

// takePhrases removes polite phrases everywhere, and at the start of each sentence the phrases that
// introduce a request or question. The first question decides the kind.
func (r *reader) takePhrases(tokens []token) []token {
	var out []token
	start := true
	for len(tokens) > 0 {
		if p, ok := r.phraseAt(tokens, start); ok {
			tokens = tokens[len(p.words):]
			if len(out) == 0 || p.name == "polite" {
				tokens = trimStart(tokens)
			}
			out, tokens = r.take(p, out, tokens)
			start = start && p.name != "question" && p.name != "degree"
			continue
		}
		start = tokens[0].kind == stop || start && tokens[0].kind == pause
		out = append(out, tokens[0])
		tokens = tokens[1:]
	}
	return out
}

// phraseAt returns the longest phrase that tokens begin with.
func (r *reader) phraseAt(tokens []token, start bool) (phrase, bool) {
	for _, p := range r.lexicon.phrases[tokens[0].text] {
		isQuestion := p.name == "question" || p.name == "degree"
		if p.name == "polite" && r.exact {
			continue // "say please"
		}
		if p.name != "polite" && (!start || isQuestion && r.question != "") {
			continue
		}
		if hasWords(tokens, p.words) && needsPhrase(p, tokens[len(p.words):]) {
			return p, true
		}
	}
	return phrase{}, false
}

// needsPhrase reports whether a phrase before rest has no meaning of its own. "I want to" has none
// if a question follows in another sentence.
func needsPhrase(p phrase, rest []token) bool {
	switch p.name {
	case "frame":
		return len(rest) > 0
	case "intent":
		return slices.ContainsFunc(rest, func(t token) bool { return t.kind == stop })
	}
	return true
}

// trimPauses removes commas and stops at both ends.
func trimPauses(tokens []token) []token {
	tokens = trimStart(tokens)
	for n := len(tokens); n > 0 && tokens[n-1].isPause(); n-- {
		tokens = tokens[:n-1]
	}
	return tokens
}

func trimStart(tokens []token) []token {
	for len(tokens) > 0 && tokens[0].isPause() && tokens[0].kind == pause {
		tokens = tokens[1:]
	}
	return tokens
}

func hasWords(tokens []token, words []string) bool {
	if len(tokens) < len(words) {
		return false
	}
	for i, w := range words {
		if tokens[i].text != w || tokens[i].literal {
			return false
		}
	}
	return true
}

// take records a phrase. A degree becomes the noun it asks for.
func (r *reader) take(p phrase, out, rest []token) (taken, left []token) {
	switch p.name {
	case "question":
		r.question = p.argument
		rest = r.takeManner(moveVerb(rest, r.lexicon))
		r.verb = p.argument == "howto"
	case "degree":
		r.question = "what"
		out = append(out, token{text: p.argument}, token{text: r.lexicon.preposition("of")})
	}
	return out, rest
}

// takeManner removes the "like" of "what is the weather like", which asks how the weather is.
func (r *reader) takeManner(tokens []token) []token {
	if r.question != "whatis" {
		return tokens
	}
	r.question = "what"
	i := slices.IndexFunc(tokens, func(t token) bool { return !t.literal && r.lexicon.has("manner", t.text) })
	if i < 0 {
		return tokens
	}
	r.question = "how"
	return slices.Delete(slices.Clone(tokens), i, i+1)
}

// preposition returns a word that gives a role.
func (l *lexicon) preposition(role string) string {
	best := ""
	for w, argument := range l.words["role"] {
		if argument == role && (best == "" || w < best) {
			best = w
		}
	}
	return best
}

// moveVerb puts the verb of a German question at the end of its sentence, where it is after "wie
// kann ich", and joins it with its prefix: "setze ich es zurück" becomes "es zurücksetze".
func moveVerb(tokens []token, l *lexicon) []token {
	if len(l.words["prefix"]) == 0 || len(tokens) < 3 || tokens[0].kind != word {
		return tokens
	}
	if subject := tokens[1].text; subject != "ich" && subject != "man" && subject != "wir" {
		return tokens
	}
	end := slices.IndexFunc(tokens, func(t token) bool { return t.kind == stop })
	if end < 0 {
		end = len(tokens)
	}
	verb, clause, rest := tokens[0], tokens[2:end], tokens[end:]
	if len(clause) == 0 {
		return tokens
	}
	if last := clause[len(clause)-1]; l.has("prefix", last.text) {
		verb.text = last.text + verb.text
		clause = clause[:len(clause)-1]
	}
	return slices.Concat(clause, []token{verb}, rest)
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
		r.addAuxiliary("do", len(r.next) > 0 && !r.next[0].isPause(), text)
	case "person":
		r.addItem(item{text: argument})
	}
}

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
	}
	r.verb = true
}

func (r *reader) noteOwner(owner string) {
	if r.owner != "" && r.owner != owner {
		owner = ""
	}
	r.owner = owner
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
// it says nothing: "how long do I boil an egg for".
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

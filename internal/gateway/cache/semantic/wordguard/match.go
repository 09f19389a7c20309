package wordguard

import (
	"slices"
	"strings"
)

// sameItems reports whether each item of x means the same as the one of y at its position.
func sameItems(a, b *reading, x, y []item) bool {
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	cases := map[[2]string]bool{}
	for i := range x {
		if !sameRole(x[i].role, y[i].role) || !sameItem(a, b, x[i], y[i]) {
			return false
		}
		cases[[2]string{x[i].gender, y[i].gender}] = true
	}
	for c := range cases {
		if c[0] != c[1] && cases[[2]string{c[1], c[0]}] {
			return false // "der Mann beißt den Hund" and "den Mann beißt der Hund"
		}
	}
	return true
}

// sameRole reports whether two roles may be one. "to" before a verb means nothing: "a function to
// reverse" is "a function that reverses".
func sameRole(a, b string) bool {
	return a == b || a == "" && isWeak(b) || b == "" && isWeak(a)
}

func isWeak(role string) bool { return role == "to" || role == "about" }

// topics are the roles that a topic at the end of a text may have: "undo a commit in git".
var topics = []string{"in", "on", "for", "with"}

// sameButTopic reports whether x and y are the same except for one word, which is a topic at the end
// of one and qualifies another word in the other: "the commit in git" and "the git commit".
func sameButTopic(a, b *reading, x, y []item) bool {
	return moveTopicWord(a, b, x, y) || moveTopicWord(b, a, y, x)
}

func moveTopicWord(a, b *reading, x, y []item) bool {
	last := len(x) - 1
	if last < 1 || len(y) != len(x) || !a.lexicon.has("topic", x[last].text) || !slices.Contains(topics, x[last].role) || x[last-1].chunk == x[last].chunk {
		return false
	}
	for i := range last {
		if y[i].role == "" && sameItem(a, b, x[last], y[i]) {
			return sameItems(a, b, x[:last], slices.Concat(y[:i], y[i+1:]))
		}
	}
	return false
}

// sameItem reports whether an item of a means the same as an item of b.
func sameItem(a, b *reading, x, y item) bool {
	switch {
	case x.literal && y.literal, x.number, y.number:
		return x.text == y.text && x.number == y.number
	case x.literal || y.literal:
		return strings.EqualFold(x.text, y.text)
	}
	return !otherGender(x.gender, y.gender) && sameCase(a, b, x, y) && sameWord(a, b, x, y)
}

// sameWord reports whether two words are equal, synonyms, or forms of one word. Names have neither:
// "Bill" is not an invoice, and "Williams" is not "William".
func sameWord(a, b *reading, x, y item) bool {
	l := a.lexicon
	switch {
	case x.text == y.text, intersects(l.names[x.text], l.names[y.text]):
		return true
	case (x.isName || y.isName) && !l.has("nouns", "capital"):
		return false
	case !a.synonyms && !b.synonyms && l.sharesGroup(x.text, y.text):
		return true
	}
	return isForm(a, b, x, y) || isForm(b, a, y, x) || l.samePast(a, b, x.text, y.text)
}

// genders are the pairs of articles that one noun cannot have. "der" and "den" are two cases of one
// gender.
var genders = map[[2]string]bool{
	{"f", "m"}:     true, // "el papa" and "la papa"
	{"der", "die"}: true, // "der See" and "die See"
	{"den", "die"}: true, {"der", "n"}: true, {"den", "n"}: true, {"die", "n"}: true, {"dem", "die"}: true,
}

func otherGender(x, y string) bool { return genders[[2]string{min(x, y), max(x, y)}] }

// sameCase reports whether both items are names, or neither is: "Apple" and "apple". A word in lower
// case may be a name if its text has no capital letter, or if the lexicon lists it as a topic. In
// German all nouns have capital letters.
func sameCase(a, b *reading, x, y item) bool {
	l := a.lexicon
	switch {
	case x.isName == y.isName, l.has("nouns", "capital"):
		return true
	case x.isName:
		return b.lowerCase || l.has("topic", y.text)
	}
	return a.lowerCase || l.has("topic", x.text)
}

// sharesGroup reports whether two words are synonyms, both in the form that the lexicon lists or
// both with the same ending.
func (l *lexicon) sharesGroup(x, y string) bool {
	if intersects(l.groups[x], l.groups[y]) {
		return true
	}
	if l.has("frozen", x) || l.has("frozen", y) {
		return false
	}
	for _, e := range l.endings {
		stemX, ok := strings.CutSuffix(x, e.form)
		if !ok {
			continue
		}
		for _, f := range l.endings {
			stemY, ok := strings.CutSuffix(y, f.form)
			if ok && e.sameInflection(f) && intersects(l.groups[stemX+e.base], l.groups[stemY+f.base]) {
				return true
			}
		}
	}
	return false
}

// sameInflection reports whether two endings express the same: the forms of a Spanish verb differ in
// the person.
func (e ending) sameInflection(f ending) bool {
	return e.kind == f.kind && (e.kind != "verb" || e.form == f.form)
}

func intersects(a, b []int) bool {
	return slices.ContainsFunc(a, func(n int) bool { return slices.Contains(b, n) })
}

// minStem is the shortest word that may have an ending, in bytes.
const minStem = 3

// isForm reports whether y is an inflection of x.
func isForm(a, b *reading, x, y item) bool {
	l := a.lexicon
	if l.has("frozen", x.text) || l.has("frozen", y.text) || l.has("nouns", "capital") && !x.isName && strings.HasSuffix(x.text, "t") {
		return false // in German, "arbeitete" is the past of "arbeitet"
	}
	for _, e := range l.endings {
		stem, ok := strings.CutSuffix(x.text, e.base)
		if ok && len(stem) >= minStem && stem+e.form == y.text && e.applies(a, b, x) {
			return true
		}
	}
	return false
}

// applies reports whether a base word x of a may be inflected in b. A request for one thing is not a
// request for several; "train" is "training" only where it is a verb, and "fail" is "failed" only
// after "did".
func (e ending) applies(a, b *reading, x item) bool {
	switch e.kind {
	case "verb":
		return x.verbal
	case "past":
		return a.did && !b.be
	}
	return x.verbal || !isRequest(a.question) && !isRequest(b.question)
}

func isRequest(question string) bool {
	return question == "make" || question == "list" || question == "suggest" || question == "give"
}

// samePast reports whether words are forms of an irregular verb: "wrote" and "written", or "wrote"
// and the "write" of "did he write".
func (l *lexicon) samePast(a, b *reading, x, y string) bool {
	baseX, pastX := l.pastForms[x]
	baseY, pastY := l.pastForms[y]
	return pastX && pastY && baseX == baseY || pastX && b.did && !a.be && baseX == y || pastY && a.did && !b.be && baseY == x
}

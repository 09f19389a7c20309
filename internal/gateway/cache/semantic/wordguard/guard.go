package wordguard

import (
	"slices"
	"strings"
)

// Result is the outcome of Compare: Equal, or what differs. It is a label for logs and metrics.
type Result string

// Results of Compare.
const (
	Equal    Result = "equal"    // the stored response may be served
	Language Result = "language" // the texts are in two languages
	Question Result = "question" // what and where, how-to and yes-or-no
	Tense    Result = "tense"    // is and was
	Owner    Result = "owner"    // my and your
	Number   Result = "number"   // a number, written in digits or in words
	Negation Result = "negation" // not, without
	Words    Result = "words"    // another word, name, sign or order
	Length   Result = "length"   // a text over the limits, and not the same
)

// MaxBytes is the longest text that Compare reads; longer texts are equal only if all bytes are. The
// same holds for texts of more than 500 words, except for case, spaces and punctuation.
const MaxBytes = 8 << 10

// maxTokens is how many words, numbers and signs of a text are compared one by one. The time grows
// with the square of their number.
const maxTokens = 500

// Compare reports whether the stored response to one text also responds to another. The order of
// the texts does not matter. It is safe for concurrent use.
func Compare(stored, current string) Result {
	if stored == current {
		return Equal
	}
	if len(stored) > MaxBytes || len(current) > MaxBytes {
		return Length
	}
	a, b := tokenize(stored), tokenize(current)
	if sameTokens(a, b) {
		return Equal
	}
	if len(a) > maxTokens || len(b) > maxTokens {
		return Length
	}
	lexicon, ok := commonLexicon(a, b)
	if !ok {
		return Language
	}
	if lexicon == nil {
		return Words
	}
	return compareReadings(read(a, lexicon), read(b, lexicon))
}

// sameTokens reports whether two texts differ in case, spaces and punctuation only.
func sameTokens(a, b []token) bool {
	a, b = withoutStops(a), withoutStops(b)
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	for i := range a {
		if a[i].text != b[i].text || a[i].isName != b[i].isName && !a[i].literal {
			return false
		}
	}
	return true
}

func withoutStops(tokens []token) []token {
	out := make([]token, 0, len(tokens))
	for _, t := range tokens {
		if t.kind != stop || t.literal {
			out = append(out, t)
		}
	}
	return out
}

// compareReadings looks for the first difference. The checks before the words give the reason a
// name; the words alone would find most of these differences too.
func compareReadings(a, b reading) Result {
	switch {
	case !sameQuestion(a.question, b.question):
		return Question
	case !sameOwners(a.owners, b.owners):
		return Owner
	case a.isPast() && b.isPresent(), b.isPast() && a.isPresent():
		return Tense
	case a.list(isNumber) != b.list(isNumber):
		return Number
	case a.list(isNegation) != b.list(isNegation):
		return Negation
	}
	formsA, formsB := a.forms(), b.forms()
	for i, x := range formsA {
		if y := formsB[i]; sameItems(&a, &b, x, y) || sameButTopic(&a, &b, x, y) {
			return Equal
		}
	}
	return Words
}

// similarQuestions are pairs of question kinds that may contain the same request. The empty kind is
// a text without a question word, such as "boiling point of water".
var similarQuestions = map[[2]string]bool{
	{"", "what"}: true, {"", "make"}: true, {"", "list"}: true, {"", "suggest"}: true, {"", "give"}: true,
	{"give", "list"}: true, {"give", "suggest"}: true, {"give", "what"}: true, {"list", "what"}: true,
}

func sameQuestion(a, b string) bool {
	return a == b || similarQuestions[[2]string{min(a, b), max(a, b)}]
}

// isPast reports whether all auxiliary verbs are in the past.
func (r *reading) isPast() bool { return r.past && !r.present }

// isPresent reports whether all auxiliary verbs are in the present.
func (r *reading) isPresent() bool { return r.present && !r.past }

// sameOwners reports whether two texts mention the same owners in one order. "The password" may be
// "my password".
func sameOwners(a, b []string) bool {
	return slices.Equal(a, b) || len(a) == 0 && len(b) == 1 || len(a) == 1 && len(b) == 0
}

// list joins the items of a kind, to compare them with another list.
func (r *reading) list(is func(item) bool) string {
	var out strings.Builder
	for _, it := range r.items {
		if is(it) {
			out.WriteString(it.text)
			out.WriteByte(' ')
		}
	}
	return out.String()
}

func isNumber(it item) bool   { return it.number }
func isNegation(it item) bool { return it.text == negated && !it.literal }

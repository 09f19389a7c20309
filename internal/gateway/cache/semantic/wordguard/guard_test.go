package wordguard_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/cache/semantic/pairstest"
	"sluice/internal/gateway/cache/semantic/wordguard"
)

func TestCompare_ServesOtherPhrasings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"case, spaces and punctuation":       {"What is the capital of France?", "what  is the capital of france"},
		"contractions":                       {"What's the capital of France?", "What is the capital of France?"},
		"polite words":                       {"Please write a haiku", "Write a haiku, thanks"},
		"a request in a question":            {"Can you recommend a restaurant in Rome?", "Recommend a restaurant in Rome"},
		"numbers in words":                   {"Give me five ideas", "Give me 5 ideas"},
		"thousands":                          {"Is 1,000 a lot?", "Is 1000 a lot?"},
		"British spelling":                   {"Summarise this article", "Summarize this article"},
		"possessor first":                    {"How do I change the language of the app?", "How can I change the app's language?"},
		"order of places":                    {"Flights from London to Paris", "Flights to Paris from London"},
		"order of what is compared":          {"What is the difference between TCP and UDP?", "What is the difference between UDP and TCP?"},
		"topic as a noun before another":     {"How do I undo the last git commit?", "How do I undo the last commit in git?"},
		"synonyms":                           {"How do I delete a folder?", "How do I remove a directory?"},
		"quotes of another form":             {"Translate 'good morning' into Spanish", "Translate “good morning” to Spanish."},
		"degrees":                            {"How tall is Mount Everest?", "What is the height of Mount Everest?"},
		"a verb at the end of a German text": {"Wie setze ich mein Passwort zurück?", "Wie kann ich mein Passwort zurücksetzen?"},
		"a Spanish verb in another form":     {"¿Cómo cambio mi contraseña?", "¿Cómo puedo cambiar mi contraseña?"},
	} {
		if got := wordguard.Compare(c[0], c[1]); got != wordguard.Equal {
			t.Errorf("%s: Compare(%q, %q) = %s, want equal", name, c[0], c[1], got)
		}
	}
}

func TestCompare_NamesTheDifference(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stored, current string
		want            wordguard.Result
	}{
		"numbers":                        {"Give me 5 ideas", "Give me six ideas", wordguard.Number},
		"a negative number":              {"Is 5 a valid offset?", "Is -5 a valid offset?", wordguard.Number},
		"negations":                      {"Is it safe?", "Is it not safe?", wordguard.Negation},
		"a contracted negation":          {"Which tests did pass?", "Which tests didn't pass?", wordguard.Negation},
		"the word that is negated":       {"Which files are new and not big?", "Which files are not new and big?", wordguard.Words},
		"names":                          {"Who is Anna?", "Who is Hannah?", wordguard.Words},
		"plural names":                   {"Who was Robin Williams?", "Who was Robin William?", wordguard.Words},
		"directions":                     {"Flights from Rome to Paris", "Flights from Paris to Rome", wordguard.Words},
		"subject and object":             {"Did Anna pay Bob?", "Did Bob pay Anna?", wordguard.Words},
		"kinds of question":              {"What is photosynthesis?", "Where is photosynthesis?", wordguard.Question},
		"tenses":                         {"Who is the CEO?", "Who was the CEO?", wordguard.Tense},
		"owners":                         {"What is my name?", "What is your name?", wordguard.Owner},
		"languages":                      {"What is the capital of France?", "Quelle est la capitale de la France ?", wordguard.Language},
		"a preposition at the end":       {"Where is he?", "Where is he from?", wordguard.Words},
		"options of a command":           {"What does ls -l do?", "What does ls -L do?", wordguard.Words},
		"operators":                      {"What does == mean?", "What does === mean?", wordguard.Words},
		"subject and object pronouns":    {"What do I owe you?", "What do you owe me?", wordguard.Words},
		"a word and its synonym":         {"Is it a car or an automobile?", "Is it a car or a car?", wordguard.Words},
		"a comma":                        {"No, dogs are allowed", "No dogs are allowed", wordguard.Words},
		"have and be":                    {"I have a dog", "I am a dog", wordguard.Words},
		"a minus":                        {"What is 5 - 3?", "What is 5, 3?", wordguard.Words},
		"quoted function words":          {"Translate 'the cat'", "Translate 'a cat'", wordguard.Words},
		"text after a colon":             {"Correct this: I has a cat", "Correct this: He has a cat", wordguard.Words},
		"text after a line break":        {"Review this code\nx = 1", "Review this code\nx = 2", wordguard.Number},
		"case in quoted text":            {"Fix this: i am here", "Fix this: I am here", wordguard.Words},
		"an added qualifier":             {"Is Python good?", "Is Python good for beginners?", wordguard.Words},
		"one or several":                 {"Suggest a name for a cat", "Suggest names for a cat", wordguard.Words},
		"a noun that looks like a verb":  {"What is a train?", "What is training?", wordguard.Words},
		"an abbreviation and a pronoun":  {"What is the history of us?", "What is the history of US?", wordguard.Words},
		"grammatical gender":             {"¿Qué es el papa?", "¿Qué es la papa?", wordguard.Words},
		"a German noun and its relative": {"Wer ist mein Mieter?", "Wer ist meine Miete?", wordguard.Words},
		"a language without a lexicon":   {"東京は大きいですか", "東京は小さいですか", wordguard.Words},
		"empty texts":                    {"", " ", wordguard.Words},
	} {
		if got := wordguard.Compare(c.stored, c.current); got != c.want {
			t.Errorf("%s: Compare(%q, %q) = %s, want %s", name, c.stored, c.current, got, c.want)
		}
		if got := wordguard.Compare(c.current, c.stored); got == wordguard.Equal {
			t.Errorf("%s: the other order is equal", name)
		}
	}
}

// TestCompare_ServesNoTrapOfTheFile reads traps that were written to break the guard.
func TestCompare_ServesNoTrapOfTheFile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/traps.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		stored, current, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if wordguard.Compare(stored, current) == wordguard.Equal || wordguard.Compare(current, stored) == wordguard.Equal {
			t.Errorf("a response to %q is served for %q", stored, current)
		}
	}
}

func TestLexicons_HaveKnownLinesOnly(t *testing.T) {
	t.Parallel()
	names := strings.Fields("detect article contracted drop perfect support past present manner polite negation own person role number " +
		"frame intent question degree same names be frozen nouns prefix literal topic spelling ending verb")
	for _, language := range []string{"en", "de", "es"} {
		text, err := os.ReadFile("lexicon/" + language + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			head, values, ok := strings.Cut(line, ": ")
			name, _, _ := strings.Cut(head, " ")
			if line != "" && line[0] != '#' && (!ok || values == "" || !slices.Contains(names, name)) {
				t.Errorf("%s: unknown line %q", language, line)
			}
		}
	}
}

func TestCompare_LongTextsMustBeTheSame(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", wordguard.MaxBytes/4)
	if got := wordguard.Compare(long, long); got != wordguard.Equal {
		t.Errorf("the same text is %s, want equal", got)
	}
	if got := wordguard.Compare(long, long+" "); got != wordguard.Length {
		t.Errorf("a longer text is %s, want length", got)
	}
}

// TestCompare_InsertedWordsMatter changes known texts by one word.
func TestCompare_InsertedWordsMatter(t *testing.T) {
	t.Parallel()
	pairs := pairstest.Known(t).Pairs
	rapid.Check(t, func(t *rapid.T) {
		original := rapid.SampledFrom(pairs).Draw(t, "pair").Stored
		words := strings.Fields(original)
		i := rapid.IntRange(0, len(words)).Draw(t, "position")
		added := rapid.SampledFrom([]string{"not", "never", "7", "seven", "Zurich", "all", "first", "without"}).Draw(t, "word")
		changed := strings.Join(slices.Insert(words, i, added), " ")
		if got := wordguard.Compare(original, changed); got == wordguard.Equal {
			t.Fatalf("%q and %q are equal", original, changed)
		}
	})
}

func FuzzCompare_IsSymmetricAndEqualForTheSameText(f *testing.F) {
	f.Add("What's the app's language?", "language of the app")
	f.Add("Wie setze ich es zurück", "wie ich")
	f.Add("\"a 'b", "-- -x ._ a.b: c\nd")
	f.Add("is of of the", "how long for")
	f.Fuzz(func(t *testing.T, a, b string) {
		if got := wordguard.Compare(a, strings.Clone(a)); got != wordguard.Equal {
			t.Fatalf("a text and itself are %s", got)
		}
		if x, y := wordguard.Compare(a, b), wordguard.Compare(b, a); (x == wordguard.Equal) != (y == wordguard.Equal) {
			t.Fatalf("%s in one order, %s in the other", x, y)
		}
	})
}

func BenchmarkCompare(b *testing.B) {
	for name, c := range map[string][2]string{
		"equal":     {"How do I merge two dictionaries in Python?", "How can I merge two dicts in Python"},
		"different": {"How do I merge two dictionaries in Python?", "How do I merge two dictionaries in Ruby?"},
		"long":      {"what is " + strings.Repeat("of a ", 240), "what are " + strings.Repeat("of a ", 240)},
		"repeated":  {"what is " + strings.Repeat("tent ", 480) + "in tent", "what is " + strings.Repeat("tent ", 480) + "on tents"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				wordguard.Compare(c[0], c[1])
			}
		})
	}
}

package language

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pemistahl/lingua-go"
)

// Guess is a language and how likely it is, from 0 to 1. The likelihoods of a text add up to 1.
type Guess struct {
	Code       string  `json:"code"` // "eng_Latn"
	Confidence float64 `json:"confidence"`
}

// Limits of the text that is read: larger texts are judged by samples of their beginning, middle and
// end.
const (
	sampleBytes = 240 // of each sample
	maxGuesses  = 3
)

// Detect returns the most likely languages of a text, the best first, at most three, and the number of
// letters that it read. It returns no guesses for a text without letters, or in a script that no
// supported language uses. It is safe for concurrent use. The first call for a script takes about
// 250 ms, because it loads models; others take less than 10 ms, whatever the length of the text.
func Detect(text string) (guesses []Guess, letters int) {
	text = sample(text)
	c := count(text)
	s := c.main()
	switch {
	case c.total == 0 || s == other:
		return nil, c.total
	case s == han:
		return []Guess{{chinese(&c), 1}}, c.total
	case single[s] != "":
		return []Guess{{single[s], 1}}, c.total
	case s == latin && isRomanizedArabic(text):
		return []Guess{{"arb_Latn", 1}}, c.total
	}
	return compare(text, s), c.total
}

// chinese returns the code of the script that most distinctive characters belong to.
func chinese(c *census) string {
	if c.traditional > c.simplified {
		return "zho_Hant"
	}
	return "zho_Hans"
}

// sample returns the whole of a short text, else its beginning, middle and end.
func sample(text string) string {
	if len(text) <= 3*sampleBytes {
		return text
	}
	middle := len(text)/2 - sampleBytes/2
	return cut(text, 0) + "\n" + cut(text, middle) + "\n" + cut(text, len(text)-sampleBytes)
}

// cut returns about sampleBytes from an offset on, without the words or characters that it cuts.
func cut(text string, from int) string {
	part := text[from:min(from+sampleBytes, len(text))]
	if from > 0 {
		part = part[boundary(part):]
	}
	for len(part) > 0 {
		r, n := utf8.DecodeLastRuneInString(part)
		if r != utf8.RuneError || n != 1 {
			break
		}
		part = part[:len(part)-1]
	}
	return part
}

// boundary returns the offset after the first word of part, or after its first broken character.
func boundary(part string) int {
	if i := strings.IndexByte(part[:min(64, len(part))], ' '); i >= 0 {
		return i + 1
	}
	i := 0
	for i < len(part) && !utf8.RuneStart(part[i]) {
		i++
	}
	return i
}

// romanized are frequent words of Arabic in Latin letters. lingua has no model of it.
var romanized = words("ana enta enti inta inti ehna huwa hiya mish mesh mafish habibi habibti wallah inshallah inshalla yalla khalas shukran ahlan marhaba " +
	"salam sabah kayf kaif keef ezayak izayak leh lesh eih shu shou feen wayn hayda hada bas kteer awi aywa aiwa tayyib tamam alhamdulillah mashallah ya3ni ya3neh 3ala 3ayez 3andi ma3 el7amdulillah a7san 7aga sa7 ba3d 3am lazem mumkin momken kol kul")

func words(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// isRomanizedArabic reports whether at least a third of the words, and two, are Arabic in Latin
// letters.
func isRomanizedArabic(text string) bool {
	found, total := 0, 0
	for w := range strings.FieldsSeq(text) {
		total++
		if romanized[strings.ToLower(strings.Trim(w, ".,!?"))] {
			found++
		}
	}
	return found >= 2 && found*3 >= total
}

// detectors have the models of one script each. They are built on first use.
var detectors = [scripts]func() lingua.LanguageDetector{
	latin: detectorOf("_Latn"), cyrillic: detectorOf("_Cyrl"), arabic: detectorOf("_Arab"), devanagari: detectorOf("_Deva"),
}

func detectorOf(script string) func() lingua.LanguageDetector {
	return sync.OnceValue(func() lingua.LanguageDetector {
		var list []lingua.Language
		for l, code := range models {
			if strings.HasSuffix(code, script) {
				list = append(list, l)
			}
		}
		return lingua.NewLanguageDetectorBuilder().FromLanguages(list...).WithLowAccuracyMode().Build()
	})
}

// cedillas replaces the Romanian letters with a comma below by those with a cedilla, which the models have.
var cedillas = strings.NewReplacer("ș", "ş", "ț", "ţ", "Ș", "Ş", "Ț", "Ţ")

// compare ranks the languages of a script.
func compare(text string, s script) []Guess {
	out := make([]Guess, 0, maxGuesses)
	for _, v := range detectors[s]().ComputeLanguageConfidenceValues(cedillas.Replace(text)) {
		code := models[v.Language()]
		if v.Value() == 0 {
			break
		}
		if i := find(out, code); i >= 0 {
			out[i].Confidence += v.Value()
		} else if len(out) < maxGuesses {
			out = append(out, Guess{code, v.Value()})
		}
	}
	if len(out) == 0 && s == devanagari {
		return []Guess{{"hin_Deva", 0.5}, {"mar_Deva", 0.5}} // lingua finds no trigrams in many of its words
	}
	return out
}

func find(list []Guess, code string) int {
	for i := range list {
		if list[i].Code == code {
			return i
		}
	}
	return -1
}

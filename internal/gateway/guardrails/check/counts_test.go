package check_test

import (
	"strings"
	"testing"
)

func TestSentenceCount_CountsMarks(t *testing.T) {
	t.Parallel()
	runCases(t, "default.sentenceCount", []verdictCase{
		{"inside the range", `{"minSentences":1,"maxSentences":2}`, []string{"One. Two!"}, true, "", `{"sentenceCount":2,"textExcerpt":"One. Two!"}`},
		{"below the range", `{"minSentences":3}`, []string{"One. Two?"}, false, "", `{"sentenceCount":2,"minSentences":3,"maxSentences":99999}`},
		{"above the range", `{"maxSentences":1}`, []string{"One. Two?"}, false, "", ""},
		{"above the range with not", `{"maxSentences":1,"not":true}`, []string{"One. Two?"}, true, "", ""},
		{"empty text has none", `{}`, nil, true, "", `{"sentenceCount":0}`},
		{"empty text is below a minimum", `{"minSentences":1}`, []string{""}, false, "", ""},
	})
	runRefusals(t, "default.sentenceCount", refusals{
		`{"minSentences":2,"maxSentences":1}`: ".maxSentences: not be less than minSentences",
		`{"minSentences":-1}`:                 ".minSentences: from 0",
	})
}

func TestWordCount_CountsFields(t *testing.T) {
	t.Parallel()
	runCases(t, "default.wordCount", []verdictCase{
		{"inside the range", `{"minWords":2,"maxWords":3}`, []string{" two\twords\n"}, true, "", `{"wordCount":2}`},
		{"several texts are one", `{"maxWords":3}`, []string{"two words", "two more"}, false, "", `{"wordCount":4}`},
		{"outside the range with not", `{"maxWords":1,"not":true}`, []string{"two words"}, true, "", `{"not":true}`},
		{"no text is an error", `{}`, nil, false, "Check error: the text is empty", ""},
	})
	runRefusals(t, "default.wordCount", refusals{
		`{"maxWords":1,"minWords":9}`: ".maxWords: maxWords must not be less",
		`{"maxWords":"many"}`:         ".maxWords: number from 0",
		`{"maxWord":1}`:               ".maxWord: unknown parameter",
	})
}

func TestCharacterCount_CountsUTF16(t *testing.T) {
	t.Parallel()
	runCases(t, "default.characterCount", []verdictCase{
		{"accents and emoji", `{"minCharacters":4,"maxCharacters":4}`, []string{"é€😀"}, true, "", `{"characterCount":4}`},
		{"above the range", `{"maxCharacters":3}`, []string{"abcd"}, false, "", ""},
		{"above the range with not", `{"maxCharacters":3,"not":true}`, []string{"abcd"}, true, "", ""},
		{"no text is an error", `{}`, []string{""}, false, "the text is empty", ""},
		{"the excerpt has 100 characters", `{}`, []string{strings.Repeat("ä", 150)}, true, "", `{"textExcerpt":"` + strings.Repeat("ä", 100) + `"}`},
	})
	runRefusals(t, "default.characterCount", refusals{
		`{"minCharacters":10,"maxCharacters":9}`: ".maxCharacters: must not be less than minCharacters",
	})
}

func TestCaseChecks_CompareASCIILetters(t *testing.T) {
	t.Parallel()
	runCases(t, "default.alluppercase", []verdictCase{
		{"capitals and signs", `{}`, []string{"ABC 12 é"}, true, "", `{"verdict":true}`},
		{"a lower-case letter", `{}`, []string{"ABc"}, false, "", ""},
		{"a lower-case letter with not", `{"not":true}`, []string{"ABc"}, true, "", ""},
		{"no text is an error", `{}`, nil, false, "the text is empty", ""},
	})
	runCases(t, "default.alllowercase", []verdictCase{
		{"small letters and signs", `{}`, []string{"abc 12 É"}, true, "", ""},
		{"a capital", `{}`, []string{"aBc"}, false, "", ""},
		{"a capital with not", `{"not":true}`, []string{"aBc"}, true, "", ""},
		{"no text is an error", `{}`, nil, false, "the text is empty", ""},
	})
	runRefusals(t, "default.isAllLowerCase", refusals{`{"not":1}`: ".not: true or false"})
}

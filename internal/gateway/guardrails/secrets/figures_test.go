package secrets_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/secrets"
)

var update = flag.Bool("update", false, "write FIGURES.md")

// The lowest precision and recall, in percent, in any language, and the number of texts.
const (
	minPrecision = 97
	minRecall    = 97
	minTexts     = 300
	minNegative  = 100
)

// labelled is a text with the values that must be found.
type labelled struct {
	id, language, text string
	values             [][2]int // byte offsets
}

// score counts findings.
type score struct{ right, wrong, missed, negative, texts int }

func (s *score) precision() float64 { return 100 * float64(s.right) / float64(max(1, s.right+s.wrong)) }
func (s *score) recall() float64    { return 100 * float64(s.right) / float64(max(1, s.right+s.missed)) }

func TestDetection_PrecisionAndRecallReachTheirFloors(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	texts, negative := readLabelled(t), 0
	for _, language := range []string{"en", "de", "es"} {
		s := measure(t, language, texts)
		if s.precision() < minPrecision || s.recall() < minRecall {
			t.Errorf("%s: precision %.1f, recall %.1f; want at least %d, %d", language, s.precision(), s.recall(), minPrecision, minRecall)
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %.1f | %.1f |\n", language, s.texts, s.negative, s.precision(), s.recall())
		negative += s.negative
	}
	if len(texts) < minTexts || negative < minNegative {
		t.Errorf("%d texts, %d of them negative; want at least %d, %d", len(texts), negative, minTexts, minNegative)
	}
	compareFigures(t, table.String())
}

// compareFigures compares the table with that in FIGURES.md, or writes it.
func compareFigures(t *testing.T, table string) {
	t.Helper()
	const start, end = "<!-- figures -->\n", "<!-- end -->\n"
	raw, err := os.ReadFile("FIGURES.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(raw), start)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("FIGURES.md lacks its marks")
	}
	want := head + start + "| Language | Texts | Negative | Precision % | Recall % |\n|---|---|---|---|---|\n" + table + end + tail
	if *update {
		if err := os.WriteFile("FIGURES.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Error("FIGURES.md is out of date; run the test with -update")
	}
}

// measure searches the texts of a language.
func measure(t *testing.T, language string, texts []labelled) score {
	t.Helper()
	var s score
	for _, l := range texts {
		if l.language != language {
			continue
		}
		s.texts++
		if len(l.values) == 0 {
			s.negative++
		}
		found := run(t, `{"redact":true}`, l.text).Edits
		for _, v := range l.values {
			if slices.ContainsFunc(found, func(e check.Edit) bool { return e.Start <= v[0] && e.End >= v[1] }) {
				s.right++
			} else {
				s.missed++
				t.Logf("missed %s in %q", l.id, l.text)
			}
		}
		for _, e := range found {
			if !slices.ContainsFunc(l.values, func(v [2]int) bool { return e.Start < v[1] && v[0] < e.End }) {
				s.wrong++
				t.Logf("wrong %s %q in %q", e.Kind, l.text[e.Start:e.End], l.text)
			}
		}
	}
	return s
}

func run(t testing.TB, parameters string, texts ...string) check.Result {
	t.Helper()
	p, err := check.ReadParams([]byte(parameters))
	if err != nil {
		t.Fatal(err)
	}
	r, err := secrets.List()[0].New(p, &check.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Run(context.Background(), &check.Input{Texts: texts})
}

func readLabelled(t testing.TB) (texts []labelled) {
	t.Helper()
	f, err := os.Open("testdata/texts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	random := rand.New(rand.NewPCG(7, 11))
	lines := bufio.NewScanner(f)
	lines.Scan() // names of the columns
	for lines.Scan() {
		columns := strings.Split(lines.Text(), "\t")
		if len(columns) != 4 {
			t.Fatalf("invalid line %q", lines.Text())
		}
		l := labelled{id: columns[0], language: columns[1]}
		l.text, l.values = build(t, columns[3], random)
		if columns[2] == "-" {
			l.values = nil
		}
		texts = append(texts, l)
	}
	return texts
}

var recipe = regexp.MustCompile(`\{\{(.*?)\}\}`)

// build returns a text with its values, and their offsets. See testdata/README.md.
func build(t testing.TB, text string, random *rand.Rand) (built string, values [][2]int) {
	t.Helper()
	var b strings.Builder
	done := 0
	for _, at := range recipe.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(strings.ReplaceAll(text[done:at[0]], `\n`, "\n"))
		start := b.Len()
		writeValue(t, &b, text[at[2]:at[3]], random)
		values = append(values, [2]int{start, b.Len()})
		done = at[1]
	}
	b.WriteString(strings.ReplaceAll(text[done:], `\n`, "\n"))
	return b.String(), values
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// alphabets are the characters of each class.
var alphabets = map[byte]string{
	'9': "0123456789", 'h': "0123456789abcdef", 'a': "0123456789abcdefghijklmnopqrstuvwxyz", 'A': base62,
	'L': "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 'U': "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
	'K': "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 'Q': "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 'w': base62 + "_-", 'b': base62 + "+/",
}

// part is a part of a recipe: a text in quotes, or a class with a number.
var part = regexp.MustCompile(`'([^']*)'|crc|n\b|([9haALUKQwb]):?(\d+)`)

func writeValue(t testing.TB, b *strings.Builder, recipe string, random *rand.Rand) {
	t.Helper()
	last := ""
	for _, m := range part.FindAllStringSubmatch(recipe, -1) {
		switch {
		case m[0] == "crc":
			b.WriteString(checksum(last))
		case m[0] == "n":
			b.WriteByte('\n')
		case m[2] != "":
			n, err := strconv.Atoi(m[3])
			if err != nil {
				t.Fatal(err)
			}
			last = randomText(alphabets[m[2][0]], n, random)
			b.WriteString(last)
		default:
			b.WriteString(m[1])
		}
	}
}

// randomText returns random characters. It begins and ends with a letter or digit, as a word does.
func randomText(alphabet string, n int, random *rand.Rand) string {
	out := make([]byte, n)
	for i := range out {
		letters := alphabet
		if i == 0 || i == n-1 {
			letters = strings.TrimRight(alphabet, "_-+/")
		}
		out[i] = letters[random.IntN(len(letters))]
	}
	return string(out)
}

// checksum returns the CRC-32 of a text in base 62, in six digits.
func checksum(text string) string {
	sum, out := crc32.ChecksumIEEE([]byte(text)), []byte("000000")
	for i := 5; i >= 0; i-- {
		out[i] = base62[sum%62]
		sum /= 62
	}
	return string(out)
}

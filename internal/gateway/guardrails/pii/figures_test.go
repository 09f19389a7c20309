package pii_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/pii"
)

var update = flag.Bool("update", false, "write FIGURES.md")

// floors are the lowest precision and recall, in percent, that each category may have in any language.
var floors = map[string]struct{ precision, recall float64 }{
	pii.EmailAddress:    {99, 99},
	pii.PhoneNumber:     {97, 95},
	pii.LocationAddress: {95, 93},
	pii.Name:            {95, 93},
	pii.IPAddress:       {98, 98},
	pii.CreditCard:      {98, 98},
	pii.SSN:             {98, 93},
	pii.IBAN:            {99, 99},
	pii.NationalID:      {98, 97},
}

const minTexts, minNegative = 300, 100

// labelled is a text with the values that must be found.
type labelled struct {
	language string
	values   []string
	text     string
}

// score counts findings.
type score struct{ right, wrong, missed, negative, texts int }

func (s *score) precision() float64 { return 100 * float64(s.right) / float64(max(1, s.right+s.wrong)) }
func (s *score) recall() float64    { return 100 * float64(s.right) / float64(max(1, s.right+s.missed)) }

func TestDetection_PrecisionAndRecallReachTheirFloors(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	for _, category := range sortedCategories() {
		texts := readLabelled(t, category)
		total := score{}
		for _, language := range []string{"en", "de", "es"} {
			s := measure(t, category, language, texts)
			if floor := floors[category]; s.precision() < floor.precision || s.recall() < floor.recall {
				t.Errorf("%s in %s: precision %.1f, recall %.1f; want at least %.1f, %.1f", category, language, s.precision(), s.recall(), floor.precision, floor.recall)
			}
			fmt.Fprintf(&table, "| %s | %s | %d | %d | %.1f | %.1f |\n", category, language, s.texts, s.negative, s.precision(), s.recall())
			total.texts, total.negative = total.texts+s.texts, total.negative+s.negative
		}
		if total.texts < minTexts || total.negative < minNegative {
			t.Errorf("%s has %d texts, %d of them negative; want at least %d, %d", category, total.texts, total.negative, minTexts, minNegative)
		}
	}
	compareFigures(t, "figures", "| Category | Language | Texts | Negative | Precision % | Recall % |\n|---|---|---|---|---|---|\n"+table.String())
}

func sortedCategories() []string {
	var names []string
	for c := range floors {
		names = append(names, c)
	}
	slices.Sort(names)
	return names
}

// figuresFile serialises changes of FIGURES.md.
var figuresFile sync.Mutex

// compareFigures compares a part of FIGURES.md with a table, or writes it.
func compareFigures(t *testing.T, part, table string) {
	t.Helper()
	figuresFile.Lock()
	defer figuresFile.Unlock()
	start, end := "<!-- "+part+" -->\n", "<!-- end of "+part+" -->\n"
	raw, err := os.ReadFile("FIGURES.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(raw), start)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("FIGURES.md lacks the marks of %s", part)
	}
	want := head + start + table + end + tail
	if *update {
		if err := os.WriteFile("FIGURES.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("%s in FIGURES.md is out of date; run the test with -update", part)
	}
}

// measure searches one category in the texts of a language.
func measure(t *testing.T, category, language string, texts []labelled) score {
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
		found := edits(t, `{"redact":true,"categories":["`+category+`"]}`, l.text)
		for _, v := range l.values {
			at := strings.Index(l.text, v)
			if covered(found, at, at+len(v)) >= needed(category, len(v)) {
				s.right++
			} else {
				s.missed++
				t.Logf("missed %q in %q", v, l.text)
			}
		}
		for _, e := range found {
			if !slices.ContainsFunc(l.values, func(v string) bool {
				at := strings.Index(l.text, v)
				return e.Start < at+len(v) && at < e.End
			}) {
				s.wrong++
				t.Logf("wrong %q in %q", l.text[e.Start:e.End], l.text)
			}
		}
	}
	return s
}

// needed is the number of bytes that must be found: half of an address or name, all of other values.
func needed(category string, size int) int {
	if category == pii.Name || category == pii.LocationAddress {
		return size / 2
	}
	return size
}

func covered(found []check.Edit, start, end int) int {
	n := 0
	for _, e := range found {
		n += max(0, min(e.End, end)-max(e.Start, start))
	}
	return n
}

// edits runs the check on a text.
func edits(t testing.TB, parameters, text string) []check.Edit {
	t.Helper()
	r := run(t, parameters, text)
	return r.Edits
}

func run(t testing.TB, parameters string, texts ...string) check.Result {
	t.Helper()
	p, err := check.ReadParams([]byte(parameters))
	if err != nil {
		t.Fatal(err)
	}
	r, err := pii.List()[0].New(p, &check.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Run(context.Background(), &check.Input{Texts: texts})
}

func readLabelled(t *testing.T, category string) (texts []labelled) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", strings.ToLower(category)+".tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan() // names of the columns
	for lines.Scan() {
		columns := strings.Split(lines.Text(), "\t")
		if len(columns) != 4 || columns[0] != category {
			t.Fatalf("%s: invalid line %q", f.Name(), lines.Text())
		}
		l := labelled{language: columns[1], text: columns[3]}
		if columns[2] != "-" {
			l.values = strings.Split(columns[2], "|")
		}
		texts = append(texts, l)
	}
	return texts
}

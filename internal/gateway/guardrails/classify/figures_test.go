package classify_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/classify/corpus"
	"sluice/internal/gateway/guardrails/classify/gibberish"
	"sluice/internal/gateway/guardrails/classify/injection"
	"sluice/internal/gateway/guardrails/classify/moderation"
)

var update = flag.Bool("update", false, "write testdata/floors.tsv and the tables of FIGURES.md")

var documents = flag.String("documents", "", "folder with Markdown files in which TestFindingsInDocuments counts findings")

// folders are the sets of test texts; testdata/README.md says when each was written.
var folders = []string{"first", "second", "third"}

// languages are the rows of a category.
var languages = []string{"all", "en", "de", "es"}

// category is a category with the file of its test texts. Those of other files without labels judge it, too.
type category struct {
	name, file string
	finds      func(t testing.TB, name, text string) bool
}

var categories = []category{
	{"hate", "hate", moderated}, {"hate/threatening", "hate", moderated},
	{"harassment", "harassment", moderated}, {"harassment/threatening", "harassment", moderated},
	{"self-harm", "selfharm", moderated}, {"self-harm/intent", "selfharm", moderated},
	{"sexual", "sexual", moderated}, {"violence", "violence", moderated}, {"violence/graphic", "violence", moderated},
	{"injection", "injection", injected}, {"gibberish", "gibberish", isGibberish},
}

func moderated(t testing.TB, name, text string) bool {
	m, err := moderation.Load()
	if err != nil {
		t.Fatal(err)
	}
	scores, err := m.Judge(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	return m.Found(scores, name)
}

func injected(t testing.TB, _, text string) bool {
	d, err := injection.Load()
	if err != nil {
		t.Fatal(err)
	}
	score, err := d.Judge(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	return score >= d.Threshold()
}

func isGibberish(t testing.TB, _, text string) bool {
	d, err := gibberish.Load()
	if err != nil {
		t.Fatal(err)
	}
	score, judged, err := d.Judge(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	return judged && score >= d.Threshold()
}

// tally counts the outcomes of a category in one language.
type tally struct{ right, false, missed int }

func (c tally) precision() float64 { return float64(c.right) / float64(max(c.right+c.false, 1)) }
func (c tally) recall() float64    { return float64(c.right) / float64(max(c.right+c.missed, 1)) }

// measure returns the outcomes of a category by language, and of "all".
func (c *category) measure(t testing.TB, texts map[string][]corpus.Text) map[string]tally {
	out := map[string]tally{}
	for file, list := range texts {
		for i := range list {
			if file != c.file && len(list[i].Labels) > 0 {
				continue
			}
			found, labelled := c.finds(t, c.name, list[i].Text), list[i].Is(c.name)
			for _, language := range []string{list[i].Language, "all"} {
				n := out[language]
				switch {
				case found && labelled:
					n.right++
				case found:
					n.false++
				case labelled:
					n.missed++
				}
				out[language] = n
			}
		}
	}
	return out
}

// testTexts returns the texts of a folder of testdata by the name of their file.
func testTexts(t testing.TB, folder string) map[string][]corpus.Text {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.tsv"))
	if err != nil || len(files) == 0 {
		t.Fatal("no test texts", err)
	}
	out := map[string][]corpus.Text{}
	for _, f := range files {
		list, err := corpus.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".tsv")] = list
	}
	return out
}

// measureAll measures every category on every set.
func measureAll(t testing.TB) map[string]map[string]map[string]tally {
	out := map[string]map[string]map[string]tally{}
	for _, folder := range folders {
		texts := testTexts(t, folder)
		out[folder] = map[string]map[string]tally{}
		for i := range categories {
			if _, ok := texts[categories[i].file]; ok {
				out[folder][categories[i].name] = categories[i].measure(t, texts)
			}
		}
	}
	return out
}

func TestPrecisionAndRecallReachTheFloors(t *testing.T) {
	t.Parallel()
	got := measureAll(t)
	if *update {
		writeFloors(t, got)
		writeFigures(t, got)
	}
	raw, err := os.ReadFile("testdata/floors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var folder, name, language string
		var precision, recall float64
		if _, err := fmt.Sscan(line, &folder, &name, &language, &precision, &recall); err != nil {
			t.Fatalf("floors.tsv: %q: %v", line, err)
		}
		n := got[folder][name][language]
		if n.precision() < precision || n.recall() < recall {
			t.Errorf("%s %s %s: precision %.3f, recall %.3f; the floors are %.2f and %.2f", folder, name, language, n.precision(), n.recall(), precision, recall)
		}
	}
}

func TestEachCategoryHasThreeHundredTexts(t *testing.T) {
	t.Parallel()
	texts := testTexts(t, "first")
	for _, c := range categories {
		if n := len(texts[c.file]); n < 300 {
			t.Errorf("%s has %d texts", c.name, n)
		}
	}
}

func TestNoTestTextIsATrainingText(t *testing.T) {
	t.Parallel()
	training, err := corpus.Read("moderation/train.tsv", "injection/train.tsv", "gibberish/train.tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range training {
		seen[strings.ToLower(training[i].Text)] = true
	}
	for _, folder := range folders {
		for file, list := range testTexts(t, folder) {
			for i := range list {
				if seen[strings.ToLower(list[i].Text)] {
					t.Errorf("%s/%s: %q is a training text", folder, file, list[i].Text)
				}
			}
		}
	}
}

// A category is experimental if its precision is below 80 % on the texts from before the training or on those
// from after it, or if it is not measured.
func TestCategoriesWithALowPrecisionAreExperimental(t *testing.T) {
	t.Parallel()
	got := measureAll(t)
	for _, name := range moderation.All() {
		low := name == moderation.SexualMinors || name == moderation.SelfHarmInstructions
		for _, folder := range []string{"first", "third"} {
			if n, ok := got[folder][name]["all"]; ok && n.precision() < 0.8 {
				low = true
			}
		}
		result := run(t, "gateway.moderateContent", `{"categories":["`+name+`"]}`, "A quiet day at the lake.")
		if shown := strings.Contains(shown(t, &result), `"experimentalCategories":["`+name+`"]`); shown != low {
			t.Errorf("%s is shown as experimental: %v, want %v", name, shown, low)
		}
	}
}

func floor(v float64) float64 { return math.Floor(v*100) / 100 }

func writeFloors(t *testing.T, got map[string]map[string]map[string]tally) {
	var b strings.Builder
	for _, folder := range folders {
		for _, c := range categories {
			for _, language := range languages {
				if n, ok := got[folder][c.name][language]; ok {
					fmt.Fprintf(&b, "%s\t%s\t%s\t%.2f\t%.2f\n", folder, c.name, language, floor(n.precision()), floor(n.recall()))
				}
			}
		}
	}
	if err := os.WriteFile("testdata/floors.tsv", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeFigures replaces the tables of FIGURES.md: what stands between the marks of each set.
func writeFigures(t *testing.T, got map[string]map[string]map[string]tally) {
	raw, err := os.ReadFile("FIGURES.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, folder := range folders {
		begin, end := "<!-- "+folder+" -->\n", "<!-- end of "+folder+" -->"
		head, rest, ok := strings.Cut(text, begin)
		_, tail, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("FIGURES.md has no marks of %s", folder)
		}
		text = head + begin + tableOf(got[folder]) + end + tail
	}
	if err := os.WriteFile("FIGURES.md", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func tableOf(tallies map[string]map[string]tally) string {
	var b strings.Builder
	b.WriteString("| Category | Texts with it | All | English | German | Spanish |\n|---|---|---|---|---|---|\n")
	for _, c := range categories {
		rows, ok := tallies[c.name]
		if !ok {
			continue
		}
		cells := []string{c.name, fmt.Sprint(rows["all"].right + rows["all"].missed)}
		for _, language := range languages {
			cells = append(cells, fmt.Sprintf("%.0f / %.0f", 100*rows[language].precision(), 100*rows[language].recall()))
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return b.String()
}

// Technical documents have next to none of what is searched. The paragraphs in which a category is found are
// counted; the test only logs them.
func TestFindingsInDocuments(t *testing.T) {
	t.Parallel()
	if *documents == "" {
		t.Skip("-documents names no folder")
	}
	total, found := 0, map[string]int{}
	err := filepath.WalkDir(*documents, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		raw, err := os.ReadFile(path)
		for paragraph := range strings.SplitSeq(string(raw), "\n\n") {
			if len(paragraph) < 40 {
				continue
			}
			total++
			for _, c := range categories {
				if c.finds(t, c.name, paragraph) {
					found[c.name]++
				}
			}
		}
		return err
	})
	t.Logf("%d paragraphs, findings %v, error %v", total, found, err)
}

package language_test

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/gateway/guardrails/classify/language"
)

// texts returns the lines of testdata/language.tsv: code and text.
func texts(t testing.TB) [][2]string {
	t.Helper()
	raw, err := os.ReadFile("../testdata/language.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out [][2]string
	for line := range strings.Lines(string(raw)) {
		code, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			t.Fatalf("no tab in %q", line)
		}
		out = append(out, [2]string{code, text})
	}
	return out
}

func TestNineOfTenSentencesAreRecognised(t *testing.T) {
	t.Parallel()
	right, total := 0, 0
	for _, c := range texts(t) {
		total++
		guesses, _ := language.Detect(c[1])
		if len(guesses) > 0 && guesses[0].Code == c[0] {
			right++
		} else {
			t.Logf("%s: %v for %q", c[0], guesses, c[1])
		}
	}
	if t.Logf("%d of %d sentences", right, total); right*10 < total*9 {
		t.Error("fewer than nine of ten sentences are recognised")
	}
}

func TestEachListedLanguageCanBeDetected(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for _, c := range texts(t) {
		covered[c[0]] = true
	}
	for _, code := range language.Codes() {
		known, ok := language.Canonical(code)
		if !ok || !covered[known] {
			t.Errorf("%s has no test text", code)
		}
	}
	if n := len(language.Codes()); n != 50 {
		t.Errorf("%d languages, want 50", n)
	}
}

func FuzzDetect(f *testing.F) {
	for _, s := range []string{"", "ok", "\xff\xfe", "日本", strings.Repeat("é", 2000), "a\u0301b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		guesses, letters := language.Detect(text)
		if letters < 0 || letters > utf8.RuneCountInString(text) {
			t.Errorf("%d letters", letters)
		}
		for i, g := range guesses {
			if g.Code == "" || g.Confidence <= 0 || g.Confidence > 1.001 || i > 0 && guesses[i-1].Confidence < g.Confidence {
				t.Errorf("guesses %v", guesses)
			}
		}
	})
}

// The memory that the models of each script keep, in megabytes of the heap. Run it with -benchtime 1x.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		before := heap()
		for _, s := range []struct{ name, text string }{
			{"Latin", "The shop on the corner closes at eight."}, {"Cyrillic", "Магазин на углу закрывается."},
			{"Arabic", "يغلق المتجر في الزاوية"}, {"Devanagari", "यह दुकान शाम को बंद होती है और सुबह फिर खुलती है, लेकिन रविवार को नहीं"},
		} {
			language.Detect(s.text)
			after := heap()
			b.ReportMetric((float64(after)-float64(before))/(1<<20), "MB-"+s.name)
			before = after
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

package embedding_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/kernel/embedding"
)

// golden is data/golden.json: results of the tool that made the model.
type golden struct {
	Vectors []struct {
		Text   string    `json:"text"`
		IDs    []int     `json:"ids"`
		First4 []float64 `json:"first4"`
	} `json:"vectors"`
	Cosines []struct {
		A      string  `json:"a"`
		B      string  `json:"b"`
		Cosine float64 `json:"cosine"`
	} `json:"cosines"`
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	text, err := os.ReadFile("data/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func embed(t *testing.T, text string) *embedding.Vector {
	t.Helper()
	v, ok := embedding.Load().Embed(text)
	if !ok {
		t.Fatalf("Embed(%q) found no token", text)
	}
	return &v
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestEmbed_MatchesTheToolThatMadeTheModel(t *testing.T) {
	t.Parallel()
	for _, want := range readGolden(t).Vectors {
		if got := embedding.Load().Tokens(want.Text); !slices.Equal(got, want.IDs) {
			t.Errorf("%q: got tokens %v, want %v", want.Text, got, want.IDs)
		}
		v := embed(t, want.Text)
		for i, component := range want.First4 {
			if !near(float64(v[i]), component, 2e-5) {
				t.Errorf("%q: component %d is %f, want %f", want.Text, i, v[i], component)
			}
		}
	}
}

func TestCosine_MatchesTheToolThatMadeTheModel(t *testing.T) {
	t.Parallel()
	for _, want := range readGolden(t).Cosines {
		got := embedding.Cosine(embed(t, want.A), embed(t, want.B))
		if !near(float64(got), want.Cosine, 1e-4) {
			t.Errorf("cosine of %q and %q: got %f, want %f", want.A, want.B, got, want.Cosine)
		}
	}
}

func TestLoad_FilesHaveTheSameNumberOfEntries(t *testing.T) {
	t.Parallel()
	const want = 30522
	if v, rows, scales := embedding.Load().Entries(); v != want || rows != want || scales != want {
		t.Errorf("got %d entries, %d rows, %d scales, want %d of each", v, rows, scales, want)
	}
}

func TestTokens_FollowUncasedBERT(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, same string }{
		"case does not count":                        {"Hello World", "hello world"},
		"accents do not count":                       {"Ångström café", "angstrom cafe"},
		"combining accents do not count":             {"cafe\u0301", "cafe"},
		"spaces of all kinds separate":               {"a\u00a0b\tc\r\nd\u3000e", "a b c d e"},
		"control characters are removed":             {"he\x00ll\u200bo\x7f", "hello"},
		"broken UTF-8 is removed":                    {"hel\xfflo", "hello"},
		"punctuation separates":                      {"a,b«c»—d", "a , b « c » — d"},
		"symbols of ASCII separate":                  {"a+b=c$d", "a + b = c $ d"},
		"Chinese characters separate":                {"東京都", "東 京 都"},
		"a decomposition may be a symbol":            {"a≠b", "a = b"},
		"four parts are the longest decomposition":   {"ᾂ", "α"},
		"a word of 101 characters is unknown":        {strings.Repeat("a", 101), "[UNK]x"},
		"a word that cannot be spelled is unknown":   {"a\u16a0b", "[UNK]x"},
		"Hangul syllables are decomposed into jamos": {"한", "\u1112\u1161\u11ab"},
	} {
		want := embedding.Load().Tokens(c.same)
		if c.same == "[UNK]x" {
			want = []int{100}
		}
		if got := embedding.Load().Tokens(c.text); !slices.Equal(got, want) {
			t.Errorf("%s: Tokens(%q) = %v, want %v", name, c.text, got, want)
		}
	}
}

func TestEmbed_TextWithoutTokensHasNoVector(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " \n\t", "\u0301", "\x00\x01", "\xff"} {
		if v, ok := embedding.Load().Embed(text); ok || v != (embedding.Vector{}) {
			t.Errorf("Embed(%q) = %v, %v, want the zero vector and false", text, v[:4], ok)
		}
	}
}

func TestEmbed_ReadsTheFirstBytesOnly(t *testing.T) {
	t.Parallel()
	start := strings.Repeat("é ", embedding.MaxBytes/3) + "é" // the limit is inside the last "é"
	if len(start) <= embedding.MaxBytes-3 || len(start) > embedding.MaxBytes+2 {
		t.Fatalf("the text has %d bytes", len(start))
	}
	a, b := embed(t, start+" zebra"), embed(t, start+" piano")
	if *a != *b {
		t.Error("text after MaxBytes changed the vector")
	}
}

func TestEmbed_DoesNotAllocate(t *testing.T) {
	m := embedding.Load()
	text := "Où est la gare ? Unbelievably tokenization-heavy 東京 한국"
	if n := testing.AllocsPerRun(100, func() { m.Embed(text) }); n != 0 {
		t.Errorf("Embed allocated %v times, want 0", n)
	}
}

func FuzzEmbed_HasLengthOneAndFiniteNumbers(f *testing.F) {
	for _, text := range []string{"", "hello", "ÅÄÖ ß ﬁ", "\xff\xfe", "한국어 漢字", strings.Repeat("a", 101), "a\u0300\u0301\u0302"} {
		f.Add(text)
	}
	m := embedding.Load()
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := m.Embed(text)
		length := float64(embedding.Cosine(&v, &v))
		if ok && !near(length, 1, 1e-3) {
			t.Fatalf("the vector has length² %f", length)
		}
		if !ok && length != 0 {
			t.Fatalf("a text without tokens has length² %f", length)
		}
		if again, _ := m.Embed(strings.ToUpper(strings.ToLower(text))); utf8.ValidString(text) && isASCII(text) && again != v {
			t.Fatal("case changed the vector of an ASCII text")
		}
	})
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func BenchmarkEmbed(b *testing.B) {
	m := embedding.Load()
	for name, text := range map[string]string{
		"sentence": "How do I merge two dictionaries in Python?",
		"german":   "Wie überweise ich Geld auf ein Konto außerhalb der Europäischen Union?",
		"4KB":      strings.Repeat("The quick brown fox jumps over the lazy dog. ", 91),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				m.Embed(text)
			}
		})
	}
}

func BenchmarkCosine(b *testing.B) {
	v, _ := embedding.Load().Embed("How do I merge two dictionaries in Python?")
	w, _ := embedding.Load().Embed("Merge two dicts in Python")
	for b.Loop() {
		embedding.Cosine(&v, &w)
	}
}

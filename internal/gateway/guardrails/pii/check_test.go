package pii_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/pii"
	"sluice/internal/kernel/fault"
)

// all are parameters with each category.
const all = `{"redact":true,"categories":["EMAIL_ADDRESS","PHONE_NUMBER","LOCATION_ADDRESS","NAME","IP_ADDRESS","CREDIT_CARD","SSN","IBAN_CODE","NATIONAL_ID"]}`

// redacted returns a text after the edits.
func redacted(text string, edits []check.Edit) string {
	for _, e := range slices.Backward(edits) {
		text = text[:e.Start] + e.With + text[e.End:]
	}
	return text
}

func TestPII_VerdictFollowsItsParameters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, parameters, text string
		want                   bool
		after                  string
	}{
		{"nothing found passes", `{"categories":["EMAIL_ADDRESS"]}`, "hello", true, "hello"},
		{"a finding denies", `{"categories":["EMAIL_ADDRESS"]}`, "to a.b@example.org", false, "to a.b@example.org"},
		{"other categories pass", `{"categories":["IP_ADDRESS"]}`, "to a.b@example.org", true, "to a.b@example.org"},
		{"redaction passes", `{"categories":["EMAIL_ADDRESS"],"redact":true}`, "to a.b@example.org", true, "to [EMAIL_ADDRESS]"},
		{"reversible redaction passes", `{"categories":["EMAIL_ADDRESS"],"redact":"reversible"}`, "to a.b@example.org", true, "to [EMAIL_ADDRESS]"},
		{"not inverts a finding", `{"categories":["EMAIL_ADDRESS"],"not":true}`, "to a.b@example.org", true, "to a.b@example.org"},
		{"not inverts nothing found", `{"categories":["EMAIL_ADDRESS"],"not":true}`, "hello", false, "hello"},
		{"several categories", all, "Mr. Pell, 10.1.2.3, a@example.org", true, "Mr. [NAME], [IP_ADDRESS], [EMAIL_ADDRESS]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, c.parameters, c.text)
			if got.Verdict != c.want || got.Error != nil {
				t.Errorf("verdict %v, error %v; want %v", got.Verdict, got.Error, c.want)
			}
			if after := redacted(c.text, got.Edits); after != c.after {
				t.Errorf("text %q, want %q", after, c.after)
			}
		})
	}
}

func TestPII_RefusesBadParameters(t *testing.T) {
	t.Parallel()
	table := guardrail.NewTable([]guardrail.Definition{pii.List()[0].Definition})
	for parameters, field := range map[string]string{
		`{}`:                                     ".categories",
		`{"categories":[]}`:                      ".categories",
		`{"categories":["SHOE_SIZE"]}`:           ".categories[0]",
		`{"categories":["SSN"],"redact":1}`:      ".redact",
		`{"categories":["SSN"],"redact":"mask"}`: ".redact",
		`{"categories":["SSN"],"not":"yes"}`:     ".not",
		`{"categories":["SSN"],"timeout":0}`:     ".timeout",
		`{"categories":["SSN"],"depth":1}`:       ".depth",
	} {
		_, err := table.Read([]byte(`[{"id":"pii","parameters":` + parameters + `}]`))
		if f := fault.From(err); err == nil || !strings.HasSuffix(f.Param, "parameters"+field) {
			t.Errorf("%s: %v, want an error about %s", parameters, err, field)
		}
	}
}

func TestPII_DataCountFindingsWithoutText(t *testing.T) {
	t.Parallel()
	got := run(t, `{"categories":["EMAIL_ADDRESS","NAME"]}`, "Dr. Pell wrote from pell@example.org to x@example.org", "Mr. Pell")
	raw, err := json.Marshal(got.Data)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), `"categories":{"EMAIL_ADDRESS":2,"NAME":2}`) || strings.Contains(string(raw), "ell") {
		t.Errorf("data %s", raw)
	}
}

func TestPII_EditsNameTheirText(t *testing.T) {
	t.Parallel()
	got := run(t, all, "none", "a@example.org")
	want := check.Edit{Text: 1, Start: 0, End: 13, With: "[EMAIL_ADDRESS]", Kind: "EMAIL_ADDRESS"}
	if len(got.Edits) != 1 || got.Edits[0] != want {
		t.Errorf("edits %v, want %v", got.Edits, want)
	}
}

func TestPII_FindsHiddenForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"card 4111\u200b 1111 1111\u00ad 1111 ok":  "card [CREDIT_CARD] ok",
		"card ４１１１１１１１１１１１１１１１ ok":                 "card [CREDIT_CARD] ok",
		"mail b\u2060ob@exam\u200dple.org now":     "mail [EMAIL_ADDRESS] now",
		"mail bоb＠example．org now":                 "mail [EMAIL_ADDRESS] now", // the "о" is Cyrillic
		"call +44\u00a020\u00a07946\u00a00018 now": "call [PHONE_NUMBER] now",
		"SSN 536‑22‑1234 here":                     "SSN [SSN] here",      // no-break hyphens
		"call 415–555–0132":                        "call [PHONE_NUMBER]", // en dashes
		"мой друг Иван Петров из Москвы, привет":   "мой друг Иван Петров из Москвы, привет",
	} {
		if got := redacted(text, run(t, all, text).Edits); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestPII_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, err := check.ReadParams([]byte(all))
	if err != nil {
		t.Fatal(err)
	}
	r, err := pii.List()[0].New(p, &check.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Run(ctx, &check.Input{Texts: []string{"a"}}); got.Error == nil || got.Error.Name != "TimeoutError" {
		t.Errorf("error %v, want a timeout", got.Error)
	}
}

func TestPII_BoundsFindings(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a@example.org ", 50_000)
	got := run(t, all, text).Edits
	if len(got) != 10_000 || got[len(got)-1].End != len(text) {
		t.Errorf("%d edits, the last ends at %d of %d", len(got), got[len(got)-1].End, len(text))
	}
}

func TestPII_ReadsLongWords(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"a", "A", "1", "1 ", "1-", "+1", "@", ":", "a:", "(", "É", "A-", "A ", "Calle ", "\xff", "\xc2", "4111 "} {
		text := strings.Repeat(word, 1<<17/len(word))
		for _, e := range run(t, all, text).Edits {
			if e.End > len(text) {
				t.Errorf("%q: edit ends at %d", word, e.End)
			}
		}
	}
}

// A finding does not depend on text that is further away than the window.
func TestPII_JudgesWindows(t *testing.T) {
	t.Parallel()
	p, err := check.ReadParams([]byte(all))
	if err != nil {
		t.Fatal(err)
	}
	r, err := pii.List()[0].New(p, &check.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	window := r.(check.Windowed).Window()
	filler := strings.Repeat("and so the long report goes on, as all of them do; ", 20)
	for _, category := range sortedCategories() {
		for _, l := range readLabelled(t, category) {
			full := run(t, all, filler+l.text+filler).Edits
			cut := run(t, all, filler[len(filler)-window:]+l.text+filler[:window]).Edits
			shift := len(filler) - window
			if !slices.EqualFunc(full, cut, func(a, b check.Edit) bool {
				return a.Start == b.Start+shift && a.End == b.End+shift && a.Kind == b.Kind
			}) {
				t.Errorf("%q: %v with all text, %v with a window", l.text, full, cut)
			}
		}
	}
}

func TestPII_NeedsTheCompleteTextWhenInverted(t *testing.T) {
	t.Parallel()
	r, err := pii.List()[0].New(check.Params{"categories": []any{"SSN"}, "not": true}, &check.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.(check.Windowed).Window(); n != 0 {
		t.Errorf("window %d, want 0", n)
	}
}

// Edits are sorted, disjoint, inside of the text and on characters.
func FuzzPII(f *testing.F) {
	for _, seed := range []string{
		"Dear Ms. O'Neill-Żak, call (0)30 +49 (0)30 23125 117 ext. 4", "C/ Alcalá 221, 3º B, 28045 Madrid", "::ffff:10.0.0.1 fe80::1:", "P.O. Box 12, Duluth, MN 55802",
		"ＳＳＮ ５３６-２２-１２３４", "DE89 3704 0044 0532 0130 00", "Am Alten Markt 7, 24103 Kiel", "a@b.co@c.de", "\xf0\x9f\x98\x80 1.2.3.4", "Calle 72 No. 10-34",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, e := range run(t, all, text).Edits {
			if e.Start < end || e.End <= e.Start || e.End > len(text) {
				t.Fatalf("edit [%d,%d) after %d of %d", e.Start, e.End, end, len(text))
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[e.Start:e.End]) {
				t.Fatalf("edit [%d,%d) cuts a character of %q", e.Start, e.End, text)
			}
			end = e.End
		}
	})
}

// Clients send earlier turns again: what replaced a finding is not found again.
func TestPII_MasksAreNotFound(t *testing.T) {
	t.Parallel()
	for _, category := range sortedCategories() {
		parameters := `{"redact":true,"categories":["` + category + `"]}`
		for _, l := range readLabelled(t, category) {
			once := redacted(l.text, run(t, parameters, l.text).Edits)
			if again := redacted(once, run(t, parameters, once).Edits); again != once {
				t.Errorf("%q becomes %q", once, again)
			}
			placeholder := strings.ReplaceAll(once, "["+category+"]", "["+category+"_7f3a9c]")
			if again := redacted(placeholder, run(t, parameters, placeholder).Edits); again != placeholder {
				t.Errorf("%q becomes %q", placeholder, again)
			}
		}
	}
}

package secrets_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/secrets"
	"sluice/internal/kernel/fault"
)

// value returns a value of a recipe; see testdata/README.md.
func value(t testing.TB, recipe string) string {
	t.Helper()
	text, _ := build(t, "{{"+recipe+"}}", rand.New(rand.NewPCG(1, 2)))
	return text
}

// redacted returns a text after the edits.
func redacted(text string, edits []check.Edit) string {
	for _, e := range slices.Backward(edits) {
		text = text[:e.Start] + e.With + text[e.End:]
	}
	return text
}

func TestSecrets_VerdictFollowsItsParameters(t *testing.T) {
	t.Parallel()
	token := value(t, "'gl' 'pat-' w20")
	for _, c := range []struct {
		name, parameters, text string
		want                   bool
		after                  string
	}{
		{"nothing found passes", `{}`, "hello", true, "hello"},
		{"a finding denies", `{}`, "use " + token, false, "use " + token},
		{"a selected type denies", `{"types":["gitlab"]}`, "use " + token, false, "use " + token},
		{"other types pass", `{"types":["stripe","generic"]}`, "use " + token, true, "use " + token},
		{"redaction passes", `{"redact":true}`, "use " + token + ".", true, "use [SECRET_GITLAB]."},
		{"reversible redaction passes", `{"redact":"reversible"}`, token, true, "[SECRET_GITLAB]"},
		{"not inverts a finding", `{"not":true}`, token, true, token},
		{"not inverts nothing found", `{"not":true}`, "hello", false, "hello"},
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

func TestSecrets_RefusesBadParameters(t *testing.T) {
	t.Parallel()
	table := guardrail.NewTable([]guardrail.Definition{secrets.List()[0].Definition})
	for parameters, field := range map[string]string{
		`{"types":[]}`:          ".types",
		`{"types":["cookies"]}`: ".types[0]",
		`{"redact":"hide"}`:     ".redact",
		`{"not":0}`:             ".not",
		`{"timeout":-1}`:        ".timeout",
		`{"entropy":4}`:         ".entropy",
	} {
		_, err := table.Read([]byte(`[{"id":"secrets","parameters":` + parameters + `}]`))
		if f := fault.From(err); err == nil || !strings.HasSuffix(f.Param, "parameters"+field) {
			t.Errorf("%s: %v, want an error about %s", parameters, err, field)
		}
	}
}

func TestTypes_AreSortedAndMany(t *testing.T) {
	t.Parallel()
	types := secrets.Types()
	if len(types) < 60 || !slices.IsSorted(types) {
		t.Errorf("%d types, sorted %v; want at least 60", len(types), slices.IsSorted(types))
	}
}

func TestSecrets_DataCountFindingsWithoutText(t *testing.T) {
	t.Parallel()
	token := value(t, "'gl' 'pat-' w20")
	raw, err := json.Marshal(run(t, `{}`, token, "again "+token).Data)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), `"types":{"gitlab":2}`) || strings.Contains(string(raw), token[6:]) {
		t.Errorf("data %s", raw)
	}
}

// Every type has positive and negative texts.
func TestTypes_HaveTexts(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, l := range readLabelled(t) {
		if len(l.values) == 0 {
			continue
		}
		for _, e := range run(t, `{"redact":true}`, l.text).Edits {
			seen[e.Kind] = true
		}
	}
	known := map[string]bool{}
	for _, id := range secrets.Types() {
		known["SECRET_"+strings.ToUpper(strings.ReplaceAll(id, "-", "_"))] = true
	}
	for kind := range seen {
		if !known[kind] {
			t.Errorf("Types lacks the type of %s", kind)
		}
	}
	for _, id := range []string{"openai", "anthropic", "google-api-key", "aws-access-key", "aws-secret-key", "github", "slack-bot", "stripe", "jwt", "private-key", "database-url", "generic"} {
		if kind := "SECRET_" + strings.ToUpper(strings.ReplaceAll(id, "-", "_")); !seen[kind] {
			t.Errorf("no text has a secret of type %s", id)
		}
	}
}

func TestSecrets_FindsHiddenForms(t *testing.T) {
	t.Parallel()
	token := value(t, "'gl' 'pat-' w20")
	for _, text := range []string{token[:8] + "\u200b" + token[8:], token[:3] + "\u00ad" + token[3:], "ｇｌ" + token[2:]} {
		if got := redacted(text, run(t, `{"redact":true}`, text).Edits); got != "[SECRET_GITLAB]" {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestPrivateKey_IsReplacedToItsEnd(t *testing.T) {
	t.Parallel()
	key := value(t, "'-----BEGIN ' 'EC PRIVATE KEY-----' n b64 n b64 n '-----END ' 'EC PRIVATE KEY-----'")
	for text, want := range map[string]string{
		"a " + key + " b":                               "a [SECRET_PRIVATE_KEY] b",
		"a " + key[:len(key)-40]:                        "a [SECRET_PRIVATE_KEY]",
		strings.ReplaceAll(key, "EC PRIVATE", "PUBLIC"): strings.ReplaceAll(key, "EC PRIVATE", "PUBLIC"),
	} {
		if got := redacted(text, run(t, `{"redact":true}`, text).Edits); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestValues_MayBeInSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"my password is Tr0ub4" + "dor!, thanks":          "my password is [SECRET_GENERIC], thanks",
		"Das Passwort lautet: Regen" + "wurm77.":          "Das Passwort lautet: [SECRET_GENERIC].",
		"la contraseña es Lluvia" + "99x":                 "la contraseña es [SECRET_GENERIC]",
		"Authorization: Bearer a1b2c3d4" + "e5f6g7h8i9j0": "Authorization: Bearer [SECRET_GENERIC]",
		"the password is required":                        "the password is required",
		"the password is 12 characters long":              "the password is 12 characters long",
		"the token is valid until 2027-01-01T00:00:00Z":   "the token is valid until 2027-01-01T00:00:00Z",
		"the secret is in the vault":                      "the secret is in the vault",
	} {
		if got := redacted(text, run(t, `{"redact":true}`, text).Edits); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestURLs_PasswordEndsAtTheLastAtSign(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"redis://:p@ss" + "w0rd@h:6379/0":          "redis://:[SECRET_DATABASE_URL]@h:6379/0",
		"https://u:s3cr" + "et@h/a:b@c":            "https://u:[SECRET_BASIC_AUTH_URL]@h/a:b@c",
		"https://h:8443/a@b":                       "https://h:8443/a@b",
		"https://user@h/":                          "https://user@h/",
		"mongodb+srv://a:xyz" + "1@h1,h2/db?x=y@z": "mongodb+srv://a:[SECRET_DATABASE_URL]@h1,h2/db?x=y@z",
	} {
		if got := redacted(text, run(t, `{"redact":true}`, text).Edits); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestGitHubTokens_NeedTheirChecksum(t *testing.T) {
	t.Parallel()
	token := value(t, "'gh' 'p_' A30 crc")
	if run(t, `{}`, token).Verdict {
		t.Error("a valid token was not found")
	}
	last := token[len(token)-1]
	if changed := token[:len(token)-1] + string('a'+(last+1)%26); changed != token && !run(t, `{}`, changed).Verdict {
		t.Error("a token with a wrong checksum was found")
	}
}

func TestSecrets_Placeholders(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"gh" + "p_" + strings.Repeat("x", 36), "password=********", "api_key=YOUR_API_KEY_12345678", "token: ${TOKEN_VALUE_12345}", "secret = <insert-secret-1>",
		"postgres://user:${PASSWORD}@db/x", "https://user:password@example.org", "password = getPassword1()", "password: see page 12", "max_tokens=1234567890123456789",
	} {
		if got := run(t, `{}`, text); !got.Verdict {
			t.Errorf("%q is denied: %v", text, got.Data)
		}
	}
}

func TestSecrets_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := secrets.List()[0].New(check.Params{}, &check.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Run(ctx, &check.Input{Texts: []string{strings.Repeat("a ", 1<<15)}}); got.Error == nil || got.Error.Name != "TimeoutError" {
		t.Errorf("error %v, want a timeout", got.Error)
	}
}

func TestSecrets_BoundsFindings(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(value(t, "'gl' 'pat-' w20")+" ", 12_000)
	got := run(t, `{"redact":true}`, text).Edits
	if len(got) != 10_000 || got[len(got)-1].End != len(text) {
		t.Errorf("%d edits, the last ends at %d of %d", len(got), got[len(got)-1].End, len(text))
	}
}

func TestSecrets_WindowDependsOnRedaction(t *testing.T) {
	t.Parallel()
	for parameters, want := range map[string]int{`{}`: 1024, `{"redact":true}`: 8192, `{"not":true}`: 0} {
		p, err := check.ReadParams([]byte(parameters))
		if err != nil {
			t.Fatal(err)
		}
		r, err := secrets.List()[0].New(p, &check.Deps{})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.(check.Windowed).Window(); got != want {
			t.Errorf("%s: window %d, want %d", parameters, got, want)
		}
	}
}

// A secret is found in any text whose beginning is at least as near as the cues need.
func TestSecrets_JudgesWindows(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("and so the long report goes on, as all of them do; ", 30)
	for _, l := range readLabelled(t) {
		full := run(t, `{"redact":true}`, filler+l.text+filler).Edits
		cut := run(t, `{"redact":true}`, filler[len(filler)-1024:]+l.text+filler[:1024]).Edits
		shift := len(filler) - 1024
		if !slices.EqualFunc(full, cut, func(a, b check.Edit) bool {
			return a.Start == b.Start+shift && a.End == b.End+shift && a.Kind == b.Kind
		}) {
			t.Errorf("%q: %v with all text, %v with a window", l.text, full, cut)
		}
	}
}

// Edits are sorted, disjoint, inside of the text and on characters.
func FuzzSecrets(f *testing.F) {
	for _, seed := range []string{
		"password: \"a1b2c3d4e5\" token=", "-----BEGIN PRIVATE KEY-----\nabc", "redis://:p4ssw0rd!@h/0 https://a:bcde@f", "datadog key 0123456789abcdef0123456789abcdef",
		"sig=ab sv=2022 AccountKey=x", "eyJhbGciOiJIUzI1NiJ9.eyJ.x", "discord-token M1.b.c", "ｐａｓｓｗｏｒｄ＝ａ１ｂ２ｃ３ｄ４",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, e := range run(t, `{"redact":true}`, text).Edits {
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

// Clients send earlier turns again: what replaced a secret is not found again.
func TestSecrets_MasksAreNotFound(t *testing.T) {
	t.Parallel()
	for _, l := range readLabelled(t) {
		once := redacted(l.text, run(t, `{"redact":true}`, l.text).Edits)
		if again := redacted(once, run(t, `{"redact":true}`, once).Edits); again != once {
			t.Errorf("%q becomes %q", once, again)
		}
		placeholder := strings.NewReplacer("]", "_7f3a9c]").Replace(once)
		if again := redacted(placeholder, run(t, `{"redact":true}`, placeholder).Edits); again != placeholder {
			t.Errorf("%q becomes %q", placeholder, again)
		}
	}
}

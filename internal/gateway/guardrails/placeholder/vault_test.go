package placeholder_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/guardrails/placeholder"
)

var (
	secret = []byte("0123456789abcdef0123456789abcdef")
	ann    = placeholder.Scope{Organisation: "org", Workspace: "ws", Caller: "ann", Conversation: "c1"}
)

func TestHide_ReturnsAPlaceholderOfTheKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, want string }{
		{"EMAIL_ADDRESS", `^\[EMAIL_ADDRESS_[0-9a-f]{6}\]$`},
		{"us ssn/tax", `^\[US_SSN_TAX_[0-9a-f]{6}\]$`},
		{"", `^\[VALUE_[0-9a-f]{6}\]$`},
		{"ü[", `^\[____[0-9a-f]{6}\]$`},
		{strings.Repeat("K", 1000), `^\[K{32}_[0-9a-f]{6}\]$`},
	} {
		if got := placeholder.NewVault(secret, ann).Hide(c.kind, "v"); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("kind %q: got %s, want a match of %s", c.kind, got, c.want)
		}
	}
}

func TestHide_IsStableInItsScopeOnly(t *testing.T) {
	t.Parallel()
	base := placeholder.NewVault(secret, ann).Hide("EMAIL_ADDRESS", "a@b.c")
	later := placeholder.NewVault(secret, ann)
	later.Hide("EMAIL_ADDRESS", "x@y.z")
	if got := later.Hide("EMAIL_ADDRESS", "a@b.c"); got != base {
		t.Errorf("in a later turn: got %s, want %s", got, base)
	}
	bob, other, tenant := ann, ann, ann
	bob.Caller, other.Conversation, tenant.Organisation = "bob", "c2", "org2"
	shifted := placeholder.Scope{Organisation: "orgw", Workspace: "s", Caller: "ann", Conversation: "c1"}
	for name, scope := range map[string]placeholder.Scope{"caller": bob, "conversation": other, "organisation": tenant, "shifted parts": shifted} {
		if got := placeholder.NewVault(secret, scope).Hide("EMAIL_ADDRESS", "a@b.c"); got == base {
			t.Errorf("another %s: got the same placeholder %s", name, got)
		}
	}
	if got := placeholder.NewVault([]byte("another secret of 16 bytes"), ann).Hide("EMAIL_ADDRESS", "a@b.c"); got == base {
		t.Errorf("another secret: got the same placeholder %s", got)
	}
}

func TestHide_ResolvesCollisions(t *testing.T) {
	t.Parallel()
	first, second := colliding(t)
	for range 2 { // the result depends only on the order of the values
		v := placeholder.NewVault(secret, ann)
		a, b := v.Hide("K", first), v.Hide("K", second)
		if len(b) != len(a)+6 || !strings.HasPrefix(b, strings.TrimSuffix(a, "]")) {
			t.Fatalf("got %s and %s, want the second with six more digits", a, b)
		}
		if got, want := v.Restore(a+b), first+second; got != want {
			t.Errorf("restored %q, want %q", got, want)
		}
	}
}

// colliding returns two values with the same placeholder in empty vaults.
func colliding(t *testing.T) (first, second string) {
	t.Helper()
	v := placeholder.NewVault(secret, ann)
	seen := map[string]string{}
	for i := range 1 << 20 {
		value := strconv.Itoa(i)
		name := v.Mask("K", value)
		if other, ok := seen[name]; ok {
			return other, value
		}
		seen[name] = value
	}
	t.Fatal("no collision of 24 bits in 2^20 values")
	return "", ""
}

func TestMask_DoesNotStoreTheValue(t *testing.T) {
	t.Parallel()
	v := placeholder.NewVault(secret, ann)
	name := v.Mask("CODE", "of the system prompt")
	if got := v.Restore(name); got != name || v.Len() != 0 {
		t.Errorf("got %q and %d values, want %q and none", got, v.Len(), name)
	}
	if got := v.Hide("CODE", "of the system prompt"); got != name {
		t.Errorf("hidden: got %s, want %s", got, name)
	}
	if got := v.Mask("CODE", "of the system prompt"); got != name {
		t.Errorf("masked again: got %s, want %s", got, name)
	}
}

func TestHide_BoundsTheVault(t *testing.T) {
	t.Parallel()
	v := placeholder.NewVault(secret, ann)
	for i := range 11_000 {
		v.Hide("K", strconv.Itoa(i))
	}
	if got, want := v.Len(), 10_000; got != want {
		t.Errorf("got %d values, want %d", got, want)
	}
	name := v.Hide("K", "one more")
	if got := v.Restore(name); got != name {
		t.Errorf("got %q, want the placeholder", got)
	}
	large := placeholder.NewVault(secret, ann)
	if name := large.Hide("K", strings.Repeat("x", 2<<20)); large.Restore(name) != name {
		t.Error("a value of 2 MiB is stored")
	}
}

func TestRestore_ChangesOnlyHeldPlaceholders(t *testing.T) {
	t.Parallel()
	v := placeholder.NewVault(secret, ann)
	name := v.Hide("EMAIL_ADDRESS", "a\"b@c.d\n")
	for _, c := range []struct{ name, text, want, json string }{
		{"none", "plain", "plain", "plain"},
		{"whole text", name, "a\"b@c.d\n", `a\"b@c.d\n`},
		{"in the middle", "<" + name + ">", "<a\"b@c.d\n>", `<a\"b@c.d\n>`},
		{"brackets around it", "[[" + name + "]]", "[[a\"b@c.d\n]]", `[[a\"b@c.d\n]]`},
		{"next to each other", name + name, "a\"b@c.d\na\"b@c.d\n", `a\"b@c.d\na\"b@c.d\n`},
		{"look-alike", "[EMAIL_ADDRESS_000000] [1] [link](u) [", "[EMAIL_ADDRESS_000000] [1] [link](u) [", "[EMAIL_ADDRESS_000000] [1] [link](u) ["},
		{"without bracket", name[:len(name)-1], name[:len(name)-1], name[:len(name)-1]},
		{"other case", strings.ToLower(name), strings.ToLower(name), strings.ToLower(name)},
	} {
		if got := v.Restore(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if got := v.RestoreJSONText(c.text); got != c.json {
			t.Errorf("%s in JSON: got %q, want %q", c.name, got, c.json)
		}
	}
	if got := v.MaxLength(); got != len(name) {
		t.Errorf("got maximum length %d, want %d", got, len(name))
	}
}

func TestRestore_DoesNotSearchValues(t *testing.T) {
	t.Parallel()
	v := placeholder.NewVault(secret, ann)
	first := v.Hide("K", "a")
	second := v.Hide("K", first)
	if got := v.Restore(second); got != first {
		t.Errorf("got %q, want %q", got, first)
	}
}

// drawVault draws a vault with its placeholders and values.
func drawVault(t *rapid.T, scope placeholder.Scope) (v *placeholder.Vault, values map[string]string) {
	v, values = placeholder.NewVault(secret, scope), map[string]string{}
	for range rapid.IntRange(0, 5).Draw(t, "values") {
		value := rapid.String().Draw(t, "value")
		values[v.Hide(rapid.SampledFrom([]string{"EMAIL", "E", "PHONE_NUMBER"}).Draw(t, "kind"), value)] = value
	}
	return v, values
}

// drawText draws a text with placeholders of a vault, parts of them and other brackets. It returns
// the text with the values as well.
func drawText(t *rapid.T, values map[string]string) (text, restored string) {
	names := []string{"[EMAIL_000000]"}
	for name := range values {
		names = append(names, name)
	}
	for range rapid.IntRange(0, 8).Draw(t, "parts") {
		part := rapid.SampledFrom([]string{"[", "]", "[E", "[EMAIL_", "a", "é😀", "\\n"}).Draw(t, "part")
		if rapid.Bool().Draw(t, "placeholder") {
			part = rapid.SampledFrom(names).Draw(t, "name")
		}
		text += part
		if value, ok := values[part]; ok {
			part = value
		}
		restored += part
	}
	return text, restored
}

func TestRestore_IsTheInverseOfHide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v, values := drawVault(t, ann)
		text, want := drawText(t, values)
		if got := v.Restore(text); got != want {
			t.Fatalf("of %q got %q, want %q", text, got, want)
		}
		quoted, _ := json.Marshal(map[string]string{"k": text})
		var got map[string]string
		if err := json.Unmarshal([]byte(v.RestoreJSONText(string(quoted))), &got); err != nil {
			t.Fatal(err)
		}
		if got["k"] != want {
			t.Fatalf("in JSON: of %q got %q, want %q", text, got["k"], want)
		}
	})
}

func TestRestore_NeverReturnsValuesOfOthers(t *testing.T) {
	t.Parallel()
	bob := ann
	bob.Caller = "bob"
	rapid.Check(t, func(t *rapid.T) {
		v, _ := drawVault(t, ann)
		_, values := drawVault(t, bob)
		for name := range values {
			if got := v.Restore(name); got != name {
				t.Fatalf("got %q for %s of another caller", got, name)
			}
		}
	})
}

func TestStream_EqualsTheWholeRestore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v, values := drawVault(t, ann)
		text, _ := drawText(t, values)
		for _, c := range []placeholder.Channel{placeholder.Plain, placeholder.JSON} {
			want := v.Restore(text)
			if c == placeholder.JSON {
				want = v.RestoreJSONText(text)
			}
			for cut := range len(text) + 1 {
				checkStream(t, v, c, []string{text[:cut], text[cut:]}, want)
			}
			checkStream(t, v, c, strings.Split(text, ""), want)
		}
	})
}

// checkStream restores fragments and compares the result.
func checkStream(t *rapid.T, v *placeholder.Vault, c placeholder.Channel, fragments []string, want string) {
	s := v.Stream(c)
	var got strings.Builder
	for _, f := range fragments {
		got.WriteString(s.Feed(f))
		if s.Held() > v.MaxLength() {
			t.Fatalf("%d bytes are held, at most %d are permitted", s.Held(), v.MaxLength())
		}
	}
	got.WriteString(s.Close())
	if got.String() != want {
		t.Fatalf("fragments %q: got %q, want %q", fragments, got.String(), want)
	}
}

func TestStream_HoldsOnlyStartsOfPlaceholders(t *testing.T) {
	t.Parallel()
	v := placeholder.NewVault(secret, ann)
	v.Hide("EMAIL", "a@b.c")
	s := v.Stream(placeholder.Plain)
	for _, c := range []struct{ fragment, want string }{
		{"see [1", "see [1"}, {"] and [", "] and "}, {"EMA", ""}, {"X", "[EMAX"}, {"[EMAIL_zz", "[EMAIL_zz"}, {"[E", ""},
	} {
		if got := s.Feed(c.fragment); got != c.want {
			t.Errorf("after %q: got %q, want %q", c.fragment, got, c.want)
		}
	}
	if got, want := s.Close(), "[E"; got != want {
		t.Errorf("at the end: got %q, want %q", got, want)
	}
}

func FuzzStream(f *testing.F) {
	v := placeholder.NewVault(secret, ann)
	names := []string{v.Hide("EMAIL", "a\"b"), v.Hide("E", ""), v.Hide("PHONE", "[x]")}
	f.Add("a "+names[0]+" b", 3)
	f.Add("["+names[1]+names[2]+"]", 9)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if cut < 0 || cut > len(text) {
			return
		}
		s := v.Stream(placeholder.JSON)
		if got, want := s.Feed(text[:cut])+s.Feed(text[cut:])+s.Close(), v.RestoreJSONText(text); got != want {
			t.Fatalf("%q cut at %d: got %q, want %q", text, cut, got, want)
		}
	})
}

func BenchmarkRestore_4KB(b *testing.B) {
	v := placeholder.NewVault(secret, ann)
	text := strings.Repeat("The [quick] brown fox jumps over the lazy dog. ", 80) + v.Hide("EMAIL_ADDRESS", "a@b.c")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if len(v.Restore(text)) == len(text) {
			b.Fatal("the placeholder is not restored")
		}
	}
}

func BenchmarkStream_Event(b *testing.B) {
	v := placeholder.NewVault(secret, ann)
	v.Hide("EMAIL_ADDRESS", "a@b.c")
	s := v.Stream(placeholder.Plain)
	b.ReportAllocs()
	for b.Loop() {
		if s.Feed(" word") != " word" {
			b.Fatal("the text is changed")
		}
	}
}

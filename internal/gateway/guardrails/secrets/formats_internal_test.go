package secrets

import (
	"context"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"
)

// sample returns a text that has the form of a pattern, with the shortest parts.
func sample(p pattern, random *rand.Rand) string {
	var b strings.Builder
	for _, e := range p {
		for range e.low {
			b.WriteByte(e.member(random))
		}
	}
	return b.String()
}

// member returns a random byte of an element. Credentials of Amazon are in base 32, which has no 0, 1, 8 and
// 9.
func (e element) member(random *rand.Rand) byte {
	if e.class == literal {
		return e.byte
	}
	set := classSets[e.class]
	var all, base32 []byte
	for b := range set {
		if !set[b] {
			continue
		}
		all = append(all, byte(b))
		if !strings.ContainsRune("0189_-+/=%", rune(b)) {
			base32 = append(base32, byte(b))
		}
	}
	if len(base32) > 0 {
		return base32[random.IntN(len(base32))]
	}
	return all[random.IntN(len(all))]
}

// withChecksum replaces the last characters of a token of GitHub.
func withChecksum(token string) string {
	body := token[gitHubPrefixSize : len(token)-gitHubCheckSize]
	sum, check := crc32.ChecksumIEEE([]byte(body)), []byte("000000")
	for i := gitHubCheckSize - 1; i >= 0; i-- {
		check[i] = base62[sum%62]
		sum /= 62
	}
	return token[:gitHubPrefixSize] + body + string(check)
}

// types returns the types that are found in a text.
func types(t *testing.T, text string) map[string]bool {
	t.Helper()
	found, err := find(context.Background(), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	set := make(map[string]bool)
	for _, f := range found {
		set[f.id] = true
	}
	return set
}

// Each format is found in its shortest form, and not if a character is missing or a placeholder is in its
// place.
func TestFormats_AreFoundCompleteOnly(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 5))
	for i := range formats {
		f := &formats[i]
		name := f.id + " " + f.prefix + f.body
		body := compile(f.body)
		secret := f.prefix + sample(body, random)
		if f.prefix == "" && !hasDigit(secret) {
			secret = secret[:len(secret)/2] + "7" + secret[len(secret)/2+1:]
		}
		if f.id == "github" {
			secret = withChecksum(secret)
		}
		before := "the " + f.cue + " key is "
		if got := types(t, before+secret+" ok"); !got[f.id] {
			t.Errorf("%s is not found", name)
		}
		if got := types(t, before+secret[:len(secret)-1]+" ok"); got[f.id] && !hasShorter(f, secret[:len(secret)-1]) {
			t.Errorf("%s is found without its last character", name)
		}
		if got := types(t, before+"x"+secret+" ok"); got[f.id] && f.prefix != "" && !strings.HasSuffix(f.prefix, "=") {
			t.Errorf("%s is found inside of a word", name)
		}
		placeholder := f.prefix + strings.Repeat("x", len(secret)-len(f.prefix))
		if got := types(t, before+placeholder+" ok"); got[f.id] {
			t.Errorf("%s is found although it is a placeholder", name)
		}
	}
}

// hasShorter reports whether another format of the type accepts a shorter text.
func hasShorter(f *format, secret string) bool {
	for i := range formats {
		other := &formats[i]
		if other != f && other.id == f.id && strings.HasPrefix(secret, other.prefix) {
			if end := compile(other.body).match(&classRuns{text: secret}, len(other.prefix)); end == len(secret) {
				return true
			}
		}
	}
	return false
}

func TestFormats_NameTheirSource(t *testing.T) {
	t.Parallel()
	services := make(map[string]bool)
	for i := range formats {
		f := &formats[i]
		services[f.id] = true
		if !strings.HasPrefix(f.source, "https://") {
			t.Errorf("%s %s has no source", f.id, f.prefix)
		}
		if f.prefix != "" && len(f.prefix) < 2 || f.prefix == "" && f.cue == "" {
			t.Errorf("%s needs a prefix of two characters, or a cue", f.id)
		}
	}
	for i := range infixFormats {
		services[infixFormats[i].id] = true
	}
	if len(services) < 60 {
		t.Errorf("%d services, want at least 60", len(services))
	}
	t.Logf("%d types of credentials in %d formats", len(services), len(formats)+len(infixFormats))
}

package keys_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/domain/keys"
	"sluice/internal/kernel/fault"
)

// The hasher is HMAC-SHA-256, only without allocations.
func TestHasherIsHMAC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pepper := rapid.SliceOfN(rapid.Byte(), 16, 64).Draw(t, "pepper")
		raw := rapid.StringN(0, 100, keys.MaxRaw).Draw(t, "raw")
		m := hmac.New(sha256.New, pepper)
		m.Write([]byte(raw))
		if got := keys.NewHasher(pepper).Sum(raw); string(got[:]) != string(m.Sum(nil)) {
			t.Fatal("not the HMAC")
		}
	})
	if (keys.NewHasher([]byte("0123456789abcdef")).Sum(strings.Repeat("x", keys.MaxRaw+1)) != keys.Hash{}) {
		t.Error("an overlong credential was hashed")
	}
	h := keys.NewHasher([]byte("0123456789abcdef"))
	if n := testing.AllocsPerRun(100, func() { h.Sum("sk-0123456789abcdef0123456789abcdef") }); n != 0 {
		t.Errorf("Sum allocates %v times", n)
	}
}

func TestHashText(t *testing.T) {
	t.Parallel()
	h := keys.NewHasher([]byte("0123456789abcdef")).Sum("sk-1")
	var decoded keys.Hash
	b, _ := h.MarshalText()
	if err := decoded.UnmarshalText(b); err != nil || !decoded.Equal(h) {
		t.Errorf("round trip: %v", err)
	}
	if decoded.UnmarshalText([]byte("zz")) == nil {
		t.Error("a bad hash was read")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	past, future := now.Add(-time.Second), now.Add(time.Second)
	cases := []struct {
		name   string
		key    keys.Key
		status string
		want   fault.Code
	}{
		{"no expiry", keys.Key{}, "active", ""},
		{"before it", keys.Key{ExpiresAt: &future}, "active", ""},
		{"at it", keys.Key{ExpiresAt: &now}, "active", fault.KeyExpired},
		{"past it, the worker has not come by", keys.Key{ExpiresAt: &past}, "active", fault.KeyExpired},
		{"marked by the worker", keys.Key{}, "expired", fault.KeyExpired},
		{"deleted", keys.Key{}, "archived", fault.Unauthenticated},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := c.key.Check(c.status, now)
			if c.want == "" && err != nil || c.want != "" && !fault.Has(err, c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	if m := keys.Mask("sk-0123456789abcdefx4Q"); m != "sk*****x4Q" {
		t.Error(m)
	}
	if m := keys.Mask("short"); m != "*****" {
		t.Error(m)
	}
}

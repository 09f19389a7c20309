package identity_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/identity"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

func TestPasswords(t *testing.T) {
	t.Parallel()
	ctx, p := t.Context(), identity.NewPasswords()
	right := sealed.New("correct horse battery")
	one, err := p.Hash(ctx, right)
	if err != nil {
		t.Fatal(err)
	}
	if other, _ := p.Hash(ctx, right); one == other || strings.Contains(one, "horse") || !strings.HasPrefix(one, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("hashes %s %s", one, other)
	}
	for guess, want := range map[string]bool{"correct horse battery": true, "correct horse batterz": false, "": false} {
		if ok, err := p.Matches(ctx, one, sealed.New(guess), nil); ok != want || err != nil {
			t.Errorf("%q: %v %v", guess, ok, err)
		}
	}
	if ok, err := p.Matches(ctx, "", right, nil); ok || err != nil {
		t.Errorf("nobody's password matches: %v %v", ok, err)
	}
}

// A bad row of the database is an error, and costs nothing.
func TestStoredFormsAreChecked(t *testing.T) {
	t.Parallel()
	p := identity.NewPasswords()
	for _, stored := range []string{
		"x", "$argon2i$v=19$m=8,t=1,p=1$AAAA$AAAA", "$argon2id$v=18$m=8,t=1,p=1$AAAA$AAAA", "$argon2id$v=19$m=8$AAAA$AAAA",
		"$argon2id$v=19$m=99999999,t=1,p=1$AAAA$AAAA", "$argon2id$v=19$m=8,t=0,p=1$AAAA$AAAA", "$argon2id$v=19$m=8,t=1,p=0$AAAA$AAAA",
		"$argon2id$v=19$m=8,t=1,p=1$!$AAAA", "$argon2id$v=19$m=8,t=1,p=1$AAAA$!",
	} {
		if ok, err := p.Matches(t.Context(), stored, sealed.New("anything at all"), nil); ok || err == nil {
			t.Errorf("%s: %v %v", stored, ok, err)
		}
	}
	// A sum of another length, the empty one too, is nobody's.
	for _, hash := range []string{"", "AAAA"} {
		if ok, _ := p.Matches(t.Context(), "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAA$"+hash, sealed.New("anything at all"), nil); ok {
			t.Errorf("the sum %q matches", hash)
		}
	}
}

func TestHashingWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	p := identity.NewPasswords()
	done := 0
	for range 100 {
		if _, err := p.Hash(ctx, sealed.New("correct horse battery")); err != nil {
			return // who has left is not hashed for
		}
		done++
	}
	t.Errorf("%d hashes for somebody who had left", done)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for password, ok := range map[string]bool{
		"": false, "elevenchars": false, "twelve chars": true, "äöüäöüäöüäöü": true, strings.Repeat("a", 1024): true, strings.Repeat("a", 1025): false, "not text at all\xff": false,
	} {
		if err := identity.Check(sealed.New(password), "password"); (err == nil) != ok || err != nil && fault.From(err).Param != "password" {
			t.Errorf("%d bytes: %v", len(password), err)
		}
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	s := identity.Session{Began: began, ExpiresAt: began.Add(identity.Life)}
	for _, c := range []struct {
		after, longest time.Duration
		open           bool
	}{
		{0, 0, true}, {identity.Life - 1, 0, true}, {identity.Life, 0, false}, {899 * time.Second, 900 * time.Second, true}, {900 * time.Second, 900 * time.Second, false},
		{identity.Life, 2 * identity.Life, false}, // no setting makes it longer
	} {
		if err := s.Check(began.Add(c.after), c.longest); (err == nil) != c.open || err != nil && !fault.Has(err, fault.Unauthenticated) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	token := identity.NewToken()
	if !identity.IsToken(token) || token == identity.NewToken() || strings.Contains(token, ".") || identity.IsToken("sk-x") {
		t.Errorf("token %q", token)
	}
}

// Of those who wait for their turn nobody is hashed for once it is not allowed any more.
func TestACrowdOfGuesses(t *testing.T) {
	t.Parallel()
	p, tooMany := identity.NewPasswords(), errors.New("too many")
	began := time.Now()
	for _, stored := range []string{"", "$argon2id$v=19$m=1048576,t=64,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA"} { // minutes of work
		if ok, err := p.Matches(t.Context(), stored, sealed.New("anything at all"), func() error { return tooMany }); ok || !errors.Is(err, tooMany) {
			t.Errorf("%v %v after %v", ok, err, time.Since(began))
		}
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	now, p := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), identity.NewLoginThrottle()
	mia := identity.AccountOf("mia")
	for i := range 100 {
		network := "ip:" + strconv.Itoa(1+i/10)
		if err := p.Allow(now, mia, network); err != nil {
			t.Fatalf("guess %d: %v", i, err)
		}
		p.Failed(now, mia, network)
		if err := p.Allow(now, mia, "ip:99"); i == 10 && err != nil {
			t.Errorf("one place keeps the owner of an account out: %v", err)
		}
	}
	if err := p.Allow(now, mia, "ip:99"); !fault.Has(err, fault.RateLimited) {
		t.Errorf("guess 101 of an account, from elsewhere: %v", err)
	}
	if err := p.Allow(now, "tom", "ip:1"); !fault.Has(err, fault.RateLimited) {
		t.Errorf("the eleventh guess of one name: %v", err)
	}
	if slow, done, err := p.Slowly(t.Context(), now, "ip:99"); slow || err != nil {
		t.Errorf("a place without failures is slow: %v", err)
	} else {
		done()
	}
	slow, done, err := p.Slowly(t.Context(), now, "ip:1")
	if !slow || err != nil {
		t.Errorf("a place with ten failures: slow %v, %v", slow, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Slowly(ended, now, "ip:1"); err == nil {
		t.Error("two slow attempts of one place are made at once")
	}
	done()
	if a, b := identity.PairOf("mia", "198.51.100.7"), identity.PairOf("mia", "198.51.100.8"); a == b {
		t.Errorf("two places are one: %s", a)
	}
	if err := p.Allow(now.Add(15*time.Minute), mia, "ip:1"); err != nil {
		t.Errorf("a quarter of an hour later: %v", err)
	}
	p.Succeeded(mia)
	if err := p.Allow(now, mia, "ip:99"); err != nil {
		t.Errorf("after a success: %v", err)
	}
	for i := range 250_000 { // memory is bounded
		p.Failed(now, strconv.Itoa(i))
	}
	if err := p.Allow(now, "tom", "ip:9"); err != nil {
		t.Error(err)
	}
}

func TestPlaceOf(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"198.51.100.7": "ip:198.51.100.7", "::ffff:198.51.100.7": "ip:198.51.100.7",
		"2001:db8:1:2:3:4:5:6": "ip:2001:db8:1:2::/64", "fe80::1%eth0": "ip:fe80::/64", "": "ip:", "a socket": "ip:a socket",
	} {
		if got := identity.NetworkOf(remote); got != want {
			t.Errorf("%q: %q, want %q", remote, got, want)
		}
	}
}

package identity_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/domain/identity"
	"sluice/internal/kernel/fault"
)

var laneNow = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// slowThrottle is one at which each of the networks failed ten times.
func slowThrottle(networks ...string) *identity.LoginThrottle {
	p := identity.NewLoginThrottle()
	for range 10 {
		p.Failed(laneNow, networks...)
	}
	return p
}

// Guesses without end from one network delay no login from another one.
func TestSlowly_NetworksDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := slowThrottle("ip:1", "ip:2")
		ctx, stop := context.WithCancel(t.Context())
		refused := make(chan error, 60)
		for range 60 { // none of them ever ends
			go func() {
				if _, _, err := p.Slowly(ctx, laneNow, "ip:1"); fault.Has(err, fault.RateLimited) {
					refused <- err
				}
			}()
		}
		synctest.Wait()
		if n := len(refused); n != 60-1-8 {
			t.Errorf("%d of 60 attempts are refused, want all but one that is made and eight that wait", n)
		}
		if err := <-refused; fault.From(err).Retry < time.Second {
			t.Errorf("refused with Retry-After %v", fault.From(err).Retry)
		}
		slow, done, err := p.Slowly(t.Context(), laneNow, "ip:2")
		if !slow || err != nil {
			t.Fatalf("an attempt from another network: slow %v, %v", slow, err)
		}
		done()
		stop()
		synctest.Wait()
	})
}

// turns starts nine attempts of each kind while one is made, of which eight wait, and
// returns the order in which those get their turn.
func turns(t *testing.T, p *identity.LoginThrottle, kinds ...string) (order []string) {
	t.Helper()
	_, done, err := p.Slowly(t.Context(), laneNow, "ip:1")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 99)
	for _, kind := range kinds {
		for range 9 {
			go func() {
				_, done, err := p.Slowly(t.Context(), laneNow, "ip:1", kind)
				if err != nil {
					return
				}
				got <- kind
				done()
			}()
		}
		synctest.Wait()
	}
	done()
	synctest.Wait()
	close(got)
	for kind := range got {
		order = append(order, kind)
	}
	return order
}

// Logins without recent failures go first and find a queue of their own; the others are not
// locked out.
func TestSlowly_LoginsWithoutFailuresGoFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := slowThrottle("ip:1")
		p.Failed(laneNow, "guessed")
		got := turns(t, p, "guessed", "clean")
		want := strings.Fields("clean clean clean guessed clean clean clean guessed clean clean guessed guessed guessed guessed guessed guessed")
		if !slices.Equal(got, want) {
			t.Errorf("turns\n%v, want\n%v", got, want)
		}
		later := laneNow.Add(15 * time.Minute)
		if slow, done, err := p.Slowly(t.Context(), later, "ip:1"); slow || err != nil {
			t.Errorf("a quarter of an hour later: slow %v, %v", slow, err)
		} else {
			done()
		}
	})
}

// An attempt whose caller leaves gives up its position, also when it has its turn by then.
func TestSlowly_CallersThatLeaveFreeTheirPosition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := slowThrottle("ip:1")
		for range 50 {
			_, done, err := p.Slowly(t.Context(), laneNow, "ip:1")
			if err != nil {
				t.Fatal(err)
			}
			ctx, leave := context.WithCancel(t.Context())
			for range 8 {
				go func() {
					_, done, err := p.Slowly(ctx, laneNow, "ip:1")
					if err == nil {
						done()
					} else if !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}()
			}
			synctest.Wait()
			go leave()
			done()
			synctest.Wait()
		}
	})
}

// However many networks are slow, there is a bound of lanes; those beyond it share one.
func TestSlowly_LanesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var networks []string
		for i := range 100 {
			networks = append(networks, fmt.Sprintf("ip:%d", i))
		}
		p := slowThrottle(networks...)
		made, refused := make(chan func(), 100), make(chan error, 100)
		ctx, stop := context.WithCancel(t.Context())
		for _, n := range networks {
			go func() {
				_, done, err := p.Slowly(ctx, laneNow, n)
				if err != nil {
					refused <- err
					return
				}
				made <- done
			}()
		}
		synctest.Wait()
		if len(made) != 65 || len(refused) != 100-65-8 {
			t.Errorf("%d attempts are made at once and %d refused", len(made), len(refused))
		}
		stop()
		for range len(made) {
			(<-made)()
		}
		synctest.Wait()
		if _, done, err := p.Slowly(t.Context(), laneNow, "ip:99"); err != nil {
			t.Errorf("after that: %v", err)
		} else {
			done()
		}
	})
}

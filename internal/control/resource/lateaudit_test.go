package resource_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// held is a store that takes no transaction until it is released.
type held struct {
	resource.Store
	waiting  chan struct{} // gets one for each transaction that waits
	released chan struct{}
}

func (s held) InTx(ctx context.Context, f func(resource.Tx) error) error {
	s.waiting <- struct{}{}
	select {
	case <-s.released:
		return s.Store.InTx(ctx, f)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// rejectedLogin is a public operation that turns everybody away whom it knows.
func rejectedLogin() resource.Operations {
	return resource.Operations{{
		Method: "POST", Path: "/door", ID: "knock", Public: true, Audited: "auth", Action: "login",
		Run: func(_ context.Context, c *resource.Call) (any, error) {
			c.SetPrincipal(&access.Principal{Kind: access.BySession, OrgID: "org", UserID: "ada"})
			return nil, fault.New(fault.Unauthenticated, "not today")
		},
	}}
}

// Strangers are answered before the trail is written, on every protocol and as often as
// they ask, and the trail has it afterwards.
func TestStrangersDoNotWaitForTheTrail(t *testing.T) {
	t.Parallel()
	const knocks = 3
	h := held{waiting: make(chan struct{}, knocks), released: make(chan struct{})}
	r := newRig(t, func(s resource.Store) resource.Store { h.Store = s; return h }, rejectedLogin())
	s := httptest.NewServer(r.engine.Handler())
	t.Cleanup(s.Close)
	client := s.Client()
	client.Timeout = time.Minute
	for range knocks { // over one connection
		response, err := client.Post(s.URL+"/v1/door", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusUnauthorized || !strings.Contains(string(body), "not today") {
			t.Fatalf("%d %s, %v", response.StatusCode, body, err)
		}
		<-h.waiting
	}
	if n := len(r.trail()); n != 0 {
		t.Errorf("%d rows of a store that takes none", n)
	}
	hasty, stop := context.WithCancel(t.Context())
	stop()
	if err := r.engine.Await(hasty); err == nil {
		t.Error("nothing is awaited while the trail lacks rows")
	}
	close(h.released)
	if err := r.engine.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rows := r.trail(); len(rows) != knocks || rows[0].Status != http.StatusUnauthorized || rows[0].ActorID != "ada" {
		t.Errorf("on the trail: %+v", rows)
	}
}

// Where more strangers come than the store takes, the call that is one too many lasts until its
// row is written, and none is lost.
func TestManyStrangersAtOnce(t *testing.T) {
	t.Parallel()
	const knocks = resource.MaxLateAudits + 1
	h := held{waiting: make(chan struct{}, knocks), released: make(chan struct{})}
	r := newRig(t, func(s resource.Store) resource.Store { h.Store = s; return h }, rejectedLogin())
	for range resource.MaxLateAudits {
		r.expect(t, http.StatusUnauthorized, "not today", "POST", "/door", "")
		<-h.waiting
	}
	last := make(chan struct{})
	go func() {
		defer close(last)
		r.expect(t, http.StatusUnauthorized, "not today", "POST", "/door", "")
	}()
	<-h.waiting
	select {
	case <-last:
		t.Error("one too many was taken")
	default:
	}
	close(h.released)
	<-last
	if err := r.engine.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(r.trail()); n != knocks {
		t.Errorf("%d rows of %d", n, knocks)
	}
}

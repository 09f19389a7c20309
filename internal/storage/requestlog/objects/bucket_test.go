package objects_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/objects"
	"sluice/internal/test/upstream"
)

// fake is an object store in this process with the bucket "logs".
func fake(t *testing.T) string {
	t.Helper()
	store := s3mem.New()
	if err := store.CreateBucket("logs"); err != nil {
		t.Fatal(err)
	}
	return serve(t, gofakes3.New(store).Server())
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func open(t *testing.T, o objects.Options) *objects.Bucket {
	t.Helper()
	if o.Bucket == "" {
		o.Bucket = "logs"
	}
	if o.Google == nil {
		o.AWS = credentials.NewStaticCredentialsProvider("key", "secret", "")
	}
	o.PathStyle = true
	return objects.New(o)
}

func TestObjects(t *testing.T) {
	t.Parallel()
	url := fake(t)
	b := open(t, objects.Options{Endpoint: url, Prefix: "gateway/"})
	ctx := t.Context()
	for key, text := range map[string]string{"bodies/a/1": "0123456789", "bodies/b/1": "other", "30/o/x y+z.json": "{}"} {
		if err := b.Put(ctx, key, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		key         string
		offset, max int64
		want        string
	}{
		{"bodies/a/1", 0, 100, "0123456789"}, {"bodies/a/1", 3, 4, "3456"}, {"bodies/a/1", 9, 4, "9"}, {"30/o/x y+z.json", 0, 100, "{}"},
	} {
		if got, err := b.Get(ctx, c.key, c.offset, c.max); err != nil || string(got) != c.want {
			t.Errorf("%s from %d: %q, %v; want %q", c.key, c.offset, got, err, c.want)
		}
	}
	if _, err := b.Get(ctx, "bodies/a/2", 0, 1); !errors.Is(err, bodies.ErrGone) {
		t.Errorf("got %v, want that it is gone", err)
	}
	for range 6 { // more than open the breaker
		if _, err := b.Get(ctx, "bodies/a/1", 10, 1); !errors.Is(err, bodies.ErrGone) {
			t.Errorf("behind its end: got %v, want that it is gone", err)
		}
	}
	if folders, err := b.Folders(ctx, "bodies/"); err != nil || !slices.Equal(folders, []string{"a", "b"}) {
		t.Errorf("folders %v, %v", folders, err)
	}
	for range 2 { // one that is gone does no harm
		if err := b.Delete(ctx, "bodies/a/1"); err != nil {
			t.Error(err)
		}
	}
	bare := open(t, objects.Options{Endpoint: url})
	if got, err := bare.Get(ctx, "gateway/bodies/b/1", 0, 10); err != nil || string(got) != "other" {
		t.Errorf("under its prefix: %q, %v", got, err)
	}
	if err := b.Probe(ctx); err != nil {
		t.Error(err)
	}
	if left := list(t, b, ""); !slices.Equal(left, []string{"30/o/x y+z.json", "bodies/b/1"}) {
		t.Errorf("left %v", left)
	}
}

func list(t *testing.T, b *objects.Bucket, prefix string) (keys []string) {
	t.Helper()
	err := b.List(t.Context(), prefix, func(o bodies.Object) bool {
		if o.Modified.IsZero() {
			t.Errorf("%s has no time", o.Key)
		}
		keys = append(keys, o.Key)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// Lists go on behind the thousand that one answer has.
func TestLongLists(t *testing.T) {
	t.Parallel()
	b := open(t, objects.Options{Endpoint: fake(t)})
	const n = 1100
	for i := range n {
		if err := b.Put(t.Context(), fmt.Sprintf("bodies/a/%04d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if keys := list(t, b, "bodies/a/"); len(keys) != n || !slices.IsSorted(keys) {
		t.Errorf("%d keys, want %d in order", len(keys), n)
	}
	seen := 0
	if err := b.List(t.Context(), "bodies/", func(bodies.Object) bool { seen++; return seen < 5 }); err != nil || seen != 5 {
		t.Errorf("%d keys visited, %v; want to stop at the fifth", seen, err)
	}
}

func TestGoogleTokensAreSent(t *testing.T) {
	t.Parallel()
	var seen atomic.Value
	url := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen.Store(r.Header.Get("Authorization")) }))
	token := func(context.Context) (string, error) { return "ya29.token", nil }
	b := open(t, objects.Options{Endpoint: url, Google: token})
	if err := b.Put(t.Context(), "x", []byte("y")); err != nil || seen.Load() != "Bearer ya29.token" {
		t.Errorf("authorization %q, %v", seen.Load(), err)
	}
}

type fakeClock struct{ now time.Time }

func (c *fakeClock) Now() time.Time { return c.now }

// After five failures the store is left alone for a minute; then one call finds out. That
// an object is not there is no failure.
func TestBreaker(t *testing.T) {
	t.Parallel()
	var requests, status atomic.Int64
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(int(status.Load()))
	}))
	clock := &fakeClock{now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
	b := open(t, objects.Options{Endpoint: url, Clock: clock})
	put := func(code int64) error {
		status.Store(code)
		return b.Put(t.Context(), "k", []byte("v"))
	}
	for range 20 {
		status.Store(http.StatusNotFound)
		if _, err := b.Get(t.Context(), "k", 0, 1); !errors.Is(err, bodies.ErrGone) {
			t.Fatalf("got %v, want that it is gone", err)
		}
	}
	for range 5 {
		if err := put(http.StatusForbidden); err == nil {
			t.Fatal("a refusal went well")
		}
	}
	if b.Err() == nil {
		t.Error("the breaker is closed after five failures")
	}
	before := requests.Load()
	if err := put(http.StatusOK); err == nil || requests.Load() != before || !strings.Contains(err.Error(), "requests paused until") {
		t.Errorf("%v after %d calls more, want none", err, requests.Load()-before)
	}
	clock.now = clock.now.Add(time.Minute)
	if err := put(http.StatusForbidden); err == nil || requests.Load() == before {
		t.Errorf("%v, want that it was tried", err)
	}
	if err := put(http.StatusOK); err == nil {
		t.Error("asked again at once after a failed try")
	}
	clock.now = clock.now.Add(time.Minute)
	if err := put(http.StatusOK); err != nil || b.Err() != nil {
		t.Errorf("%v, %v; want that it is well again", err, b.Err())
	}
}

func TestEachFaultHasItsCure(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"NoSuchBucket": "LOG_STORE_BUCKET", "AccessDenied": "s3:PutObject", "InvalidAccessKeyId": "LOG_STORE_ACCESS_KEY",
		"SignatureDoesNotMatch": "LOG_STORE_SECRET_KEY", "AuthorizationHeaderMalformed": "LOG_STORE_REGION", "Strange": "LOG_STORE_ENDPOINT",
	} {
		url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
		}))
		err := open(t, objects.Options{Endpoint: url}).Probe(t.Context())
		if got := objects.Hint(err); err == nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v; %s, want a word of %s", code, err, got, want)
		}
	}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	for url, want := range map[string]string{upstream.Refused(t): "and the firewall", secure.URL: "set LOG_STORE_CA"} {
		err := open(t, objects.Options{Endpoint: url}).Probe(t.Context())
		if err == nil || !strings.Contains(objects.Hint(err), want) {
			t.Errorf("%s: %v; %s", url, err, objects.Hint(err))
		}
	}
}

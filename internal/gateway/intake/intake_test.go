package intake_test

import (
	"errors"
	"testing"
	"time"

	"sluice/internal/domain/audit"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/call"
	"sluice/internal/gateway/intake"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

const key = "sk-key-of-the-tests-0000000000"

// directory has one key.
type directory struct {
	hash  keys.Hash
	entry keys.Entry
}

func (d *directory) FindKey(h keys.Hash) *keys.Entry {
	if h.Equal(d.hash) {
		return &d.entry
	}
	return nil
}

// refusedTokens counts rejected JWTs.
type refusedTokens struct{ count int }

func (r *refusedTokens) TokenRefused(audit.RefusedToken) { r.count++ }

func newCallers(tokens intake.RefusedTokens) (*intake.Authenticator, *directory) {
	h := keys.NewHasher([]byte("pepper of the tests"))
	d := &directory{hash: h.Sum(key), entry: keys.Entry{Status: "active", Principal: access.Principal{ID: "k", WorkspaceID: "w"}}}
	return &intake.Authenticator{Hasher: h, Aliases: []string{"x-portal-"}, Tokens: tokens}, d
}

func TestAuthenticate_FindsTheKeyInEachHeaderAndRemovesIt(t *testing.T) {
	t.Parallel()
	for _, f := range []wire.Field{
		{Name: "x-gateway-api-key", Value: key}, {Name: "x-portal-api-key", Value: key}, {Name: "authorization", Value: "Bearer " + key},
		{Name: "x-api-key", Value: key}, {Name: "api-key", Value: key}, {Name: "x-goog-api-key", Value: key},
		{Name: "sec-websocket-protocol", Value: "realtime, " + call.KeyProtocol + key},
	} {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			callers, dir := newCallers(nil)
			req := &wire.Request{Method: "POST", Header: wire.Header{f, {Name: "accept", Value: "*/*"}}}
			var o call.Options
			intake.ReadOptions(&o, req.Header, callers.Aliases)
			e, err := callers.Authenticate(dir, req, &o, intake.Arrival{Time: time.Unix(1, 0)})
			if err != nil || e.Principal.ID != "k" {
				t.Fatalf("got %v %v, want the key", e, err)
			}
			if len(req.Header) != 1 || req.Header[0].Name != "accept" {
				t.Errorf("got headers %v, want only accept", req.Header)
			}
		})
	}
}

func TestAuthenticate_RejectsUnusableCredentials(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header wire.Header
		query  string
		code   fault.Code
	}{
		"no key":             {nil, "", fault.Unauthenticated},
		"unknown key":        {wire.Header{{Name: "x-gateway-api-key", Value: "sk-unknown"}}, "", fault.Unauthenticated},
		"two different keys": {wire.Header{{Name: "x-gateway-api-key", Value: key}, {Name: "x-gateway-api-key", Value: "sk-unknown"}}, "", fault.InvalidRequest},
		"key in the query":   {wire.Header{{Name: "x-gateway-api-key", Value: key}}, "a=b&key=" + key, fault.InvalidRequest},
		"metadata not UTF-8": {wire.Header{{Name: "x-gateway-api-key", Value: key}, {Name: "x-gateway-metadata", Value: "\xff"}}, "", fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			callers, dir := newCallers(nil)
			var o call.Options
			intake.ReadOptions(&o, c.header, callers.Aliases)
			if _, err := callers.Authenticate(dir, &wire.Request{Header: c.header, RawQuery: c.query}, &o, intake.Arrival{}); !fault.Has(err, c.code) {
				t.Errorf("got %v, want %s", err, c.code)
			}
		})
	}
}

func TestAuthenticate_RecordsRejectedTokens(t *testing.T) {
	t.Parallel()
	tokens := new(refusedTokens)
	callers, dir := newCallers(tokens)
	req := &wire.Request{Header: wire.Header{{Name: "authorization", Value: "Bearer a.b.c"}}}
	var o call.Options
	intake.ReadOptions(&o, req.Header, nil)
	if _, err := callers.Authenticate(dir, req, &o, intake.Arrival{}); !errors.Is(err, intake.ErrToken) || tokens.count != 1 {
		t.Errorf("got %v and %d records, want ErrToken and one", err, tokens.count)
	}
}

func TestDescribe_MergesMetadataAndHidesPrivateHeaders(t *testing.T) {
	t.Parallel()
	headers := intake.MetadataHeaders{{Header: "x-user-email", Key: "_user", Private: true}, {Header: "x-team", Key: "team"}}
	h := wire.Header{{Name: "x-user-email", Value: "ada@a.example"}, {Name: "x-team", Value: "blue"}}
	got := headers.Describe(&call.Options{Metadata: `{"team":"red","n":1}`}, new(keys.Entry), nil, &h)
	if len(got) != 3 || got["_user"] != "ada@a.example" || got["team"] != "red" || got["n"] != "1" {
		t.Errorf("got %v", got)
	}
	if len(h) != 1 || h[0].Name != "x-team" {
		t.Errorf("got headers %v, want only x-team", h)
	}
}

func TestAddUser_KeepsTheUserThatTheCallerNamed(t *testing.T) {
	t.Parallel()
	if got := intake.AddUser(nil, "ada"); got["_user"] != "ada" {
		t.Errorf("got %v, want ada", got)
	}
	if got := intake.AddUser(map[string]string{"_user": "eve"}, "ada"); got["_user"] != "eve" {
		t.Errorf("got %v, want eve", got)
	}
}

func TestInlineConfigs_AreParsedOnceAndCanBeBlocked(t *testing.T) {
	t.Parallel()
	c := intake.NewInlineConfigs(routing.Limits{}, false)
	first, err := c.Parse(`{"provider":"openai","api_key":"sk-1"}`)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Parse(`{"provider":"openai","api_key":"sk-1"}`); err != nil || again != first {
		t.Errorf("got %p %v, want the cached config %p", again, err, first)
	}
	o := &call.Options{Config: ` {"provider":"openai","api_key":"sk-1"}`}
	if err := c.Check(o, nil); err != nil {
		t.Errorf("got %v, want it allowed", err)
	}
	if err := c.Check(o, &tenant.Scope{SavedOnly: true}); !fault.Has(err, fault.InlineBlocked) {
		t.Errorf("got %v, want it blocked", err)
	}
}

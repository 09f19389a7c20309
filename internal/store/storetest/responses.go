package storetest

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"testing"
	"time"

	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/store"
)

// responses are kept for one workspace, until their time is over.
func responses(t *testing.T, s *store.Store) {
	ctx, now := t.Context(), time.Date(2001, 11, 20, 10, 0, 0, 0, time.UTC) // long ago, so that the sweep meets nothing of others
	home, away := ident.NewID(), ident.NewID()
	id := "resp_gw" + ident.NewID()[:26]
	input, response := []byte(`[{"role":"user","content":"Grüße \u0000 😀 \\ '"}]`), []byte(`{"id":"`+id+`"}`)
	find := func(workspace, id string, at time.Time) fault.Code {
		t.Helper()
		in, out, err := s.FindResponse(ctx, workspace, id, at)
		if err != nil {
			return fault.From(err).Code
		}
		if !bytes.Equal(in, input) || !bytes.Equal(out, response) {
			t.Errorf("found %s and %s", in, out)
		}
		return ""
	}
	same(t, "before", find(home, id, now), fault.NotFound)
	must(t, s.KeepResponse(ctx, home, id, now.Add(time.Hour), input, response))
	must(t, s.KeepResponse(ctx, home, id, now.Add(9*time.Hour), []byte("[]"), []byte("{}"))) // changes nothing
	same(t, "kept", find(home, id, now), fault.Code(""))
	same(t, "in another workspace", find(away, id, now), fault.NotFound)
	same(t, "another id", find(home, id+"x", now), fault.NotFound)
	same(t, "the moment it expires", find(home, id, now.Add(time.Hour)), fault.NotFound)
	wantCode(t, "delete in another workspace", s.DeleteResponse(ctx, away, id), fault.NotFound)
	must(t, s.DeleteResponse(ctx, home, id))
	wantCode(t, "delete again", s.DeleteResponse(ctx, home, id), fault.NotFound)
	same(t, "deleted", find(home, id, now), fault.NotFound)

	must(t, s.KeepResponse(ctx, home, id, now.Add(time.Hour), input, response))
	must(t, s.SweepResponses(ctx, now.Add(time.Hour-time.Millisecond)))
	same(t, "before the sweep", find(home, id, now), fault.Code(""))
	must(t, s.SweepResponses(ctx, now.Add(time.Hour)))
	same(t, "after the sweep", find(home, id, now), fault.NotFound)
	wantCode(t, "an id too long", s.KeepResponse(ctx, home, string(bytes.Repeat([]byte("x"), 65)), now, input, response), fault.InvalidRequest)
}

// largeResponses are kept up to the limit, whatever is in them.
func largeResponses(t *testing.T, s *store.Store) {
	noise := make([]byte, store.MaxResponseBytes/4*3)
	_, _ = rand.Read(noise)
	picture := []byte(base64.StdEncoding.EncodeToString(noise))
	until := time.Now().Add(time.Hour)
	home, id := ident.NewID(), "resp_gw"+ident.NewID()[:26]
	must(t, s.KeepResponse(t.Context(), home, id, until, picture, nil))
	in, out, err := s.FindResponse(t.Context(), home, id, time.Now())
	must(t, err)
	if !bytes.Equal(in, picture) || len(out) != 0 {
		t.Errorf("%d bytes came back as %d and %d", len(picture), len(in), len(out))
	}
	must(t, s.DeleteResponse(t.Context(), home, id))
	wantCode(t, "a byte more", s.KeepResponse(t.Context(), home, id, until, picture, []byte("x")), fault.TooLarge)
	raw := make([]byte, store.MaxResponseBytes)
	_, _ = rand.Read(raw)
	wantCode(t, "what cannot be compressed", s.KeepResponse(t.Context(), home, id, until, raw, nil), fault.TooLarge)
}

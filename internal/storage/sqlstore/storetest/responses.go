package storetest

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore"
)

// responses are kept for one workspace, until their time is over.
func responses(t *testing.T, s *sqlstore.Store) {
	ctx, now := t.Context(), time.Date(2001, 11, 20, 10, 0, 0, 0, time.UTC) // long ago, so that the sweep meets nothing of others
	workspaceID, otherWorkspaceID := ident.NewID(), ident.NewID()
	id := "resp_gw" + ident.NewID()[:26]
	input, response := []byte(`[{"role":"user","content":"Grüße \u0000 😀 \\ '"}]`), []byte(`{"id":"`+id+`"}`)
	find := func(workspace, id string, at time.Time) fault.Code {
		t.Helper()
		gotInput, out, err := s.FindResponse(ctx, workspace, id, at)
		if err != nil {
			return fault.From(err).Code
		}
		if !bytes.Equal(gotInput, input) || !bytes.Equal(out, response) {
			t.Errorf("found %s and %s", gotInput, out)
		}
		return ""
	}
	same(t, "before", find(workspaceID, id, now), fault.NotFound)
	must(t, s.SaveResponse(ctx, workspaceID, id, now.Add(time.Hour), input, response))
	must(t, s.SaveResponse(ctx, workspaceID, id, now.Add(9*time.Hour), []byte("[]"), []byte("{}"))) // changes nothing
	same(t, "kept", find(workspaceID, id, now), fault.Code(""))
	same(t, "in another workspace", find(otherWorkspaceID, id, now), fault.NotFound)
	same(t, "another id", find(workspaceID, id+"x", now), fault.NotFound)
	same(t, "the moment it expires", find(workspaceID, id, now.Add(time.Hour)), fault.NotFound)
	wantCode(t, "delete in another workspace", s.DeleteResponse(ctx, otherWorkspaceID, id), fault.NotFound)
	must(t, s.DeleteResponse(ctx, workspaceID, id))
	wantCode(t, "delete again", s.DeleteResponse(ctx, workspaceID, id), fault.NotFound)
	same(t, "deleted", find(workspaceID, id, now), fault.NotFound)

	must(t, s.SaveResponse(ctx, workspaceID, id, now.Add(time.Hour), input, response))
	must(t, s.SweepResponses(ctx, now.Add(time.Hour-time.Millisecond)))
	same(t, "before the sweep", find(workspaceID, id, now), fault.Code(""))
	must(t, s.SweepResponses(ctx, now.Add(time.Hour)))
	same(t, "after the sweep", find(workspaceID, id, now), fault.NotFound)
	wantCode(t, "an id too long", s.SaveResponse(ctx, workspaceID, string(bytes.Repeat([]byte("x"), 65)), now, input, response), fault.InvalidRequest)
}

// largeResponses are kept up to the limit, whatever is in them.
func largeResponses(t *testing.T, s *sqlstore.Store) {
	noise := make([]byte, sqlstore.MaxResponseBytes/4*3)
	_, _ = rand.Read(noise)
	image := []byte(base64.StdEncoding.EncodeToString(noise))
	until := time.Now().Add(time.Hour)
	workspaceID, id := ident.NewID(), "resp_gw"+ident.NewID()[:26]
	must(t, s.SaveResponse(t.Context(), workspaceID, id, until, image, nil))
	gotInput, out, err := s.FindResponse(t.Context(), workspaceID, id, time.Now())
	must(t, err)
	if !bytes.Equal(gotInput, image) || len(out) != 0 {
		t.Errorf("%d bytes came back as %d and %d", len(image), len(gotInput), len(out))
	}
	must(t, s.DeleteResponse(t.Context(), workspaceID, id))
	wantCode(t, "a byte more", s.SaveResponse(t.Context(), workspaceID, id, until, image, []byte("x")), fault.TooLarge)
	raw := make([]byte, sqlstore.MaxResponseBytes)
	_, _ = rand.Read(raw)
	wantCode(t, "what cannot be compressed", s.SaveResponse(t.Context(), workspaceID, id, until, raw, nil), fault.TooLarge)
}

package dataplane_test

import (
	"strings"
	"testing"

	"sluice/test/upstream"
)

// A short call that names many files does not make the gateway hold them all.
func TestFetchedFilesAreBounded(t *testing.T) {
	t.Parallel()
	picture := upstream.JSON(200, []byte("\x89PNG"))
	picture.Header = []upstream.Field{{Name: "Content-Type", Value: "image/png"}}
	large := picture
	large.Pieces = []upstream.Piece{{Bytes: make([]byte, 18<<20)}}
	for name, c := range map[string]struct {
		reply         upstream.Reply
		names, status int
		fetched       int
	}{
		"as many as may be": {picture, 32, 200, 32}, "one more": {picture, 33, 400, 32}, "large ones": {large, 5, 400, 4},
	} {
		r := newRig(t)
		r.up.On("/a.png", upstream.Always(c.reply))
		r.up.On("/model/anthropic.claude-sonnet-4/converse", upstream.Always(upstream.JSON(200, []byte(converseSays))))
		part := `{"type":"image_url","image_url":{"url":"` + r.up.URL() + `/a.png"}},`
		body := `{"model":"anthropic.claude-sonnet-4","messages":[{"role":"user","content":[` + strings.Repeat(part, c.names) + `{"type":"text","text":"Hello"}]}]}`
		a := r.call("POST", "/v1/chat/completions", body, r.bedrock()...)
		if fetched := strings.Count(r.asked(), "/a.png"); a.StatusCode != c.status || fetched != c.fetched {
			t.Errorf("%s: %d after %d files: %.200s", name, a.StatusCode, fetched, a.Text)
		}
	}
}

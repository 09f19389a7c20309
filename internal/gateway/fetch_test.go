package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// A short call that names many files does not make the gateway hold them all.
func TestFetchedFilesAreBounded(t *testing.T) {
	t.Parallel()
	image := upstream.JSON(200, []byte("\x89PNG"))
	image.Header = []upstream.Field{{Name: "Content-Type", Value: "image/png"}}
	large := image
	large.Chunks = []upstream.Chunk{{Bytes: make([]byte, 18<<20)}}
	for name, c := range map[string]struct {
		response      upstream.Response
		names, status int
		fetched       int
	}{
		"as many as may be": {image, 32, 200, 32}, "one more": {image, 33, 400, 32}, "large ones": {large, 5, 400, 4},
	} {
		r := newRig(t)
		r.up.Handle("/a.png", upstream.Always(c.response))
		r.up.Handle("/model/anthropic.claude-sonnet-4/converse", upstream.Always(upstream.JSON(200, []byte(converseResponse))))
		part := `{"type":"image_url","image_url":{"url":"` + r.up.URL() + `/a.png"}},`
		body := `{"model":"anthropic.claude-sonnet-4","messages":[{"role":"user","content":[` + strings.Repeat(part, c.names) + `{"type":"text","text":"Hello"}]}]}`
		a := r.call("POST", "/v1/chat/completions", body, r.bedrock()...)
		if fetched := strings.Count(r.requestedPaths(), "/a.png"); a.StatusCode != c.status || fetched != c.fetched {
			t.Errorf("%s: %d after %d files: %.200s", name, a.StatusCode, fetched, a.Text)
		}
	}
}

// Claude at Google and at Amazon fetches nothing: pictures that are named by URL reach it with
// their bytes, whatever the caller speaks. Anthropic itself gets the URL.
func TestClaudeElsewhereGetsPicturesWithTheirBytes(t *testing.T) {
	t.Parallel()
	const data = `{"type":"base64","media_type":"image/png","data":"iVBORw=="}`
	image := upstream.JSON(200, []byte("\x89PNG"))
	image.Header = []upstream.Field{{Name: "Content-Type", Value: "image/png"}}
	for _, c := range []struct{ name, path, model, target, part, want string }{
		{"messages at Google", "/v1/messages", "anthropic.claude-sonnet-4-5", "vertex", `{"type":"image","source":{"type":"url","url":"U"}}`, data},
		{"counted at Google", "/v1/messages/count_tokens", "anthropic.claude-sonnet-4-5", "vertex", `{"type":"image","source":{"type":"url","url":"U"}}`, data},
		{"chat at Google", "/v1/chat/completions", "anthropic.claude-sonnet-4-5", "vertex", `{"type":"image_url","image_url":{"url":"U"}}`, data},
		{"messages at Amazon", "/v1/messages", "anthropic.claude-sonnet-4", "bedrock", `{"type":"image","source":{"type":"url","url":"U"}}`, data},
		{"messages at Anthropic", "/v1/messages", "claude-sonnet-4-5", "anthropic", `{"type":"image","source":{"type":"url","url":"U"}}`, `{"type":"url","url":"U"}`},
		{"chat at Anthropic", "/v1/chat/completions", "claude-sonnet-4-5", "anthropic", `{"type":"image_url","image_url":{"url":"U"}}`, `{"type":"url","url":"U"}`},
	} {
		r := newRig(t)
		r.up.Handle("/a.png", upstream.Always(image))
		url := r.up.URL() + "/a.png"
		headers := map[string][]string{
			"vertex":    {"x-gateway-provider: vertex-ai", "x-gateway-vertex-region: global", "x-gateway-vertex-project-id: p", "authorization: Bearer upstream", "x-gateway-custom-host: " + r.up.URL()},
			"anthropic": {"x-gateway-provider: anthropic", "authorization: Bearer upstream", "x-gateway-custom-host: " + r.up.URL()},
			"bedrock":   r.bedrock(),
		}[c.target]
		body := `{"model":"` + c.model + `","max_tokens":9,"messages":[{"role":"user","content":[` + c.part + `,{"type":"text","text":"What is it?"}]}]}`
		r.call("POST", c.path, strings.ReplaceAll(body, `"U"`, `"`+url+`"`), headers...)
		seen := r.up.Seen()
		if got := string(seen[len(seen)-1].Body); !strings.Contains(got, strings.ReplaceAll(c.want, `"U"`, `"`+url+`"`)) {
			t.Errorf("%s: %s got %s", c.name, seen[len(seen)-1].Target, got)
		}
	}
	r := newRig(t)
	a := r.call("POST", "/v1/messages", `{"model":"anthropic.claude-sonnet-4","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"s3://bucket/a.png"}}]}]}`, r.bedrock()...)
	if a.StatusCode != 400 || !strings.Contains(a.Text, "http") {
		t.Errorf("a place in S3: %d %s", a.StatusCode, a.Text)
	}
}

package gateway_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
	"sluice/internal/test/upstream"
)

// isPageRefusal reports whether an answer says that the provider sent an HTML page.
func isPageRefusal(a callResult) bool {
	return a.StatusCode == 502 && strings.Contains(a.Text, "an HTML page instead of JSON")
}

// pageCalls are calls of the endpoints that a provider may have to be translated for.
var pageCalls = map[llm.Endpoint]unifiedCall{
	llm.ChatComplete:        {path: "/chat/completions", body: `{"model":"m-1","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`},
	llm.Messages:            {path: "/messages", body: `{"model":"m-1","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`},
	llm.CreateModelResponse: {path: "/responses", body: `{"model":"m-1","input":"x"}`},
	llm.Complete:            {path: "/completions", body: `{"model":"m-1","prompt":"x","max_tokens":9}`},
	llm.Embed:               {path: "/embeddings", body: `{"model":"m-1","input":["x"]}`},
	llm.Rerank:              {path: "/rerank", body: `{"model":"m-1","query":"x","documents":["y"]}`},
	llm.ImageGenerate:       {path: "/images/generations", body: `{"model":"m-1","prompt":"x"}`},
}

// skipped are credentials that would have to be exchanged for others first.
var skipped = map[string]bool{"aws_role_arn": true, "vertex_service_account_json": true, "oracle_private_key": true, "anthropic_beta": true, "aws_endpoint_domain": true}

// A provider that answers with an HTML page, as a proxy before it does, is named as the cause, in
// every dialect, under every label, whole and in place of a stream.
func TestHTMLPageIsNamedForEveryProvider(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	reached := map[string]bool{}
	for _, s := range r.gateway.Specs.All() {
		to := []string{"x-gateway-provider: " + s.ID, "x-gateway-custom-host: " + r.up.URL()}
		for _, f := range s.Fields {
			if len(f.Values) > 0 || skipped[f.Name] {
				continue
			}
			to = append(to, "x-gateway-"+strings.ReplaceAll(f.Name, "_", "-")+": x1")
		}
		to = append(to, "authorization: Bearer x1")
		for ep, c := range pageCalls {
			if ep == llm.Rerank && s.Endpoints[ep] == nil || s.Dialect == provider.Through {
				continue // is passed through
			}
			for _, label := range []string{"text/html", "application/json"} {
				page := labelled(label, "<!DOCTYPE html>\n<html><body>Sign in</body></html>")
				for _, body := range []string{c.body, strings.Replace(c.body, "{", `{"stream":true,`, 1)} {
					var calls atomic.Int32
					r.up.Script(func(upstream.Seen) *upstream.Response { calls.Add(1); return &page })
					a := r.call("POST", "/v1"+c.path, body, to...)
					if calls.Load() == 0 {
						continue // it does not serve that, or takes another credential
					}
					reached[s.ID] = true
					if !isPageRefusal(a) {
						t.Errorf("%s, %s labelled %q: %d %s", s.ID, ep, label, a.StatusCode, a.Text)
					}
				}
			}
		}
	}
	for _, id := range []string{"openai", "anthropic", "google", "cohere", "bedrock", "workers-ai", "reka-ai", "palm", "bytez", "triton", "ai21", "stability-ai", "voyage", "jina", "nomic", "vertex-ai"} {
		if !reached[id] {
			t.Errorf("%s was not reached", id)
		}
	}
	if len(reached) < 60 {
		t.Errorf("%d providers were reached", len(reached))
	}
}

// A redirect is relayed whatever its body is; where it would have to be translated it is named.
func TestRedirects(t *testing.T) {
	t.Parallel()
	for name, s := range surfaces {
		for _, p := range append([]speaker{responseSpeaker}, speakers...) {
			if p.id == "openai" && name != "responses" {
				continue
			}
			native := p.id == "openai" || p.id == "cerebras" && name == "chat" || p.id == "anthropic" && name == "messages"
			for _, body := range []string{"", "<html>Moved</html>", `{"moved":true}`} {
				for _, label := range []string{"", "text/html", "application/json"} {
					r := newRig(t)
					moved := labelled(label, body)
					moved.Status = 307
					r.up.Script(upstream.Always(moved))
					a := r.call("POST", s.path, s.body, r.as(p)...)
					if native && (a.StatusCode != 307 || a.Text != body) || !native && (a.StatusCode != 502 || !strings.Contains(a.Text, "a redirect (status 307) instead of JSON")) {
						t.Errorf("%s to %s, %q labelled %q: %d %s", name, p.id, body, label, a.StatusCode, a.Text)
					}
				}
			}
		}
	}
}

// An answer that is labelled as a stream and ends without an event is no stream: nothing of it is
// relayed, so that another target may be tried. A last line without its end counts.
func TestStreamWithoutEvents(t *testing.T) {
	t.Parallel()
	for name, s := range surfaces {
		for _, p := range append([]speaker{responseSpeaker}, speakers...) {
			if p.id == "openai" && name != "responses" {
				continue
			}
			r := newRig(t)
			for _, body := range []string{"plain words", "<Error>no</Error>", "[]", ": ping\n\n", "event: x\n\n"} {
				r.up.Script(upstream.Always(events(body)))
				a := r.call("POST", s.path, strings.Replace(s.body, "{", `{"stream":true,`, 1), r.as(p)...)
				if a.StatusCode != 502 || strings.Contains(a.Text, body) {
					t.Errorf("%s to %s, %q: %d %s", name, p.id, body, a.StatusCode, a.Text)
				}
			}
			r.up.Script(upstream.Always(events(strings.TrimRight(p.events[0], "\n"))))
			if a := r.call("POST", s.path, strings.Replace(s.body, "{", `{"stream":true,`, 1), r.as(p)...); a.StatusCode != 200 {
				t.Errorf("%s to %s, one event without its end: %d %s", name, p.id, a.StatusCode, a.Text)
			}
		}
	}
}

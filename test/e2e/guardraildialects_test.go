package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/limits/redistest"
	"sluice/internal/test/upstream"
	"sluice/internal/test/upstream/scripted"
)

// dialectPeer is a provider of one dialect that repeats what it receives.
type dialectPeer struct {
	name   string
	model  string
	script upstream.Script // nil: OpenAI's API
	base   string          // how the custom host ends
	fields object          // of an integration
	header []string        // credentials of a call
}

var dialectPeers = []dialectPeer{
	{name: "openai", model: "gpt-4o-mini", base: "/v1", header: []string{"authorization: Bearer sk-upstream-secret"}},
	{name: "anthropic", model: "claude-sonnet-4-5", script: scripted.Anthropic, base: "/v1", header: []string{"authorization: Bearer sk-upstream-secret"}},
	{name: "google", model: "gemini-2.5-flash", script: scripted.Gemini, header: []string{"authorization: Bearer sk-upstream-secret"}},
	{name: "bedrock", model: "amazon.nova-pro-v1:0", script: scripted.Bedrock,
		fields: object{"aws_region": "us-east-1", "aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": "secret"},
		header: []string{"x-gateway-aws-region: us-east-1", "x-gateway-aws-access-key-id: AKIDEXAMPLE", "x-gateway-aws-secret-access-key: secret"}},
}

// start starts the provider.
func (p *dialectPeer) start(t *testing.T) *upstream.Server {
	t.Helper()
	up := upstream.Start(t)
	up.Script(p.script)
	return up
}

// calling are the headers of a call to the provider.
func (p *dialectPeer) calling(up *upstream.Server) []string {
	return append([]string{"x-gateway-provider: " + p.name, "x-gateway-custom-host: " + up.URL() + p.base}, p.header...)
}

// surfaces are the APIs with the model of the provider.
func (p *dialectPeer) surfaces() []guardedSurface {
	out := slices.Clone(guardedSurfaces)
	for i := range out {
		out[i].request = strings.ReplaceAll(out[i].request, "gpt-4o-mini", p.model)
	}
	return out
}

// Each way of attaching a guardrail applies whatever API its caller uses and whatever dialect the
// provider has: on input and output, with denial and without, complete and streamed. An exempt
// workspace is spared by those of the organisation. OpenAI's dialect is in TestGuardrailAttachments.
func TestGuardrailAttachmentsByDialect(t *testing.T) {
	t.Parallel()
	for _, p := range dialectPeers[1:] {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			up, g := p.start(t), start(t)
			d, exempt := newGuarded(t, g, up), newDesk(t, []*gateway{g}, "exempt")
			spared := *d
			spared.desk = exempt
			for _, phase := range []string{"input", "output"} {
				g.do(adminKey, "PUT", "/v1/workspace-exclusions/"+phase+"-guardrails", object{"workspaces": []object{{"workspace_id": exempt.id, "excluded": true}}})
				for _, w := range attachments {
					for _, deny := range []bool{true, false} {
						t.Run(fmt.Sprintf("%s of %s, deny %v", w.name, phase, deny), func(t *testing.T) {
							headers, remove := w.attach(d, phase, deny)
							if remove != nil {
								defer remove()
							}
							headers = append(append(p.calling(up), d.as()), headers...)
							for _, s := range p.surfaces() {
								for _, stream := range []bool{false, true} {
									d.judge(t, s, judged{phase, deny, stream, "a forbidden text"}, headers)
									d.judge(t, s, judged{phase, deny, stream, "a harmless text"}, headers)
									if w.name == "default of the organisation" {
										spared.unjudged(t, s, stream, append(p.calling(up), exempt.as()))
									}
								}
							}
						})
					}
				}
			}
		})
	}
}

// unjudged makes a call with a forbidden text that no guardrail judges.
func (d *guarded) unjudged(t *testing.T, s guardedSurface, stream bool, headers []string) {
	t.Helper()
	body := fmt.Sprintf(s.request, "a forbidden text")
	if stream {
		body = strings.Replace(body, `{`, `{"stream":true,`, 1)
	}
	a := d.g.call("POST", s.path, body, headers...)
	if a.Status != 200 || !strings.Contains(a.Body, "forbidden") || strings.Contains(a.Body, "hook_results") {
		t.Errorf("%s, stream %v: %d %s", s.path, stream, a.Status, a.Body)
	}
}

// mutators are the ways of attaching a mutator that replaces the word "forbidden" in a phase. A mutator
// never denies, whatever its fields.
var mutators = []attachment{
	{"inline mutator", func(_ *guarded, phase string, deny bool) ([]string, func()) {
		return inlineConfig(object{phase + "_mutators": []object{{"id": "m", "deny": deny, "regexReplace": replaced}}}), nil
	}},
	{"inline hook", func(_ *guarded, phase string, deny bool) ([]string, func()) {
		side := map[string]string{"input": "before_request_hooks", "output": "after_request_hooks"}[phase]
		return inlineConfig(object{side: []object{{"id": "m", "type": "mutator", "deny": deny, "checks": []object{{"id": "default.regexReplace", "parameters": replaced}}}}}), nil
	}},
	{"saved guardrail as a mutator", func(d *guarded, phase string, deny bool) ([]string, func()) {
		return inlineConfig(object{phase + "_mutators": []string{d.savedMutator(deny)}}), nil
	}},
	{"saved config", func(d *guarded, phase string, deny bool) ([]string, func()) {
		slug := d.g.do(adminKey, "POST", "/v1/configs", object{"name": "mutating", "workspace_id": d.id, "config": object{phase + "_mutators": []object{{"deny": deny, "regexReplace": replaced}}}}).get("slug").String()
		return []string{"x-gateway-config: " + slug}, nil
	}},
	{"default of the workspace", func(d *guarded, phase string, deny bool) ([]string, func()) {
		set := func(names ...string) {
			d.g.do(adminKey, "PUT", "/v1/workspaces/"+d.id, object{"defaults": object{phase + "_guardrails": append([]string{}, names...)}})
		}
		set(d.savedMutator(deny))
		return nil, func() { set() }
	}},
}

// replaced are the parameters of a replacement that also reports what it found.
var replaced = object{"rule": "/forbidden/g", "redactText": "[REMOVED]"}

// savedMutator returns the slug of a guardrail that replaces the word.
func (d *guarded) savedMutator(deny bool) string {
	slug := fmt.Sprintf("pg-mutator-%v", deny)
	if d.guardrail[slug] == "" {
		d.guardrail[slug] = d.g.do(adminKey, "POST", "/v1/guardrails", object{
			"name": slug, "slug": slug, "workspace_id": d.id, "checks": []object{{"id": "default.regexReplace", "parameters": replaced}}, "actions": object{"deny": deny},
		}).get("slug").String()
	}
	return d.guardrail[slug]
}

// Mutators of the input change what the provider receives, and those of the output what the client
// receives, whatever API, dialect and form the call has. They pass harmless texts as they are.
func TestMutatorAttachmentsByDialect(t *testing.T) {
	t.Parallel()
	for _, p := range dialectPeers {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			up, g := p.start(t), start(t)
			d := newGuarded(t, g, up)
			for _, phase := range []string{"input", "output"} {
				for _, w := range mutators {
					for _, deny := range []bool{true, false} {
						t.Run(fmt.Sprintf("%s of %s, deny %v", w.name, phase, deny), func(t *testing.T) {
							headers, remove := w.attach(d, phase, deny)
							if remove != nil {
								defer remove()
							}
							headers = append(append(p.calling(up), d.as()), headers...)
							for _, s := range p.surfaces() {
								for _, stream := range []bool{false, true} {
									d.mutate(t, s, phase, stream, headers)
								}
							}
						})
					}
				}
			}
		})
	}
}

// mutate makes a call with a text that a mutator of a phase changes, and one that it leaves.
func (d *guarded) mutate(t *testing.T, s guardedSurface, phase string, stream bool, headers []string) {
	t.Helper()
	for word, seen := range map[string]string{"forbidden": "[REMOVED]", "harmless": "harmless"} {
		body := fmt.Sprintf(s.request, "a "+word+" text")
		if stream {
			body = strings.Replace(body, `{`, `{"stream":true,`, 1)
		}
		a := d.g.call("POST", s.path, body, headers...)
		if a.Status != 200 || stream && !strings.Contains(a.Body, s.end) || !strings.Contains(a.Body, seen) || word != seen && strings.Contains(a.Body, word) {
			t.Errorf("%s, stream %v, %s: %d %s", s.path, stream, word, a.Status, a.Body)
			continue
		}
		all := d.up.Seen()
		sent := string(all[len(all)-1].Body)
		if changed := strings.Contains(sent, "[REMOVED]"); changed != (phase == "input" && word == "forbidden") || !changed && !strings.Contains(sent, word) {
			t.Errorf("%s, stream %v, %s: the provider received %s", s.path, stream, word, sent)
		}
	}
}

// The official clients of OpenAI and Anthropic parse every outcome of guardrails in front of providers
// with Google's and Amazon's dialects, and what the cache serves of them.
func TestGuardrailAndCacheClientsByDialect(t *testing.T) {
	t.Parallel()
	g := start(t, with("RESPONSE_CACHE_STORE=memory"))
	for i, slug := range []string{"gemini", "bedrock"} {
		p := dialectPeers[2+i]
		up := p.start(t)
		g.saveIntegration(slug, p.name, up.URL()+p.base, p.fields)
	}
	for _, file := range []string{"guardrails.mjs", "cache.mjs"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			g.runFile(t, file, "guardrails are on", "SLUICE_PROVIDERS=@gemini,@bedrock")
		})
	}
}

// With GUARDRAILS_ENABLED=OFF, guardrails and mutators run nowhere, however they were attached before.
func TestGuardrailsOffByAttachment(t *testing.T) {
	t.Parallel()
	up, g := upstream.Start(t), start(t)
	d := newGuarded(t, g, up)
	rows := map[string][]string{}
	for _, w := range slices.Concat(attachments, mutators) {
		for _, phase := range []string{"input", "output"} {
			headers, _ := w.attach(d, phase, true)
			rows[w.name+" of "+phase] = headers
		}
	}
	denied := append(custom(up), d.as())
	g.call("POST", "/v1/chat/completions", fmt.Sprintf(guardedSurfaces[0].request, "a forbidden text"), denied...).want(t, statusDenied)
	g.stop()
	g.plan.env = append(g.plan.env, "GUARDRAILS_ENABLED=OFF")
	d.g = g.again()
	for name, headers := range rows {
		t.Run(name, func(t *testing.T) {
			for _, s := range guardedSurfaces {
				for _, stream := range []bool{false, true} {
					d.unjudged(t, s, stream, append(denied[:len(denied):len(denied)], headers...))
				}
			}
		})
	}
}

// default_cache_ttl of the organisation is the longest life of responses of each API and dialect, complete
// and streamed.
func TestCacheLifetimeByDialect(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	g := start(t, with("RESPONSE_CACHE_STORE=redis", "CACHE_STORE=memory", "REDIS_URL=redis://"+redis.Address))
	g.do(adminKey, "PUT", "/v1/organisations/self", object{"settings": object{"default_cache_ttl": 3600}})
	for _, p := range dialectPeers {
		up := p.start(t)
		for _, s := range p.surfaces() {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s, stream %v", p.name, s.path, stream), func(t *testing.T) {
					body := fmt.Sprintf(s.request, "a text of "+url.QueryEscape(t.Name()))
					if stream {
						body = strings.Replace(body, `{`, `{"stream":true,`, 1)
					}
					redis.Wipe(t)
					tries := 0
					status := func() string {
						headers := append(p.calling(up), `x-gateway-config: {"cache":{"mode":"simple","max_age":7776000}}`, "x-gateway-cache-namespace: "+strconv.Itoa(tries))
						return g.call("POST", s.path, body, headers...).want(t, 200).Header.Get(cacheStatus)
					}
					eventually(t, logLimit, "a response is stored for the time of the organisation", func() bool {
						tries++
						status()
						left := longestLifetime(t, redis)
						return left > 1800 && left <= 3600
					})
					eventually(t, logLimit, "the response is served from the cache", func() bool { return status() == "HIT" })
				})
			}
		}
	}
}

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// forbidden is the check of these tests: it fails on texts with the word "forbidden".
var forbidden = object{"rule": "forbidden", "not": true}

// guardedSurface is an API whose calls have text.
type guardedSurface struct {
	path    string
	request string   // with a text
	denied  []string // what only a stream has that was denied
	end     string   // what each stream has
	kind    string   // the type of the error of a denial
}

var guardedSurfaces = []guardedSurface{
	{"/v1/chat/completions", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":%q}]}`, []string{`"finish_reason":"content_filter"`}, "data: [DONE]\n\n", "hooks_failed"},
	{"/v1/messages", `{"model":"gpt-4o-mini","max_tokens":500,"messages":[{"role":"user","content":%q}]}`, []string{`"stop_reason":"refusal"`}, `"type":"message_stop"`, "invalid_request_error"},
	{"/v1/responses", `{"model":"gpt-4o-mini","store":false,"input":%q}`, []string{`"type":"response.incomplete"`, `"reason":"content_filter"`}, `"status":"`, "hooks_failed"},
}

// guarded is a workspace with guardrails, in front of a provider that repeats what it was sent.
type guarded struct {
	desk
	g         *gateway
	up        *upstream.Server
	org       string            // id of the organisation
	guardrail map[string]string // slugs of guardrails: "pg-deny" of the workspace, "pg-org-deny" of the organisation
}

// newGuarded makes the workspace, and guardrails in it and in the organisation that deny and that do not.
func newGuarded(t *testing.T, g *gateway, up *upstream.Server) *guarded {
	t.Helper()
	d := &guarded{desk: newDesk(t, []*gateway{g}, "guarded"), g: g, up: up, org: g.call("GET", "/v1/labels", "").want(t, 200).get("data.0.organisation_id").String(), guardrail: map[string]string{}}
	for _, deny := range []bool{true, false} {
		for level, scope := range map[string]object{"workspace": {"workspace_id": d.id}, "organisation": {"organisation_id": d.org}} {
			slug := fmt.Sprintf("pg-%s-%v", level, deny)
			body := object{"name": slug, "slug": slug, "checks": []object{{"id": "default.regexMatch", "parameters": forbidden}}, "actions": object{"deny": deny}}
			for name, value := range scope {
				body[name] = value
			}
			g.do(adminKey, "POST", "/v1/guardrails", body)
		}
	}
	return d
}

// attachment is a way of attaching a guardrail. It returns the headers of calls and how to remove it.
type attachment struct {
	name   string
	attach func(d *guarded, phase string, deny bool) (headers []string, remove func())
}

var attachments = []attachment{
	{"inline checks", func(_ *guarded, phase string, deny bool) ([]string, func()) {
		return inlineConfig(object{phase + "_guardrails": []object{{"id": "inline", "deny": deny, "regexMatch": forbidden}}}), nil
	}},
	{"inline hook", func(_ *guarded, phase string, deny bool) ([]string, func()) {
		side := map[string]string{"input": "before_request_hooks", "output": "after_request_hooks"}[phase]
		return inlineConfig(object{side: []object{{"id": "inline", "type": "guardrail", "deny": deny, "checks": []object{{"id": "default.regexMatch", "parameters": forbidden}}}}}), nil
	}},
	{"inline slug", func(_ *guarded, phase string, deny bool) ([]string, func()) {
		return inlineConfig(object{phase + "_guardrails": []string{fmt.Sprintf("pg-workspace-%v", deny)}}), nil
	}},
	{"saved config", func(d *guarded, phase string, deny bool) ([]string, func()) {
		slug := d.g.do(adminKey, "POST", "/v1/configs", object{"name": "guarded", "workspace_id": d.id, "config": object{phase + "_guardrails": []string{fmt.Sprintf("pg-workspace-%v", deny)}}}).get("slug").String()
		return []string{"x-gateway-config: " + slug}, nil
	}},
	{"default of the workspace", func(d *guarded, phase string, deny bool) ([]string, func()) {
		set := func(names ...string) {
			d.g.do(adminKey, "PUT", "/v1/workspaces/"+d.id, object{"defaults": object{phase + "_guardrails": append([]string{}, names...)}})
		}
		set(fmt.Sprintf("pg-workspace-%v", deny))
		return nil, func() { set() }
	}},
	{"default of the organisation", func(d *guarded, phase string, deny bool) ([]string, func()) {
		set := func(names ...string) {
			d.g.do(adminKey, "PUT", "/v1/admin/organisation/defaults", object{phase + "_guardrails": append([]string{}, names...)})
		}
		set(fmt.Sprintf("pg-organisation-%v", deny))
		return nil, func() { set() }
	}},
}

func inlineConfig(config object) []string { return []string{"x-gateway-config: " + jsonText(config)} }

// Each way of attaching a guardrail that an operator or a caller has, on input and output, with denial
// and without, complete and streamed, on the three APIs: what is forbidden is denied or marked, and
// what is harmless passes. A workspace that is exempt is spared.
func TestGuardrailAttachments(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	d, exempt := newGuarded(t, g, up), newDesk(t, []*gateway{g}, "exempt")
	for _, phase := range []string{"input", "output"} {
		g.do(adminKey, "PUT", "/v1/workspace-exclusions/"+phase+"-guardrails", object{"workspaces": []object{{"workspace_id": exempt.id, "excluded": true}}})
		for _, w := range attachments {
			for _, deny := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s of %s, deny %v", w.name, phase, deny), func(t *testing.T) {
					headers, remove := w.attach(d, phase, deny)
					headers = append(append(custom(up), d.as()), headers...)
					for _, s := range guardedSurfaces {
						for _, stream := range []bool{false, true} {
							d.judge(t, s, judged{phase, deny, stream, "a forbidden text"}, headers)
							d.judge(t, s, judged{phase, deny, stream, "a harmless text"}, headers)
						}
					}
					if remove == nil {
						return
					}
					g.call("POST", "/v1/chat/completions", fmt.Sprintf(guardedSurfaces[0].request, "a forbidden text"), append(headers, `x-gateway-config: {"`+phase+`_guardrails":[]}`, "x-gateway-default-"+phase+"-guardrails: []")...).
						want(t, map[bool]int{true: statusDenied, false: statusFailed}[deny])
					if w.name == "default of the organisation" {
						exempt.ask(g, up, "a forbidden text")
					}
					remove()
					d.ask(g, up, "a forbidden text")
				})
			}
		}
	}
}

// judged is a call under a guardrail.
type judged struct {
	phase        string // "input" or "output"
	deny, stream bool
	text         string
}

func (j *judged) fails() bool { return strings.Contains(j.text, "forbidden") }

// status is the status of the response.
func (j *judged) status() int {
	switch {
	case !j.fails(), j.stream && j.phase == "output": // the status of a stream is sent before its text
		return 200
	case j.deny:
		return statusDenied
	}
	return statusFailed
}

// judge makes a call and checks its outcome.
func (d *guarded) judge(t *testing.T, s guardedSurface, j judged, headers []string) {
	t.Helper()
	body := fmt.Sprintf(s.request, j.text)
	if j.stream {
		body = strings.Replace(body, `{`, `{"stream":true,`, 1)
	}
	before := d.up.Total()
	a := d.g.call("POST", s.path, body, headers...)
	name := fmt.Sprintf("%s, stream %v, %s", s.path, j.stream, j.text)
	if a.Status != j.status() {
		t.Errorf("%s: status %d, want %d: %s", name, a.Status, j.status(), a.Body)
		return
	}
	if denied := j.status() == statusDenied && j.phase == "input"; denied != (d.up.Total() == before) {
		t.Errorf("%s: %d calls reached the provider", name, d.up.Total()-before)
	}
	streamed := strings.HasPrefix(a.Header.Get("content-type"), "text/event-stream")
	if streamed != (j.stream && a.Status != statusDenied) {
		t.Errorf("%s: content type %q", name, a.Header.Get("content-type"))
	}
	if streamed {
		j.judgeStream(t, name, s, a)
		return
	}
	j.judgeBody(t, name, s, a)
}

func (j *judged) judgeStream(t *testing.T, name string, s guardedSurface, a callResult) {
	t.Helper()
	denied := j.fails() && j.deny && j.phase == "output"
	for _, mark := range s.denied {
		if strings.Contains(a.Body, mark) != denied {
			t.Errorf("%s: %s is in the stream: %v: %s", name, mark, !denied, a.Body)
		}
	}
	if !strings.Contains(a.Body, s.end) || strings.Contains(a.Body, "forbidden") != (j.fails() && !denied) {
		t.Errorf("%s: %s", name, a.Body)
	}
}

func (j *judged) judgeBody(t *testing.T, name string, s guardedSurface, a callResult) {
	t.Helper()
	results := a.get("hook_results.before_request_hooks")
	if j.phase == "output" {
		results = a.get("hook_results.after_request_hooks")
	}
	if n := len(results.Array()); n != 1 || results.Get("0.verdict").Bool() == j.fails() || results.Get("0.deny").Bool() != (a.Status == statusDenied) {
		t.Errorf("%s: results %s", name, a.Body)
	}
	if denied := a.Status == statusDenied; denied && (a.get("error.type").String() != s.kind || strings.Contains(a.Body, "forbidden")) {
		t.Errorf("%s: the denial is %s", name, a.Body)
	}
}

package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/prompt"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/llm"
	"sluice/internal/test/upstream"
)

// prompt saves versions of a prompt; the first is the published one.
func (d *directory) prompt(slug string, versions ...prompt.Version) *prompt.Saved {
	s := &prompt.Saved{ID: "id-" + slug, Slug: slug, OrgID: org, Prompt: &prompt.Prompt{}, Versions: map[int]*prompt.Entry{}}
	for i, v := range versions {
		v.Number = i + 1
		s.Versions[v.Number] = prompt.NewEntry("version-"+slug, &v)
	}
	s.Prompt.Default, s.Prompt.Newest = 1, len(versions)
	if d.prompts == nil {
		d.prompts = map[string]*prompt.Saved{}
	}
	d.prompts[slug] = s
	return s
}

func (r *rig) account(slug, key string) {
	r.dir.accounts[slug] = &credential.Account{Slug: slug, Spec: "openai", Status: "active", AllModels: true, Values: map[string]string{"key": key, "custom_host": r.up.URL() + "/v1"}}
}

const greeting = `[{"role":"system","content":"{{>tone}}"},{"role":"user","content":"Greet {{name}}"}]`

func promptRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.account("openai-main", "sk-main")
	r.account("openai-other", "sk-other")
	tone := &prompt.SavedPartial{Partial: &prompt.Partial{VersionHistory: prompt.VersionHistory{Default: 1, Newest: 1}}, Versions: map[int]*prompt.PartialEntry{1: prompt.NewPartialEntry(&prompt.PartialVersion{Number: 1, String: "Be {{mood}}."})}}
	r.dir.partials = prompt.PartialSet{"tone": tone}
	saved := r.dir.prompt("pp-hello",
		prompt.Version{String: greeting, Model: "gpt-4o", VirtualKey: "@openai-main", Parameters: json.RawMessage(`{"temperature":0.5,"stream":true}`)},
		prompt.Version{String: `[{"role":"user","content":"Second"}]`, Model: "gpt-5", VirtualKey: "openai-main"})
	saved.Prompt.Label(prompt.UniversalID(org, "staging"), 2)
	r.dir.prompt("pp-other", prompt.Version{String: `[{"role":"user","content":"Other {{name}}"}]`, Model: "gpt-other", VirtualKey: "openai-other"})
	r.dir.prompt("pp-text", prompt.Version{String: "Say {{name}}", Model: "davinci", VirtualKey: "openai-main"})
	return r
}

func TestRunPrompt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, body string
		headers    []string
		upstream   string // path that is called
		sent       string // body that is sent
		key        string
	}{
		"the published version": {
			path: "pp-hello", body: `{"variables":{"name":"Ada","mood":"kind"}}`,
			sent: `{"temperature":0.5,"model":"gpt-4o","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Greet Ada"}]}`,
		},
		"fields of the call come last": {
			path: "pp-hello", body: `{"variables":{},"temperature":1,"model":"gpt-x","messages":[{"role":"user","content":"own"}],"seed":7}`,
			sent: `{"temperature":1,"model":"gpt-x","messages":[{"role":"user","content":"own"}],"seed":7}`,
		},
		"the newest version": {path: "pp-hello@latest", body: `{"variables":{}}`, sent: `{"model":"gpt-5","messages":[{"role":"user","content":"Second"}]}`},
		"a version":          {path: "pp-hello%402", body: `{"variables":{}}`, sent: `{"model":"gpt-5","messages":[{"role":"user","content":"Second"}]}`},
		"a label":            {path: "pp-hello@staging", body: `{"variables":{}}`, sent: `{"model":"gpt-5","messages":[{"role":"user","content":"Second"}]}`},
		"a text":             {path: "pp-text", body: `{"variables":{"name":"hi"}}`, upstream: "/v1/completions", sent: `{"model":"davinci","prompt":"Say hi"}`},
		"another provider in the model": {
			path: "pp-text", body: `{"variables":{"name":"hi"},"model":"@openai-other/davinci"}`, upstream: "/v1/completions",
			sent: `{"model":"davinci","prompt":"Say hi"}`, key: "sk-other",
		},
		"another provider in a header": {
			path: "pp-text", body: `{"variables":{"name":"hi"}}`, headers: []string{"x-gateway-provider: @openai-other"}, upstream: "/v1/completions",
			sent: `{"model":"davinci","prompt":"Say hi"}`, key: "sk-other",
		},
		"a config with parameters": {
			path: "pp-text", body: `{"variables":{"name":"hi"}}`, headers: []string{`x-gateway-config: {"override_params":{"max_tokens":5}}`}, upstream: "/v1/completions",
			sent: `{"model":"davinci","prompt":"Say hi","max_tokens":5}`,
		},
		"a prompt of the config": {
			path: "pp-hello", body: `{"variables":{"name":"Ada"}}`, headers: []string{`x-gateway-config: {"prompt_id":"pp-other"}`},
			sent: `{"model":"gpt-other","messages":[{"role":"user","content":"Other Ada"}]}`, key: "sk-other",
		},
		"a stream": {
			path: "pp-hello@2", body: `{"variables":{},"stream":true}`,
			sent: `{"model":"gpt-5","messages":[{"role":"user","content":"Second"}],"stream":true,"stream_options":{"include_usage":true}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := promptRig(t)
			a := r.call("POST", "/v1/prompts/"+c.path+"/completions", c.body, c.headers...)
			seen := r.up.Seen()
			if a.StatusCode != 200 || len(seen) != 1 {
				t.Fatalf("%d after %d calls: %s", a.StatusCode, len(seen), a.Text)
			}
			if c.upstream == "" {
				c.upstream = "/v1/chat/completions"
			}
			if c.key == "" {
				c.key = "sk-main"
			}
			if seen[0].Path() != c.upstream || string(seen[0].Body) != c.sent || seen[0].Get("authorization") != "Bearer "+c.key {
				t.Errorf("%s with %s was sent\n%s, want\n%s", seen[0].Path(), seen[0].Get("authorization"), seen[0].Body, c.sent)
			}
			if strings.Contains(c.body, `"stream":true`) != strings.Contains(a.Text, "data: [DONE]") {
				t.Errorf("the answer is %s", a.Text)
			}
			row := r.journal.one(t)
			if !strings.HasPrefix(row.PromptID, "id-pp-") || row.PromptSlug != strings.TrimPrefix(row.PromptID, "id-") || row.PromptVersionID != "version-"+row.PromptSlug {
				t.Errorf("on record: %s, %s, %s", row.PromptID, row.PromptVersionID, row.PromptSlug)
			}
			if row.Endpoint == llm.RunPrompt || !strings.HasSuffix(row.Path, "/completions") {
				t.Errorf("on record: %s at %s", row.Endpoint, row.Path)
			}
		})
	}
}

func TestRunPromptRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, body string
		status     int
		message    string
	}{
		"no such prompt":      {"pp-nobody", `{"variables":{}}`, 404, "unknown prompt"},
		"no such version":     {"pp-hello@9", `{"variables":{}}`, 404, "no version"},
		"no such label":       {"pp-hello@production", `{"variables":{}}`, 404, "no version"},
		"no variables":        {"pp-hello", `{"temperature":1}`, 400, "variables"},
		"variables in a list": {"pp-hello", `{"variables":[]}`, 400, "variables"},
		"no JSON":             {"pp-hello", `{"variables":`, 400, "JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := promptRig(t)
			a := r.call("POST", "/v1/prompts/"+c.path+"/completions", c.body)
			if a.StatusCode != c.status || !strings.Contains(a.Text, c.message) || len(r.up.Seen()) != 0 {
				t.Errorf("%d: %s", a.StatusCode, a.Text)
			}
		})
	}
	r := promptRig(t)
	if a := r.call("POST", "/v1/prompts/pp-hello/completions", `{"variables":{}}`, "x-gateway-api-key: "+narrowKey); a.StatusCode != 403 {
		t.Errorf("without the scope: %d", a.StatusCode)
	}
}

// Each target runs a prompt of its own with the same variables; one that names none runs
// that of the path.
func TestFallbackOverPrompts(t *testing.T) {
	t.Parallel()
	r := promptRig(t)
	r.up.Handle("/v1/chat/completions", upstream.InTurn(upstream.Response{Status: 500}, upstream.Response{Status: 500}))
	cfg := `{"strategy":{"mode":"fallback"},"targets":[{"prompt_id":"pp-nobody"},{"prompt_id":"pp-other"},{"override_params":{"top_p":1}},{"prompt_id":"pp-text"}]}`
	a := r.call("POST", "/v1/prompts/pp-hello@2/completions", `{"variables":{"name":"Ada"}}`, "x-gateway-config: "+cfg)
	if a.StatusCode != 200 || a.Header.Get("x-gateway-last-used-option-index") != "config.targets[3]" {
		t.Fatalf("%d by %s: %s", a.StatusCode, a.Header.Get("x-gateway-last-used-option-index"), a.Text)
	}
	var sent []string
	for _, s := range r.up.Seen() {
		sent = append(sent, string(s.Body))
	}
	want := `{"model":"gpt-other","messages":[{"role":"user","content":"Other Ada"}]}
{"model":"gpt-5","messages":[{"role":"user","content":"Second"}],"top_p":1}
{"model":"davinci","prompt":"Say Ada"}`
	if got := strings.Join(sent, "\n"); got != want {
		t.Errorf("sent\n%s", got)
	}
	rows := r.journal.all()
	var slugs []string
	for _, row := range rows {
		slugs = append(slugs, row.PromptSlug)
	}
	if got := strings.Join(slugs, " "); got != "pp-hello pp-other pp-hello pp-text" || rows[0].Outcome != record.Refused {
		t.Errorf("on record: %s, the first %s", got, rows[0].Outcome)
	}
}

// A config that names a prompt gives a plain chat its model and parameters; the target
// behind it has the caller's own body again.
func TestPromptOfAPlainChat(t *testing.T) {
	t.Parallel()
	r := promptRig(t)
	r.up.Handle("/v1/chat/completions", upstream.InTurn(upstream.Response{Status: 500}))
	cfg := `{"strategy":{"mode":"fallback"},"targets":[{"prompt_id":"pp-hello"},{"provider":"@openai-other"}]}`
	a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-config: "+cfg)
	seen := r.up.Seen()
	if a.StatusCode != 200 || len(seen) != 2 {
		t.Fatalf("%d after %d calls: %s", a.StatusCode, len(seen), a.Text)
	}
	want := `{"temperature":0.5,"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello there"}]}`
	if string(seen[0].Body) != want || string(seen[1].Body) != hello {
		t.Errorf("sent %s\nand %s", seen[0].Body, seen[1].Body)
	}
}

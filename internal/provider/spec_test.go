package provider_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

// shapes are the error shapes a spec may name.
// Source: contract/providers.yaml, error_shapes.
var shapes = []string{"openai", "openai_msg_type", "openai_code_str", "flat", "message", "detail_str", "detail_list", "error_str", "error_str_status",
	"anthropic", "google", "aws", "cohere", "cloudflare", "together", "fireworks", "stability_v1", "stability_v2", "oci", "html", "reka", "xai"}

func TestSpecs(t *testing.T) {
	t.Parallel()
	table, err := table()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("specs/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(table.All()); n < 91 || n != len(files) {
		t.Errorf("got %d providers, want one for each of the %d files in specs, at least 91", n, len(files))
	}
	for _, s := range table.All() {
		t.Run(s.ID, func(t *testing.T) {
			t.Parallel()
			checkSpec(t, s)
			for _, name := range append(s.Aliases, s.ID) {
				if found, ok := table.Find(name); !ok || found != s {
					t.Errorf("Find(%q) does not lead here", name)
				}
			}
		})
	}
	if _, ok := table.Find("no-such-provider"); ok {
		t.Error("an unknown name is found")
	}
}

// Azure serves the models of OpenAI by the same rules; other providers do not.
func TestPlatform_IsOpenAIForOpenAIAndAzure(t *testing.T) {
	t.Parallel()
	table, err := table()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range table.All() {
		if s.Platform == provider.PlatformOpenAI {
			ids = append(ids, s.ID)
		}
	}
	if !slices.Equal(ids, []string{"azure-openai", "openai"}) {
		t.Errorf("got platform openai for %v, want azure-openai and openai", ids)
	}
}

func checkSpec(t *testing.T, s *provider.Spec) {
	t.Helper()
	if !strings.HasPrefix(s.BaseURL, "https://") && !strings.HasPrefix(s.BaseURL, "{custom_host}") && !strings.HasPrefix(s.BaseURL, "{azure_foundry_url}") && !strings.HasPrefix(s.BaseURL, "http://localhost:") {
		t.Errorf("base %s is neither https, of this machine nor the caller's", s.BaseURL)
	}
	if s.Dialect != provider.Through && len(s.Endpoints) == 0 || s.Dialect == provider.Through && !s.Serves(llm.Proxy) {
		t.Error("the provider serves nothing")
	}
	if a := s.Auth; a.Scheme == "header" && (!strings.Contains(a.Format, "{key}") || !wire.ValidName(a.Header) || a.Header != strings.ToLower(a.Header)) {
		t.Errorf("header auth %+v is incomplete", a)
	} else if a.Scheme == "aws" && a.Service == "" || a.Scheme == "azure" && a.Scope == "" || a.Scheme == "query" && a.Query == "" {
		t.Errorf("auth %+v is incomplete", a)
	}
	if !slices.Contains(shapes, s.Error) {
		t.Errorf("error shape %q is not known", s.Error)
	}
	for name, e := range s.Endpoints {
		if e.Error != "" && !slices.Contains(shapes, e.Error) {
			t.Errorf("%s: error shape %q is not known", name, e.Error)
		}
	}
	for _, f := range s.Fields {
		checkField(t, f)
	}
}

func checkField(t *testing.T, f provider.Field) {
	t.Helper()
	telling := f.Name == provider.Key
	for _, marker := range []string{"secret", "_token", "private_key", "passphrase", "service_account_json"} {
		telling = telling || strings.Contains(f.Name, marker)
	}
	if telling && !f.Secret {
		t.Errorf("field %s is not marked secret", f.Name)
	}
	for _, h := range f.Headers {
		if h != strings.ToLower(h) || !wire.ValidName(h) {
			t.Errorf("field %s: header %q must be lower case", f.Name, h)
		}
	}
	if f.Default != "" && len(f.Values) > 0 && !slices.Contains(f.Values, f.Default) {
		t.Errorf("field %s: the default %q is not one of its values", f.Name, f.Default)
	}
	if f.Upstream != strings.ToLower(f.Upstream) {
		t.Errorf("field %s: upstream header %q is not in lower case", f.Name, f.Upstream)
	}
}

const goodSpec = `{"id": "x", "name": "X", "source": "page, 2026-11-20", "dialect": "openai", "base_url": "https://api.x.com/v1",
  "auth": {"scheme": "none"}, "error": "openai", "stream": {"framing": "sse"}, "credential": [{"name": "key"}, {"name": "zone", "class": "label"}],
  "endpoints": {"chatComplete": "/chat"}}`

// A spec file that says something we do not understand stops the start.
func TestLoadIsStrict(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, old, new, want string }{
		{"good", "", "", ""},
		{"unknown field", `"id"`, `"idd": 1, "id"`, "unknown field"},
		{"unknown field of an endpoint", `"/chat"`, `{"path": "/chat", "pth": 1}`, "unknown field"},
		{"two values", `"/chat"}}`, `"/chat"}} {}`, "second JSON value"},
		{"source without a date", `page, 2026-11-20`, `page`, "date"},
		{"unknown endpoint", `"chatComplete"`, `"chat"`, `endpoint "chat"`},
		{"unknown class", `"label"`, `"zone"`, "class"},
		{"unknown scheme", `"none"`, `"magic"`, "auth scheme"},
		{"unknown pricing", `"error": "openai"`, `"error": "openai", "pricing": "cheap"`, "pricing"},
		{"unknown platform", `"error": "openai"`, `"error": "openai", "platform": "abacus"`, "platform"},
		{"unknown framing", `"sse"`, `"morse"`, "framing"},
		{"undeclared placeholder", `/chat`, `/{no}/chat`, "{no}"},
		{"broken placeholder", `/chat`, `/{zone/chat`, "malformed"},
		{"unknown filter", `/chat`, `/{zone|upper}/chat`, "malformed"},
		{"path without slash", `/chat`, `chat`, "slash"},
		{"plain http", `https://api`, `http://api`, "https"},
		{"loose field in the host", `https://api.x.com`, `https://{key}.x.com`, "strict class"},
		{"unknown base", `"/chat"`, `{"path": "/chat", "base": "other"}`, "base"},
		{"field named twice", `"zone", "class"`, `"key", "class"`, "already used"},
		{"field with a reserved name", `"zone", "class"`, `"model", "class"`, "already used"},
		{"header in upper case", `"endpoints"`, `"headers": {"X-A": "b"}, "endpoints"`, "lower case"},
		{"id unlike the file", `"id": "x"`, `"id": "y"`, "must match the file name"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(goodSpec, c.old, c.new, 1)
			_, err := provider.LoadFS(fstest.MapFS{"specs/x.json": {Data: []byte(text)}})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	other := strings.Replace(goodSpec, `"id": "x"`, `"id": "y", "aliases": ["x"]`, 1)
	if _, err := provider.LoadFS(fstest.MapFS{"specs/x.json": {Data: []byte(goodSpec)}, "specs/y.json": {Data: []byte(other)}}); err == nil {
		t.Error("two providers share a name")
	}
}

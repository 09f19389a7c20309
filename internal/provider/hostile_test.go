package provider_test

import (
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// hostile values would move a call to another host, path or header if they were
// put into an address as they are.
var hostile = []string{"evil.com/", "evil.com#", "evil.com?", "evil.com\\", "a@evil.com", "a:443", "a/b", "../a", "a/../../b", "a%2Fb", "a%00", "a\r\nhost: evil", "a b", "-a", "a-", "a..b", ".a",
	"ä", "{region}", "//evil.com", "https://evil.com", strings.Repeat("a", 300)}

// Every field that stands in a base or a query is refused before an address is
// made of such a value.
func TestHostFormingFields(t *testing.T) {
	t.Parallel()
	table, err := table()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range table.All() {
		for _, f := range s.Fields {
			if f.Class == "" || f.Class == "url" {
				continue
			}
			input := sample(s, nil)
			for _, v := range hostile {
				if f.Class == "segment" && (v == "-a" || v == "a-" || v == "a..b" || v == ".a") {
					continue // harmless in a path or query
				}
				input.values[f.Name] = v
				_, err := s.Plan(provider.Call{Endpoint: llm.Proxy, Method: "GET", Path: "/x", CustomHost: input.host}, input.values)
				if e := fault.From(err); e == nil || e.Code != fault.InvalidRequest || e.Param != f.Name {
					t.Errorf("%s: %s=%q: %v", s.ID, f.Name, v, err)
				}
			}
		}
	}
}

func TestURLFields(t *testing.T) {
	t.Parallel()
	bad := []string{"evil.com", "ftp://a", "//evil.com", "https://", "https://a@evil.com", "https://a:b@evil.com", "https://a.com?x", "https://a.com#x", "https://a.com/../x", "https://a.com/%2e%2e/x",
		"https://a.com\\@evil.com", "https://a.com//x", "https://a b.com", "https://a.com\r\nx: y", "https://ä.com", "https://a%2e.com", "https://a.com:0", "https://a.com:65536", "https://a.com:x", "https://a.com:",
		"https://[::1", "https://[x]", "https://[::1]x", "HTTPS://a.com", "https:/a.com", "https://a.com/" + strings.Repeat("x", 2048)}
	for _, v := range bad {
		call := provider.Call{Endpoint: llm.ChatComplete, Method: "POST", Model: "m"}
		if _, err := find(t, "azure-ai").Plan(call, provider.Values{"key": "k", "azure_foundry_url": v}); !fault.Has(err, fault.InvalidRequest) {
			t.Errorf("foundry URL %q: %v", v, err)
		}
		call.CustomHost = v
		if p, err := find(t, "openai").Plan(call, provider.Values{"key": "k"}); !fault.Has(err, fault.InvalidRequest) {
			t.Errorf("custom host %q: %v, %+v", v, err, p)
		}
	}
}

// Pass-through paths and ids that would leave the base are refused, whichever way
// they are written.
func TestPathsThatLeave(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"/..", "/../x", "/a/../../x", "/./x", "/a/.", "/%2e%2e/x", "/%2E./x", "/a/.%2e", "/a%2F..%2F..%2Fx", "/a%2f%2e%2e", "/a%5c..%5cx", "//evil.com/x", "/a\\b", "/\\evil.com", "/a\r\nhost: evil",
		"/a b", "/a\tb", "/a\x00", "/a\x7f", "/a?b", "/a#b", "/%", "/%2", "/%zz", "a", "evil.com/x", "@evil.com", ":443/x"} {
		for _, id := range []string{"openai", "qdrant", "azure-openai"} {
			c := provider.Call{Endpoint: llm.Proxy, Method: "GET", Path: p}
			if id == "qdrant" {
				c.CustomHost = "https://q.example"
			}
			if got, err := find(t, id).Plan(c, azureValues(nil)); !fault.Has(err, fault.InvalidRequest) {
				t.Errorf("%s: path %q: %v, %+v", id, p, err, got)
			}
		}
	}
	for _, id := range []string{"..", "../models", "a/../../x", "%2e%2e", "a%2F..%2Fx", "a b", "a?b", "a#b", "a\r\n", "a\\b", ""} {
		c := provider.Call{Endpoint: llm.RetrieveBatch, Method: "GET", ID: id}
		if p, err := find(t, "openai").Plan(c, provider.Values{"key": "k"}); !fault.Has(err, fault.InvalidRequest) {
			t.Errorf("id %q: %v, %+v", id, err, p)
		}
	}
	for _, m := range []string{"..", "../../x", "a/../../../x", "./x"} {
		c := provider.Call{Endpoint: llm.ChatComplete, Method: "POST", Model: m}
		if p, err := find(t, "huggingface").Plan(c, provider.Values{"key": "k"}); !fault.Has(err, fault.InvalidRequest) {
			t.Errorf("model %q: %v, %+v", m, err, p)
		}
	}
	for _, q := range []string{"a b", "a#b", "a\r\nb", "a\x00"} {
		c := provider.Call{Endpoint: llm.ListFiles, Method: "GET", RawQuery: q}
		if _, err := find(t, "openai").Plan(c, provider.Values{"key": "k"}); !fault.Has(err, fault.InvalidRequest) {
			t.Errorf("query %q: %v", q, err)
		}
	}
}

// Whatever a caller writes into fields, model, id, path and query: a planned call
// stays on the provider's host and below its base.
func TestPlanStaysHome(t *testing.T) {
	t.Parallel()
	homes := map[string]string{ // id to the suffix of the host
		"openai": "api.openai.com", "azure-openai": ".openai.azure.com", "huggingface": "api-inference.huggingface.co", "fireworks-ai": "api.fireworks.ai", "cortex": ".snowflakecomputing.com",
		"databricks": ".cloud.databricks.com", "sagemaker": ".amazonaws.com", "predibase": "serving.app.predibase.com", "bedrock-mantle": ".api.aws", "siliconflow": "api.siliconflow.cn",
	}
	specs := map[string]*provider.Spec{}
	for id := range homes {
		specs[id] = find(t, id)
	}
	text := rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringMatching(`[a-zA-Z0-9./:@?#%\\&= -]{0,12}`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom(slices.Sorted(maps.Keys(homes))).Draw(t, "provider")
		s := specs[id]
		input := sample(s, nil)
		for _, f := range s.Fields {
			if f.Class != "url" && !f.Deployment && rapid.Bool().Draw(t, "change "+f.Name) {
				input.values[f.Name] = text.Draw(t, f.Name)
			}
		}
		c := provider.Call{
			Endpoint: rapid.SampledFrom([]llm.Endpoint{llm.ChatComplete, llm.Proxy, llm.RetrieveFile, llm.ImageGenerate, llm.ListModels}).Draw(t, "endpoint"),
			Method:   "GET", Path: "/" + text.Draw(t, "path"), ID: text.Draw(t, "id"), Model: text.Draw(t, "model"), User: text.Draw(t, "user"), RawQuery: text.Draw(t, "query"),
		}
		p, err := s.Plan(c, input.values)
		if err != nil {
			return
		}
		if !strings.HasSuffix(p.Host, homes[id]) || p.Scheme != "https" {
			t.Fatalf("the call goes to %s://%s", p.Scheme, p.Host)
		}
		checkTarget(t, p)
	})
}

// fataler is a test or a property.
type fataler interface{ Fatalf(string, ...any) }

// checkTarget makes sure that a target is one path that means what it says.
func checkTarget(t fataler, p *provider.Plan) {
	u, err := url.Parse(p.Scheme + "://" + p.Host + p.Target)
	if err != nil || u.Host != p.Host || u.User != nil || u.Fragment != "" {
		t.Fatalf("target %q: %+v, %v", p.Target, u, err)
	}
	way, _, _ := strings.Cut(p.Target, "?")
	if !strings.HasPrefix(way, "/") || strings.HasPrefix(way, "//") || strings.Contains(way, "\\") || strings.ContainsAny(p.Target, " \r\n\t\x00#") {
		t.Fatalf("target %q", p.Target)
	}
	for _, f := range append(p.Header, p.Defaults...) {
		if strings.ContainsAny(f.Value, "\r\n\x00") {
			t.Fatalf("header %s: %q", f.Name, f.Value)
		}
	}
	slashes := strings.ReplaceAll(u.Path, "\\", "/")
	if clean := path.Clean(slashes); clean != strings.TrimSuffix(collapse(slashes), "/") && clean != "/" {
		t.Fatalf("path %q is another when cleaned: %q", u.Path, clean)
	}
}

// collapse writes runs of slashes as one.
func collapse(p string) string {
	for strings.Contains(p, "//") {
		p = strings.ReplaceAll(p, "//", "/")
	}
	return p
}

func FuzzPassThrough(f *testing.F) {
	for _, p := range []string{"/collections/a%2Fb%3Ac", "/x/../y", "//evil.com", "/contoso.openai.azure.com/openai/x", "/https://contoso.openai.azure.com/x", "/a%5c..%5c", "/%"} {
		f.Add(p, "a=b&c")
	}
	table, err := table()
	if err != nil {
		f.Fatal(err)
	}
	openai, _ := table.Find("openai")
	azure, _ := table.Find("azure-openai")
	f.Fuzz(func(t *testing.T, path, query string) {
		c := provider.Call{Endpoint: llm.Proxy, Method: "GET", Path: path, RawQuery: query}
		if p, err := openai.Plan(c, provider.Values{"key": "k"}); err == nil {
			want := "/v1" + path
			if query != "" {
				want += "?" + query
			}
			if p.Target != want || p.Host != "api.openai.com" {
				t.Fatalf("%s%s, want %s", p.Host, p.Target, want)
			}
			checkTarget(t, p)
		}
		if p, err := azure.Plan(c, azureValues(nil)); err == nil {
			if p.Host != "contoso.openai.azure.com" && !strings.EqualFold(p.Host, "contoso.openai.azure.com") {
				t.Fatalf("host %s", p.Host)
			}
			checkTarget(t, p)
		}
	})
}

func FuzzCustomHost(f *testing.F) {
	for _, h := range []string{"http://127.0.0.1:8000/v1", "https://[::1]:1/x/", "https://a@b", "https://a/..", "http://a:99999"} {
		f.Add(h)
	}
	table, err := table()
	if err != nil {
		f.Fatal(err)
	}
	openai, _ := table.Find("openai")
	f.Fuzz(func(t *testing.T, host string) {
		p, err := openai.Plan(provider.Call{Endpoint: llm.ChatComplete, Method: "POST", CustomHost: host}, provider.Values{"key": "k"})
		if err != nil || host == "" {
			return
		}
		u, perr := url.Parse(host)
		if perr != nil || u.Host != p.Host || u.Scheme != p.Scheme || p.Named == "" {
			t.Fatalf("%q: %s://%s, %v", host, p.Scheme, p.Host, perr)
		}
		checkTarget(t, p)
	})
}

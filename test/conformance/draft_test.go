package conformance

import (
	"cmp"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

var draft = flag.String("draft", "", "write the missing transcripts of this provider from testdata/drafts")

// samples are the credential fields with which transcripts call providers.
var samples = map[string]string{
	"azure_resource_name":         "contoso-eu",
	"azure_deployment_id":         "gpt-4o-prod",
	"azure_api_version":           "2024-10-21",
	"azure_foundry_url":           "https://contoso.services.ai.azure.com/models",
	"aws_region":                  "eu-central-1",
	"aws_access_key_id":           "AKIDEXAMPLE",
	"aws_secret_access_key":       "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
	"anthropic_aws_workspace_id":  "wrkspc_01",
	"snowflake_account":           "xy12345.eu-central-1",
	"databricks_workspace":        "dbc-a1b2345c-d6e7",
	"vertex_region":               "europe-west4",
	"workers_ai_account_id":       "023e105f4ecef8ad9ca31a8372d0c353",
	"oracle_region":               "eu-frankfurt-1",
	"oracle_tenancy":              "ocid1.tenancy.oc1..aaaa",
	"oracle_user":                 "ocid1.user.oc1..bbbb",
	"oracle_fingerprint":          "20:3b:97:13:55:1c",
	"oracle_private_key":          "pem",
	"oracle_compartment_id":       "ocid1.compartment.oc1..cccc",
	"huggingface_base_url":        "https://x1y2z3.eu-west-1.aws.endpoints.huggingface.cloud",
	"fireworks_account_id":        "contoso",
	"vertex_storage_bucket_name":  "contoso-batches",
	"databricks_serving_endpoint": "gpt-oss",
}

// sampleOf is what a field is called with: its sample, else its default.
func sampleOf(s *provider.Spec, name string) string {
	switch {
	case name == "custom_host" && slices.Contains(versionless, s.ID):
		return "https://" + s.ID + ".example.com"
	case name == "custom_host":
		return "https://" + s.ID + ".example.com/v1"
	}
	return cmp.Or(samples[name], defaultOf(s, name))
}

// versionless are providers whose custom hosts are named without a version.
var versionless = []string{"milvus", "ollama", "qdrant"}

func defaultOf(s *provider.Spec, name string) string {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return s.Fields[i].Default
		}
	}
	return ""
}

// hostNames are the hosts of all providers, for the certificate of the test's server.
var hostNames = sync.OnceValue(func() []string {
	var names []string
	for _, s := range specs().All() {
		if strings.HasPrefix(s.BaseURL, "http://") { // of this machine: called at a host of its own here
			names = append(names, s.ID+".example.com")
		}
		for _, base := range bases(s) {
			for _, value := range []func(*provider.Spec, string) string{sampleOf, defaultOf} {
				if u, err := url.Parse(filled(base, func(name string) string { return value(s, name) })); err == nil && u.Hostname() != "" {
					names = append(names, u.Hostname())
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
})

// filled puts values into the placeholders of a base URL.
func filled(base string, value func(string) string) string {
	for {
		before, rest, found := strings.Cut(base, "{")
		if !found {
			return base
		}
		name, after, _ := strings.Cut(rest, "}")
		name, _, _ = strings.Cut(name, "|")
		base = before + value(name) + after
	}
}

// bases are the base URLs of a spec and its variants, as templates.
func bases(s *provider.Spec) []string {
	list := []string{s.BaseURL}
	for _, b := range s.Bases {
		list = append(list, b)
	}
	for _, v := range s.Variants {
		list = append(list, v.BaseURL)
		for _, b := range v.Bases {
			list = append(list, b)
		}
	}
	for name, d := range s.Derived {
		for _, b := range slices.Clone(list) {
			list = append(list, strings.ReplaceAll(b, "{"+name+"}", d.Else))
			for _, w := range d.Values {
				list = append(list, strings.ReplaceAll(b, "{"+name+"}", w))
			}
		}
	}
	return list
}

// credentialLines are the header lines with which a client calls a provider inline.
func credentialLines(s *provider.Spec) string {
	var b strings.Builder
	if strings.Contains(s.BaseURL, "{custom_host}") {
		fmt.Fprintf(&b, "x-gateway-custom-host: %s\n", sampleOf(s, "custom_host"))
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		switch v := samples[f.Name]; {
		case f.Name == provider.Key && s.Auth.Scheme != "aws":
			fmt.Fprintf(&b, "authorization: Bearer key-of-%s\n", s.ID)
		case v != "" && (f.Required || len(f.RequiredIf) > 0):
			fmt.Fprintf(&b, "%s: %s\n", f.Headers[0], v)
		}
	}
	return b.String()
}

// drafted makes the transcript of a provider and case, for example
// "chatComplete-stream", from the draft of that name. An error has its endpoint's
// request and the answer of the one draft of an error.
func drafted(s *provider.Spec, name string) (*transcript, error) {
	if e, ok := strings.CutSuffix(name, "-error"); ok && e != string(llm.ChatComplete) {
		failing, err := drafted(s, e)
		if err != nil {
			return nil, err
		}
		failed, err := drafted(s, "chatComplete-error")
		failing.path, failing.special, failing.exchanges = s.ID+"/"+name+".txtar", "error", failed.exchanges
		return failing, err
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "drafts", name+".txtar"))
	if err != nil {
		return nil, err
	}
	text := strings.NewReplacer("{{credential}}\n", credentialLines(s), "{{provider}}", s.ID).Replace(string(raw))
	endpoint, special, _ := strings.Cut(name, "-")
	tr := &transcript{path: s.ID + "/" + name + ".txtar", provider: s.ID, endpoint: endpoint, special: special}
	return tr, tr.fill(txtar.Parse([]byte(text)))
}

// TestDrafts writes the missing transcripts of a provider when -draft names one, and
// otherwise makes sure that there is a draft for everything that can be asked for.
func TestDrafts(t *testing.T) {
	t.Parallel()
	s, ok := specs().Find(cmp.Or(*draft, "openai"))
	if !ok {
		t.Fatalf("there is no provider %q", *draft)
	}
	for _, name := range requiredTranscripts(s) {
		tr, err := drafted(s, name)
		if err != nil {
			t.Errorf("draft of %s: %v", name, err)
			continue
		}
		if *draft == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, tr.path)); err == nil {
			continue
		}
		if err := tr.write(); err != nil {
			t.Fatal(err)
		}
		t.Logf("wrote %s: put in what the provider says, then run -update", tr.path)
	}
}

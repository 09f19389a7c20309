package app

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/provider/netguard"
)

// addressName matches the names of parameters that look like addresses.
var addressName = regexp.MustCompile(`(?i)(ur[il]|link|host|domain|endpoint|base|address)$`)

// otherNames are parameters that have such a name and are no addresses.
var otherNames = []string{"acuvity.scan malicious_url", "azure.pii domain"}

// Every address that a check of the catalogue calls is found before a guardrail is saved, however deep
// its parameter is, so that a private one is rejected unless it is trusted.
func TestCatalogue_EveryAddressIsChecked(t *testing.T) {
	t.Parallel()
	const private = "http://10.0.0.5:8080/hooks"
	strict, trusting := netguard.New(nil), netguard.New([]string{"10.0.0.5:8080"})
	table := guardrailCatalog().Table()
	tested := 0
	for _, known := range table.All() {
		for i := range known.Params {
			paths := known.Params[i].URLPaths()
			if name := known.Params[i].Name; len(paths) == 0 && addressName.MatchString(name) && !slices.Contains(otherNames, known.ID+" "+name) {
				t.Errorf("%s: the parameter %s has the name of an address, but not its form: param.Link", known.ID, name)
			}
			for _, path := range paths {
				tested++
				check, name := checkWith(t, known.ID, path, private)
				found := table.URLs(check)
				if !slices.Contains(found, guardrail.Address{Path: name, URL: private}) {
					t.Errorf("%s: %s is not found: %v", known.ID, name, found)
				}
			}
		}
	}
	if err := strict.CheckURL(private); err == nil {
		t.Error("a private address is accepted")
	}
	if err := trusting.CheckURL(private); err != nil {
		t.Errorf("a trusted address is rejected: %v", err)
	}
	if tested < 15 {
		t.Errorf("%d parameters are addresses", tested)
	}
}

// checkWith returns a check with an address at a path, and the name of the path.
func checkWith(t *testing.T, id string, path param.Path, address string) (c *guardrail.Check, name string) {
	t.Helper()
	var v any = address
	for _, step := range slices.Backward(path[1:]) {
		if step == "*" {
			step = "any"
		}
		v = map[string]any{step: v}
	}
	raw, err := json.Marshal(map[string]any{path[0]: v})
	if err != nil {
		t.Fatal(err)
	}
	return &guardrail.Check{ID: id, Parameters: raw}, strings.ReplaceAll(strings.Join(path, "."), "*", "any")
}

// Hosts that are parameters, and addresses inside a credential, are found too.
func TestCatalogue_HostsOfPartnersAreChecked(t *testing.T) {
	t.Parallel()
	const token = "e30.eyJvcGFxdWUiOnsiYXBleC11cmwiOiJodHRwOi8vMTAuMC4wLjUifX0.x" // its claim opaque.apex-url is http://10.0.0.5
	strict := netguard.New(nil)
	table := guardrailCatalog().Table()
	for id, c := range map[string]struct{ parameters, path string }{
		"akto.scan":                    {`{"credentials":{"apiDomain":"10.0.0.5"}}`, "credentials.apiDomain"},
		"javelin.guardrails":           {`{"credentials":{"domain":"127.0.0.1:8080"}}`, "credentials.domain"},
		"pangea.textGuard":             {`{"credentials":{"domain":"svc.cluster.local"}}`, "credentials.domain"},
		"pangea.pii":                   {`{"credentials":{"domain":"corp.internal"}}`, "credentials.domain"},
		"promptsecurity.protectPrompt": {`{"credentials":{"apiDomain":"localhost"}}`, "credentials.apiDomain"},
		"acuvity.scan":                 {`{"credentials":{"apiKey":"` + token + `"}}`, "credentials.apiKey"},
	} {
		list := table.URLs(&guardrail.Check{ID: id, Parameters: json.RawMessage(c.parameters)})
		i := slices.IndexFunc(list, func(a guardrail.Address) bool { return a.Path == c.path })
		if i < 0 {
			t.Errorf("%s: no address in %s: %v", id, c.path, list)
			continue
		}
		if err := strict.CheckURL(list[i].URL); err == nil {
			t.Errorf("%s: %s is accepted", id, list[i].URL)
		}
	}
}

// Addresses that a partner check builds from valid parameters pass.
func TestCatalogue_PublicHostsOfPartnersAreAccepted(t *testing.T) {
	t.Parallel()
	strict := netguard.New(nil)
	table := guardrailCatalog().Table()
	for id, parameters := range map[string]string{
		"azure.contentSafety":          `{"credentials":{"contentSafety":{"resourceName":"team-eu"}}}`,
		"bedrock.guard":                `{"credentials":{"awsRegion":"eu-central-1"}}`,
		"javelin.guardrails":           `{}`,
		"pangea.textGuard":             `{"credentials":{"domain":"aws.eu.pangea.cloud"}}`,
		"promptsecurity.protectPrompt": `{"credentials":{"apiDomain":"eu.prompt.security"}}`,
	} {
		list := table.URLs(&guardrail.Check{ID: id, Parameters: json.RawMessage(parameters)})
		if len(list) == 0 {
			t.Errorf("%s: no address", id)
		}
		for _, a := range list {
			if u, err := url.Parse(a.URL); err != nil || u.Host == "" {
				t.Errorf("%s: %s, %v", id, a.URL, err)
			}
			if err := strict.CheckURL(a.URL); err != nil {
				t.Errorf("%s: %s: %v", id, a.URL, err)
			}
		}
	}
}

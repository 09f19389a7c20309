package provider_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

var writeManual = flag.Bool("manual", false, "write docs/providers.md anew")

// The list of providers in the documentation says what the specifications say.
// Write it anew with: go test ./internal/provider -run Manual -manual
func TestManualIsFresh(t *testing.T) {
	t.Parallel()
	const path = "../../docs/providers.md"
	want := manual(t)
	if *writeManual {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("docs/providers.md is not what the specifications say (%v); run this test with -manual", err)
	}
}

func manual(t *testing.T) string {
	t.Helper()
	table, err := provider.Load()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Providers

The %d known providers. The id is the value of `+"`x-gateway-provider`"+`, of `+"`provider`"+` in a config and
of `+"`ai_provider_id`"+` in an integration; aliases are understood too. Any further path of a
provider can be called as it stands (pass-through). Who lists one of
chatComplete, messages and createModelResponse serves callers of all three, see
[translation.md](translation.md).

Generated from `+"`internal/provider/specs`"+` by `+"`go test ./internal/provider -run Manual -manual`"+`.

| Id | Name | Credentials | Endpoints |
|---|---|---|---|
`, len(table.All()))
	for _, s := range table.All() {
		id := "`" + s.ID + "`"
		for _, a := range s.Aliases {
			id += ", `" + a + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", id, s.Name, credentials(s), endpoints(s))
	}
	return b.String()
}

func credentials(s *provider.Spec) string {
	var out []string
	for i := range s.Fields {
		f := &s.Fields[i]
		switch {
		case f.Deployment:
		case f.Required:
			out = append(out, "**"+f.Name+"**")
		default:
			out = append(out, f.Name)
		}
	}
	return strings.Join(out, ", ")
}

func endpoints(s *provider.Spec) string {
	var out []string
	for e := range s.Endpoints {
		if e != llm.Proxy {
			out = append(out, string(e))
		}
	}
	slices.Sort(out)
	if len(out) == 0 {
		return "pass-through"
	}
	return strings.Join(out, ", ")
}

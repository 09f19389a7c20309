package provider_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

func TestManual_ListsEveryProvider(t *testing.T) {
	t.Parallel()
	const path = "../../docs/providers.md"
	want := manual(t)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("docs/providers.md is out of date (%v); run go generate ./internal/provider", err)
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

Sluice supports %d providers. Use an id or an alias from this table:

- in the header `+"`x-gateway-provider`"+`
- as `+"`provider`"+` in a config
- as `+"`ai_provider_id`"+` of an integration

Required credentials are **bold**. A provider that has one of the endpoints chatComplete, messages
and createModelResponse serves callers of all three ([translation.md](translation.md)). Sluice
passes every other path through unchanged ([pass-through.md](pass-through.md)).

To update this page after a change in `+"`internal/provider/specs`"+`, run `+"`go generate ./internal/provider`"+`.

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

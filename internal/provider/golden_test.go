package provider_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

var update = flag.Bool("update", false, "rewrite testdata/plans.golden and docs/providers.md")

// Every provider and variant with every endpoint it lists: method, URL, headers,
// how it is signed. Rewrite with go test -run Golden -update, and read the diff.
func TestPlansGolden(t *testing.T) {
	t.Parallel()
	table, err := table()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range table.All() {
		writePlans(&b, s, s.ID, sample(s, nil), s.Endpoints)
		for i, v := range s.Variants {
			endpoints := maps.Clone(s.Endpoints)
			maps.Copy(endpoints, v.Endpoints)
			writePlans(&b, s, fmt.Sprintf("%s#%d", s.ID, i), sample(s, v.When), endpoints)
		}
	}
	const file = "testdata/plans.golden"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, lines := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(lines)) {
		if i >= len(got) || i >= len(lines) || got[i] != lines[i] {
			t.Fatalf("%s differs from line %d on:\ngot  %s\nwant %s", file, i+1, lineAt(got, i), lineAt(lines, i))
		}
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(end)"
}

// writePlans writes a line per endpoint, pass-through last.
func writePlans(b *strings.Builder, s *provider.Spec, title string, input inputs, endpoints map[llm.Endpoint]*provider.Endpoint) {
	fmt.Fprintf(b, "%s\n", title)
	names := slices.Sorted(maps.Keys(endpoints))
	names = append(slices.DeleteFunc(names, func(e llm.Endpoint) bool { return e == llm.Proxy }), llm.Proxy)
	for _, e := range names {
		c := provider.Call{Endpoint: e, Method: method(e), ID: "id%2F1", Path: input.path, RawQuery: input.query(e), Model: input.model, User: "tenant", CustomHost: input.host}
		p, err := s.Plan(c, input.values)
		if f := fault.From(err); f != nil {
			fmt.Fprintf(b, "  %s: %d %s\n", e, f.HTTPStatus(), f.Text())
			continue
		}
		fmt.Fprintf(b, "  %s: %s %s://%s%s auth=%s", e, p.Method, p.Scheme, p.Host, p.Target, p.Auth.Scheme)
		for _, word := range []string{p.Auth.Header, p.Auth.Query, p.Auth.Service} {
			if word != "" {
				fmt.Fprintf(b, ":%s", word)
			}
		}
		for _, h := range append(slices.Clone(p.Defaults), p.Header...) {
			fmt.Fprintf(b, " %s=%q", h.Name, h.Value)
		}
		if p.Model != c.Model {
			fmt.Fprintf(b, " model=%q", p.Model)
		}
		if p.Named != "" {
			b.WriteString(" named")
		}
		b.WriteString("\n")
	}
}

// method is what a client uses on the route of an endpoint.
func method(e llm.Endpoint) string {
	for _, r := range llm.Routes {
		if r.Endpoint == e {
			return r.Method
		}
	}
	return "PATCH"
}

// inputs is what a caller gives.
type inputs struct {
	values            provider.Values
	model, path, host string
}

func (input inputs) query(e llm.Endpoint) string {
	if e == llm.Proxy || e == llm.ListFiles {
		return "limit=2&after=a%2Fb"
	}
	return ""
}

// sample fills the fields that carry no choice, and then what the conditions of a
// variant ask for.
func sample(s *provider.Spec, when []provider.Cond) inputs {
	input := inputs{values: provider.Values{}, model: "org/model-1", path: "/some/path%2Fx:y"}
	if strings.HasPrefix(s.BaseURL, "{custom_host}") {
		input.host = "http://engine.example.com:8000/v2/"
	}
	optional := map[string]bool{} // their presence chooses a variant
	for _, v := range s.Variants {
		for _, c := range v.When {
			optional[c.Field] = optional[c.Field] || c.Set != nil
		}
	}
	for _, f := range s.Fields {
		if f.Default == "" && len(f.Values) == 0 && !optional[f.Name] && f.Name != "azure_ad_token" && f.Name != "azure_deployment_config" && f.Name != "aws_service" {
			input.values[f.Name] = sampleValue(f)
		}
	}
	for _, c := range when {
		input.meet(s, c)
	}
	return input
}

// meet makes a condition hold.
func (input *inputs) meet(s *provider.Spec, c provider.Cond) {
	v := c.Contains
	if len(c.Is) > 0 {
		v = c.Is[0]
	}
	if len(c.Prefix) > 0 {
		v = c.Prefix[0]
	}
	switch {
	case c.Field == "model":
		input.model = v
		if len(c.Is) == 0 {
			input.model += "model-1"
		}
	case c.Field == "path":
		input.path = "/" + v + "/1"
	case c.Set != nil:
		i := slices.IndexFunc(s.Fields, func(f provider.Field) bool { return f.Name == c.Field })
		input.values[c.Field] = sampleValue(s.Fields[i])
	case c.Contains != "":
		input.values[c.Field] += "/" + v
	default:
		input.values[c.Field] = v
	}
}

// sampleValue is a value that a field takes.
func sampleValue(f provider.Field) string {
	switch f.Class {
	case "url":
		return "https://named.example.com/base"
	case "domain":
		return "acme.eu-1"
	case "object":
		return `{"project_id":"acme"}`
	}
	return strings.ReplaceAll(f.Name, "_", "-")
}

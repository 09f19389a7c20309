package prompt_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/prompt"
)

func TestPick(t *testing.T) {
	t.Parallel()
	p := prompt.Prompt{VersionHistory: prompt.VersionHistory{Default: 2, Newest: 5}}
	p.Label("l-prod", 3)
	p.Label("l-beta", 4)
	ids := map[string]string{"production": "l-prod", "beta": "l-beta", "idle": "l-idle"}
	label := func(name string) string { return ids[name] }
	for suffix, want := range map[string]int{
		"": 2, "default": 2, "latest": 5, "1": 1, "5": 5, "6": 0, "0": 0, "production": 3, "beta": 4, "idle": 0, "nobody": 0, "99999999999999999999": 0,
	} {
		if got := p.Pick(suffix, label); got != want {
			t.Errorf("@%s is version %d, want %d", suffix, got, want)
		}
	}
	p.Label("l-prod", 4)
	if diff := cmp.Diff([]string{"l-prod", "l-beta"}, p.LabelsOf(4)); diff != "" {
		t.Error(diff)
	}
	if got := p.Pick("production", label); got != 4 {
		t.Errorf("a label that moved stands for version %d", got)
	}
	p.Strip(4)
	if got := p.Pick("beta", label); got != 0 {
		t.Errorf("a label that was taken off stands for version %d", got)
	}
	part := prompt.Partial{VersionHistory: p.VersionHistory}
	if part.VersionHistory.Pick("production") != 0 || part.VersionHistory.Pick("latest") != 5 {
		t.Error("a partial is chosen by number or latest")
	}
}

func TestPartialsInUse(t *testing.T) {
	t.Parallel()
	p := prompt.Prompt{VersionHistory: prompt.VersionHistory{Default: 2, Newest: 5}, Uses: []prompt.Use{{1, "old"}, {2, "a"}, {3, "b"}, {4, "gone"}, {5, "a"}}}
	p.Label("l", 3)
	if diff := cmp.Diff([]string{"a", "b"}, p.PartialsInUse()); diff != "" {
		t.Error(diff)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for input, want := range map[string][2]string{"pp-a": {"pp-a", ""}, "pp-a@12": {"pp-a", "12"}, "pp-a@": {"pp-a", ""}} {
		if slug, suffix := prompt.Split(input); slug != want[0] || suffix != want[1] {
			t.Errorf("%s: %q, %q", input, slug, suffix)
		}
	}
}

func TestLabelNames(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"production": true, "v2": true, "a_b-c": true, "ünique": true, "a.b": true, "2x": true,
		"": false, "latest": false, "default": false, "12": false, "a b": false, "a@b": false, "ü.x": false,
	} {
		l := prompt.Label{Name: name}
		if err := l.Validate(); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	if l := (prompt.Label{Name: "a", Color: "red"}); l.Validate() == nil {
		t.Error("a colour is #RRGGBB")
	}
	if prompt.UniversalID("0191f3a0-0000-7000-8000-000000000001", "production") == "" || prompt.UniversalID("0191f3a0-0000-7000-8000-000000000001", "beta") != "" {
		t.Error("the universal labels are production, staging and development")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"Hello {{name}}", "{{#a}}x{{/a}}{{^b}}y{{/b}}", "{{>p}}{{>>q}}{{! c }}{{{d}}}", "{{=<% %>=}}", "{{a.b}}\n{{#.}}\n{{.}}\n{{/.}}\n", "{{", "}}{{{"} {
		f.Add(s, `{"a":[1,{"d":"x"}],"q":"{{a}}","b":null}`)
	}
	f.Fuzz(func(t *testing.T, text, variables string) {
		tmpl, err := prompt.Parse(text)
		if err != nil {
			return
		}
		if !strings.HasPrefix(variables, "{") {
			variables = "{}"
		}
		if out, err := tmpl.Render([]byte(variables), nil); err == nil && len(out) > prompt.MaxOutputBytes {
			t.Fatal("the answer is longer than the limit")
		}
	})
}

func FuzzRaw(f *testing.F) {
	f.Add(`[{"role":"user","content":"{{x}}"},]`, `a"b`)
	f.Add(`[{{#x}}{"a":"{{x}}"},{{/x}}]`, `\`)
	f.Fuzz(func(t *testing.T, text, x string) {
		v := prompt.Version{String: text, Raw: true}
		compiled, err := v.Compile()
		if err != nil {
			return
		}
		vars, err := prompt.ReadCall([]byte(`{"variables":{"x":` + string(quote(x)) + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := compiled.Body(vars, nil)
		if err == nil && !valid(body.JSON) {
			t.Fatalf("%s is no JSON", body.JSON)
		}
	})
}

package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/agent"
	"sluice/internal/kernel/fault"
)

func TestReadCard(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, refusal string }{
		"plain":              {`{"name":"Planner","url":"https://a.example"}`, ""},
		"version 1.0":        {`{"name":"Planner","supportedInterfaces":[{"url":"https://a.example"}]}`, ""},
		"skills of no form":  {`{"name":"Planner","url":"https://a.example","skills":"many"}`, ""},
		"a list":             {`[]`, "not a JSON object"},
		"null":               {`null`, "not a JSON object"},
		"a page":             {`<html>`, "not a JSON object"},
		"without a name":     {`{"url":"https://a.example"}`, "no name"},
		"a number as a name": {`{"name":4,"url":"https://a.example"}`, "no name"},
		"without an address": {`{"name":"Planner","supportedInterfaces":[]}`, "no url"},
		"too large":          {`{"name":"` + strings.Repeat("x", agent.MaxCardBytes) + `"}`, "larger than 1 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			card, err := agent.ReadCard([]byte(c.raw))
			switch {
			case c.refusal == "" && (err != nil || card.Name != "Planner"):
				t.Errorf("%v, %v", card, err)
			case c.refusal != "" && (!fault.Has(err, fault.InvalidRequest) || !strings.Contains(err.Error(), c.refusal)):
				t.Errorf("got %v, want %q", err, c.refusal)
			}
		})
	}
}

func FuzzReadCard(f *testing.F) {
	f.Add([]byte(`{"name":"n","url":"u","skills":[{"id":"a","tags":["x"]},{"id":"a"}]}`))
	f.Add([]byte(`{"name":"n","supportedInterfaces":[{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		card, err := agent.ReadCard(raw)
		if (card == nil) == (err == nil) {
			t.Fatalf("%v and %v", card, err)
		}
		seen := map[string]bool{}
		for _, s := range agent.Listed(card, agent.Switches{"a"}) {
			if s.ID == "" || seen[s.ID] {
				t.Errorf("the skill %q stands there without a name or twice", s.ID)
			}
			seen[s.ID] = true
		}
	})
}

func TestCardURLs(t *testing.T) {
	t.Parallel()
	for address, base := range map[string]string{
		"https://a.example":                                     "https://a.example",
		"https://a.example/planner/?x=1":                        "https://a.example/planner",
		"https://a.example/planner/.well-known/agent.json":      "https://a.example/planner",
		"https://a.example:8443/p/.well-known/agent-card.json/": "https://a.example:8443/p",
	} {
		want := []string{base + "/.well-known/agent-card.json", base + "/.well-known/agent.json"}
		if diff := cmp.Diff(want, agent.CardURLs(address)); diff != "" {
			t.Errorf("%s: %s", address, diff)
		}
	}
	if got := agent.CardURLs("https://a.example/%zz"); got != nil {
		t.Errorf("an address that cannot be read: %v", got)
	}
}

func TestCheckConfigurations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config map[string]any
		param  string
	}{
		"headers":        {map[string]any{"custom_headers": map[string]any{"Authorization": "Bearer x"}}, ""},
		"cleared":        {map[string]any{"custom_headers": nil}, ""},
		"unknown":        {map[string]any{"key": "x"}, "configurations.key"},
		"no object":      {map[string]any{"custom_headers": "x"}, "configurations.custom_headers"},
		"not a text":     {map[string]any{"custom_headers": map[string]any{"X-A": 1.0}}, "configurations.custom_headers.X-A"},
		"a line break":   {map[string]any{"custom_headers": map[string]any{"X-A": "a\nb"}}, "configurations.custom_headers.X-A"},
		"its own header": {map[string]any{"custom_headers": map[string]any{"Proxy-Connection": "x"}}, "configurations.custom_headers.Proxy-Connection"},
		"no name":        {map[string]any{"custom_headers": map[string]any{"": "x"}}, "configurations.custom_headers."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := agent.CheckConfigurations(c.config)
			if (err == nil) != (c.param == "") || err != nil && fault.From(err).Param != c.param {
				t.Errorf("got %v, want a refusal at %q", err, c.param)
			}
		})
	}
}

func TestMappable(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]bool{"custom_headers": true, "custom_headers.X-A": true, "custom_headers.Host": false, "url": false, "": false} {
		if got := agent.Mappable(field); got != want {
			t.Errorf("%s: got %v", field, got)
		}
	}
}

func TestSwitchesAndUsers(t *testing.T) {
	t.Parallel()
	off := agent.Switches{}.Set("plan", false).Set("plan", false).Set("sum", false).Set("sum", true)
	if diff := cmp.Diff(agent.Switches{"plan"}, off); diff != "" {
		t.Error(diff)
	}
	if err := make(agent.Switches, 501).Check(); !fault.Has(err, fault.InvalidParameter) {
		t.Errorf("too many: %v", err)
	}
	s := agent.Server{Deny: true, Users: map[string]bool{"in": true}}
	if !s.AllowsUser("in") || s.AllowsUser("out") {
		t.Error("the exception does not beat the default")
	}
}

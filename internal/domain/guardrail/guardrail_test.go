package guardrail_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

// table returns a table with one check of each kind.
func table() *guardrail.Table {
	both := []guardrail.Phase{guardrail.Input, guardrail.Output}
	return guardrail.NewTable([]guardrail.Definition{
		{ID: "default.wordCount", Phases: both, Params: []param.Param{param.Optional("minWords", param.Count), param.Not}},
		{ID: "default.endsWith", Aliases: []string{"default.suffix"}, Phases: both, Params: []param.Param{param.Required("suffix", param.Text(100))}},
		{ID: "default.webhook", Phases: both, Params: []param.Param{param.Required("webhookURL", param.Link), param.Optional("headers", param.Headers)}},
		{ID: "default.model", Phases: []guardrail.Phase{guardrail.Input}, Verify: func(values map[string]any) error {
			if values["failOnError"] == true {
				return errors.New("must not fail on errors")
			}
			return nil
		}},
		{ID: "gateway.pii", Phases: both, Params: []param.Param{param.Required("categories", param.TextList)}},
		{ID: "partner.scan", Phases: both, Open: true},
		{ID: "hidden.scan", Phases: both, Unavailable: "its interface is not public"},
	})
}

func TestChecksThatTheTableAccepts(t *testing.T) {
	t.Parallel()
	for _, c := range []string{
		`{"id":"default.wordCount"}`,
		`{"id":"wordCount","parameters":{"minWords":1,"not":true,"failOnError":true},"name":"short","is_enabled":false}`,
		`{"id":"default.suffix","parameters":{"suffix":"."}}`,
		`{"id":"pii","parameters":{"categories":["NAME"]}}`,
		`{"id":"default.pii","parameters":{"categories":["NAME"]}}`,
		`{"id":"partner.scan","parameters":{"anything":17}}`,
	} {
		if _, err := table().Read([]byte("[" + c + "]")); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
}

func TestChecksThatTheTableRejects_NameFieldAndFix(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 70_000)
	for list, want := range map[string]string{
		`{}`: "checks: a list of checks",
		`[]`: "checks: 1 to 50",
		`[` + strings.Repeat(`{"id":"default.wordCount"},`, 50) + `{"id":"default.wordCount"}]`: "checks: 1 to 50",
		`[{"id":"default.nothing"}]`:                                "checks[0].id: unknown check",
		`[{"id":""}]`:                                               "checks[0].id: unknown check",
		`[{"id":"hidden.scan"}]`:                                    "checks[0].id: hidden.scan cannot run: its interface is not public",
		`[{"id":"wordCount"},{"id":"default.endsWith"}]`:            "checks[1].parameters.suffix: required",
		`[{"id":"wordCount","parameters":[]}]`:                      "checks[0].parameters: an object",
		`[{"id":"wordCount","parameters":{"nott":true}}]`:           "checks[0].parameters.nott: unknown parameter",
		`[{"id":"wordCount","parameters":{"not":"yes"}}]`:           "checks[0].parameters.not: true or false",
		`[{"id":"wordCount","name":"` + long[:300] + `"}]`:          "checks[0].name: must not exceed 255",
		`[{"id":"partner.scan","parameters":{"x":"` + long + `"}}]`: "checks[0].parameters: must not exceed 65536",
		`[{"id":"model","parameters":{"failOnError":true}}]`:        "checks[0].parameters: must not fail",
	} {
		_, err := table().Read([]byte(list))
		compareFault(t, list, err, want)
	}
}

func TestChecksOfAConfig_MustRunOnTheirSide(t *testing.T) {
	t.Parallel()
	at := guardrail.Place{ID: "h[0].id", Params: "h[0].model"}
	if err := table().ValidateUse(&guardrail.Check{ID: "model"}, guardrail.Input, at); err != nil {
		t.Error(err)
	}
	err := table().ValidateUse(&guardrail.Check{ID: "model"}, guardrail.Output, at)
	compareFault(t, "model", err, "h[0].id: does not run on the output")
}

func compareFault(t *testing.T, sent string, err error, want string) {
	t.Helper()
	f := fault.From(err)
	path, text, _ := strings.Cut(want, ": ")
	if err == nil || f.Code != fault.InvalidParameter || f.Param != path || !strings.Contains(f.Text(), text) {
		t.Errorf("%.120s: %v, want %s", sent, err, want)
	}
}

func TestTableWithDuplicateIDs_Panics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("two checks have the same id")
		}
	}()
	guardrail.NewTable([]guardrail.Definition{{ID: "a.b"}, {ID: "c.d", Aliases: []string{"a.b"}}})
}

func TestVersionID_DiffersByRecordAndVersion(t *testing.T) {
	t.Parallel()
	const one, two = "0191f3a0-0000-7000-8000-00000000000a", "0191f3a0-0000-7000-8000-00000000000b"
	ids := []string{guardrail.VersionID(one, 1), guardrail.VersionID(one, 2), guardrail.VersionID(two, 1)}
	if ids[0] == ids[1] || ids[0] == ids[2] || ids[0] == "" || ids[0] != guardrail.VersionID(one, 1) {
		t.Errorf("%q", ids)
	}
}

func TestActions(t *testing.T) {
	t.Parallel()
	const plain = `{"deny":false,"async":false,"sequential":false,"on_success":{"feedback":{"value":5,"weight":1,"metadata":""}},"on_fail":{"feedback":{"value":-5,"weight":1,"metadata":""}}}`
	denied := strings.Replace(plain, `"deny":false`, `"deny":true`, 1)
	for sent, want := range map[string]string{
		`{}`:                                   plain,
		`{"deny":true}`:                        denied,
		`{"onFail":"block"}`:                   denied,
		`{"onFail":"deny","deny":false}`:       denied,
		`{"onFail":"log"}`:                     plain,
		`{"on_fail":"warn","on_success":null}`: plain,
		`{"on_fail":"deny","on_success":"continue"}`: denied,
		`{"onFail":"warn","message":"not here"}`:     strings.TrimSuffix(plain, "}") + `,"message":"not here"}`,
		`{"async":true,"sequential":true,"on_fail":{"feedback":{"value":-10,"weight":0.5,"metadata":{"a":"b"}}},"on_success":{"feedback":{}}}`: `{"deny":false,"async":true,"sequential":true,"on_success":{"feedback":{"value":5,"weight":1,"metadata":""}},"on_fail":{"feedback":{"value":-10,"weight":0.5,"metadata":{"a":"b"}}}}`,

		`[]`:                                    "actions: an object",
		`null`:                                  "actions: an object",
		`{"onfail":"block"}`:                    "actions.onfail: unknown field",
		`{"deny":"yes"}`:                        "actions.deny: true or false",
		`{"on_fail":"stop"}`:                    "actions.on_fail: deny, block",
		`{"on_success":"deny"}`:                 "actions.on_success: deny, block",
		`{"on_fail":{"feedback":{"value":11}}}`: "actions.on_fail.feedback.value: between -10 and 10",
		`{"on_fail":{"feedback":{"weight":2}}}`: "actions.on_fail.feedback.weight: between 0 and 1",
		`{"on_fail":{"feedback":{"metadata":[]}}}`: "actions.on_fail.feedback.metadata: an object or a string",
		`{"on_fail":7}`: "actions.on_fail: an object with feedback",
		`{"message":"` + strings.Repeat("a", 2000) + `"}`: "actions.message: at most 1024",
	} {
		a, err := guardrail.ReadActions([]byte(sent))
		if f := fault.From(err); f != nil {
			path, text, _ := strings.Cut(want, ": ")
			if f.Param != path || !strings.Contains(f.Text(), text) {
				t.Errorf("%.80s: %v, want %s", sent, err, want)
			}
			continue
		}
		got, err := json.Marshal(a)
		if err != nil || string(got) != want {
			t.Errorf("%.80s: %s, %v\nwant %s", sent, got, err, want)
		}
	}
}

func TestSealed(t *testing.T) {
	t.Parallel()
	box, err := sealed.NewBox([]byte("a sealing key for this test"))
	if err != nil {
		t.Fatal(err)
	}
	var g guardrail.Guardrail
	if err := g.Seal(box, "r1", []byte(`[{"id":"default.webhook","parameters":{"webhookURL":"https://hooks.example.com/a","headers":{"a":"b"}},"is_enabled":false}]`)); err != nil {
		t.Fatal(err)
	}
	checks, err := g.Open(box, "r1")
	if err != nil || len(checks) != 1 || checks[0].Enabled() || !slices.Equal(table().URLs(&checks[0]), []guardrail.Address{{Path: "webhookURL", URL: "https://hooks.example.com/a"}}) {
		t.Errorf("%v, %v", checks, err)
	}
	if _, err := g.Open(box, "r2"); err == nil {
		t.Error("the checks of one record open as those of another")
	}
}

// Whatever is sent is read or refused, and what was read is read again.
func FuzzRead(f *testing.F) {
	f.Add(`[{"id":"default.webhook","parameters":{"webhookURL":"https://a.example","headers":{"a":"b"}}}]`)
	f.Add(`[{"id":"pii","parameters":{"categories":["a"]}}]`)
	f.Add(`[{"id":"wordCount","parameters":{"minWords":1e3}}]`)
	f.Fuzz(func(t *testing.T, list string) {
		checks, err := table().Read([]byte(list))
		if err != nil {
			if fault.From(err).Code != fault.InvalidParameter {
				t.Errorf("%v", err)
			}
			return
		}
		again, err := json.Marshal(checks)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table().Read(again); err != nil {
			t.Errorf("%s: %v", again, err)
		}
	})
}

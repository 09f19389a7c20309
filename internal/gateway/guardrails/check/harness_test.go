package check_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/fault"
)

// table returns the table of the built-in checks.
func table() *guardrail.Table {
	var rows []guardrail.Definition
	for _, c := range check.List() {
		rows = append(rows, c.Definition)
	}
	return guardrail.NewTable(rows)
}

// find returns a check by its id or an alias.
func find(t testing.TB, id string) check.Check {
	t.Helper()
	d, ok := table().Find(id)
	if !ok {
		t.Fatalf("no check %q", id)
	}
	list := check.List()
	return list[slices.IndexFunc(list, func(c check.Check) bool { return c.ID == d.ID })]
}

// open reads parameters as a guardrail does, and compiles them.
func open(t testing.TB, id, parameters string, d *check.Deps) check.Runner {
	t.Helper()
	r, err := tryOpen(t, id, parameters, d)
	if err != nil {
		t.Fatalf("%s %s: %v", id, parameters, err)
	}
	return r
}

func tryOpen(t testing.TB, id, parameters string, d *check.Deps) (check.Runner, error) {
	t.Helper()
	if _, err := table().Read([]byte(`[{"id":"` + id + `","parameters":` + parameters + `}]`)); err != nil {
		return nil, err
	}
	p, err := check.ReadParams([]byte(parameters))
	if err != nil {
		t.Fatal(err)
	}
	if d == nil {
		d = &check.Deps{}
	}
	return find(t, id).New(p, d)
}

// verdictCase is a row of a table test of one check.
type verdictCase struct {
	name       string
	parameters string
	texts      []string
	want       bool
	failure    string // part of the error's message; empty for none
	data       string // JSON of members that the data have
}

// runCases runs each case in each phase of the check.
func runCases(t *testing.T, id string, cases []verdictCase) {
	t.Helper()
	for _, c := range cases {
		for _, phase := range find(t, id).Phases {
			t.Run(c.name+" on "+string(phase), func(t *testing.T) {
				t.Parallel()
				r := open(t, id, c.parameters, nil)
				got := r.Run(context.Background(), &check.Input{Phase: phase, Texts: c.texts})
				compare(t, &got, c.want, c.failure, c.data)
			})
		}
	}
}

func compare(t *testing.T, got *check.Result, verdict bool, failure, data string) {
	t.Helper()
	if got.Verdict != verdict {
		t.Errorf("verdict %v, want %v; data %v", got.Verdict, verdict, got.Data)
	}
	switch {
	case failure == "" && got.Error != nil:
		t.Errorf("error %q %q, want none", got.Error.Name, got.Error.Message)
	case failure != "" && (got.Error == nil || !strings.Contains(got.Error.Name+": "+got.Error.Message, failure)):
		t.Errorf("error %v, want %q", got.Error, failure)
	}
	raw, err := json.Marshal(got.Data)
	if err != nil {
		t.Fatalf("data do not encode: %v", err)
	}
	if data != "" {
		compareMembers(t, raw, data)
	}
}

// compareMembers checks that an object has members with these values.
func compareMembers(t *testing.T, raw []byte, data string) {
	t.Helper()
	var have, want map[string]json.RawMessage
	if err := json.Unmarshal([]byte(data), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &have); err != nil {
		t.Fatalf("data %s: %v", raw, err)
	}
	for name, value := range want {
		if string(have[name]) != string(value) {
			t.Errorf("data.%s is %s, want %s", name, have[name], value)
		}
	}
}

// refusals maps parameters of one check to the path and a part of the text of the error.
type refusals map[string]string

func runRefusals(t *testing.T, id string, cases refusals) {
	t.Helper()
	for parameters, want := range cases {
		path, text, _ := strings.Cut(want, ": ")
		_, err := tryOpen(t, id, parameters, nil)
		f := fault.From(err)
		if err == nil || f.Code != fault.InvalidParameter || !strings.HasSuffix(f.Param, "parameters"+path) || !strings.Contains(f.Text(), text) {
			t.Errorf("%s: %v (param %q), want %s", parameters, err, param(f), want)
		}
	}
}

func param(f *fault.Error) string {
	if f == nil {
		return ""
	}
	return f.Param
}

// apply returns the texts after the edits of a result.
func apply(texts []string, edits []check.Edit) []string {
	out := slices.Clone(texts)
	for _, e := range slices.Backward(edits) {
		out[e.Text] = out[e.Text][:e.Start] + e.With + out[e.Text][e.End:]
	}
	return out
}

// requestCase is a row of a table test of a check that judges requests, not texts.
type requestCase struct {
	name       string
	parameters string
	in         check.Input
	want       bool
	failure    string // part of the error's message; empty for none
	data       string // JSON of members that the data have
}

func runRequests(t *testing.T, id string, cases []requestCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.in.Phase = guardrail.Input
			got := open(t, id, c.parameters, nil).Run(context.Background(), &c.in)
			compare(t, &got, c.want, c.failure, c.data)
		})
	}
}

// refuse checks that parameters whose forms are valid do not compile.
func refuse(t *testing.T, id, parameters, want string) {
	t.Helper()
	if _, err := tryOpen(t, id, parameters, nil); err == nil || !strings.Contains(fault.From(err).Text(), want) {
		t.Errorf("%s: %v, want %q", parameters, err, want)
	}
}

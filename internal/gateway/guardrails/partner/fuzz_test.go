package partner_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/partner"
)

// FuzzResponses gives each check a response of any form: none may crash, and edits must fit the texts.
func FuzzResponses(f *testing.F) {
	type use struct {
		id     string
		runner check.Runner
		tr     transcript
	}
	var uses []use
	var response []byte
	s := stub(func(context.Context, *check.ServiceRequest) (*check.ServiceResponse, error) {
		return &check.ServiceResponse{Status: 200, Body: response}, nil
	})
	for _, c := range partner.List() {
		files, err := filepath.Glob(filepath.Join("testdata", c.ID, "*.json"))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range files {
			var tr transcript
			raw, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			if err := json.Unmarshal(raw, &tr); err != nil {
				f.Fatal(err)
			}
			f.Add([]byte(tr.Call.Returns))
			if name := filepath.Base(path); name != "pass.json" && name != "redact.json" {
				continue
			}
			uses = append(uses, use{c.ID, open(f, c, string(tr.Parameters), &check.Deps{Services: s}), tr})
		}
	}
	for _, seed := range []string{``, `null`, `[]`, `{"result":null}`, `{"results":[null]}`, `{"payload":[{"message_id":-1,"start":1e308,"end":-5}],"flagged":true,"breakdown":[{"detected":true,"detector_type":"pii/x"}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		response = body
		for i := range uses {
			u := &uses[i]
			res := u.runner.Run(context.Background(), input(&u.tr))
			for _, e := range res.Edits {
				if e.Text < 0 || e.Text >= len(u.tr.Texts) || e.Start < 0 || e.Start > e.End || e.End > len(u.tr.Texts[e.Text]) {
					t.Fatalf("%s: edit %+v of %q", u.id, e, u.tr.Texts)
				}
			}
			if res.Body != nil && !json.Valid(res.Body) {
				t.Fatalf("%s: body %q", u.id, res.Body)
			}
			if u.tr.Phase != guardrail.Input && u.tr.Phase != guardrail.Output {
				t.Fatal(u.id)
			}
		}
	})
}

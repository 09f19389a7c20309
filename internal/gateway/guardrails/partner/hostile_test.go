package partner_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/partner"
)

// eachPartner calls do with each check and a transcript of it.
func eachPartner(t *testing.T, do func(t *testing.T, c check.Check, tr *transcript)) {
	t.Helper()
	for _, c := range partner.List() {
		if c.Unavailable != "" {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join("testdata", c.ID, "pass.json"))
			if err != nil {
				t.Fatal(err)
			}
			var tr transcript
			if err := json.Unmarshal(raw, &tr); err != nil {
				t.Fatal(err)
			}
			do(t, c, &tr)
		})
	}
}

// A partner that answers garbage is an error of the check, which neither changes the text nor decides.
func TestGarbageOfEachPartnerIsAnError(t *testing.T) {
	eachPartner(t, func(t *testing.T, c check.Check, tr *transcript) {
		for name, body := range map[string]string{
			"no body": "", "bytes": "\x00\xff\x1f", "a page": "<html><body>Sign in</body></html>", "a cut object": `{"verdict":`, "a number": "1",
			"null": "null", "a string": `"ok"`, "a list of nothing": "[]", "an object of nothing": "{}", "deep nesting": strings.Repeat("[", 100_000),
		} {
			for _, status := range []int{200, 204, 302, 500} {
				r := open(t, c, string(tr.Parameters), &check.Deps{Services: returns(status, body)})
				res := r.Run(context.Background(), input(tr))
				if res.Error == nil || len(res.Edits) > 0 || res.Body != nil {
					t.Errorf("%s with status %d: verdict %v, error %v, %d edits, body %.40q", name, status, res.Verdict, res.Error, len(res.Edits), res.Body)
				}
			}
		}
	})
}

// Each check ends on 10 MB of one word.
func TestALargeWordEndsEachCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 10 MB in each check")
	}
	word := strings.Repeat("a", 10<<20)
	eachPartner(t, func(t *testing.T, c check.Check, tr *transcript) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		r := open(t, c, string(tr.Parameters), &check.Deps{Services: returns(200, string(tr.Call.Returns))})
		in := input(tr)
		in.Texts = []string{word}
		r.Run(ctx, in)
		if ctx.Err() != nil {
			t.Error("the check did not end")
		}
	})
}

package admin_test

import (
	"regexp"
	"testing"

	"sluice/internal/store/storetest"
)

// Who does not know the password learns of no address whether one organisation knows it,
// several or none.
func TestStrangersLearnOfNoAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	w.signIn(t, "ada@acme.example", "member", "")
	answer := func(email string) string {
		rec := w.raw(t, "nobody", "POST", "/v1/auth/login", `{"email":"`+email+`","password":"s3cr3t-guess-1"}`)
		return rec.Result().Status + regexp.MustCompile(`\s+`).ReplaceAllString(rec.Body.String(), " ")
	}
	none := answer("nobody@acme.example")
	for of, email := range map[string]string{"one organisation": "ada@acme.example", "two": "owner@acme.example"} {
		if got := answer(email); got != none {
			t.Errorf("an address of %s: %s, of none: %s", of, got, none)
		}
	}
}

package control_test

import (
	"regexp"
	"strings"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore/storetest"
)

// Who does not know the password learns of no address whether one organisation knows it,
// several or none.
func TestStrangersLearnOfNoAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	w.signIn(t, "ada@acme.example", "member", "")
	responseFor := func(email string) string {
		rec := w.raw(t, "nobody", "POST", "/v1/auth/login", `{"email":"`+email+`","password":"s3cr3t-guess-1"}`)
		return rec.Result().Status + regexp.MustCompile(`\s+`).ReplaceAllString(rec.Body.String(), " ")
	}
	none := responseFor("nobody@acme.example")
	for name, email := range map[string]string{"one organisation": "ada@acme.example", "two": "owner@acme.example"} {
		if got := responseFor(email); got != none {
			t.Errorf("an address of %s: %s, of none: %s", name, got, none)
		}
	}
}

// Where an organisation has its people sign in through its identity provider alone, no
// password opens a session, keeps one open or is taken with an invitation, until an Admin
// key says otherwise.
func TestNoPasswordsWhereThereIsSSOAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	w.signIn(t, "ada@acme.example", "admin", "")
	status := func(caller, method, path, body string) int {
		t.Helper()
		return w.raw(t, caller, method, path, body).Code
	}
	const settings, login = "/v1/organisations/self/auth-settings", `{"email":"ada@acme.example","password":"correct horse battery"}`
	_, token, _ := strings.Cut(w.raw(t, "admin", "POST", "/v1/admin/users/invites", `{"email":"eve@acme.example","role":"member"}`).Body.String(), "token=")
	accept := "/v1/admin/users/invites/" + token[:strings.IndexByte(token, '"')] + "/accept"

	// It cannot be turned on while sign-on does not run; an older version could.
	org := w.names.values["org"]
	w.put(t, resource.Record{Kind: tenant.AuthKind, ID: ident.NewID(), OrgID: org, Index: []resource.IndexEntry{{Name: "organisation", Value: org, Unique: true}}},
		tenant.Auth{SSOType: "oidc", SSOOnly: true, OIDC: &tenant.OIDC{Issuer: "https://id.acme.example", ClientID: "sluice"}})
	for what, got := range map[string]int{
		"a session":     status("ada@acme.example", "GET", "/v1/auth/self", ""),
		"a login":       status("nobody", "POST", "/v1/auth/login", login),
		"an invitation": status("nobody", "POST", accept, `{"password":"correct horse battery"}`),
	} {
		if got != 401 {
			t.Errorf("%s: %d", what, got)
		}
	}
	if got := status("admin", "PUT", settings, `{"auth_settings":{"sso_only":false}}`); got != 200 {
		t.Fatalf("an Admin key turns it off: %d", got)
	}
	if status("nobody", "POST", "/v1/auth/login", login) != 200 || status("nobody", "POST", accept, `{"password":"correct horse battery"}`) != 200 {
		t.Error("with it off, passwords are not taken again")
	}
}

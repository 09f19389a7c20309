package control_test

import (
	"net/http"
	"strings"
	"testing"

	"sluice/internal/storage/sqlstore/storetest"
)

// What is stored but does not run cannot be turned on, and nobody is locked out.
func TestSignOnThatDoesNotRunIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	w.signIn(t, "ada@acme.example", "admin", "")
	const settings = "/v1/organisations/self/auth-settings"
	for field, body := range map[string]string{
		"sso_type":                           `{"auth_settings":{"sso_type":"oidc","oidc":{"issuer":"https://id.acme.example","client_id":"x"}}}`,
		"sso_only":                           `{"auth_settings":{"sso_type":"oidc","oidc":{"issuer":"https://id.acme.example","client_id":"x"},"sso_only":true}}`,
		"jwt":                                `{"auth_settings":{"jwt":{"jwks_url":"https://keys.acme.example/jwks"}}}`,
		"scim.enabled":                       `{"auth_settings":{"scim":{"enabled":true}}}`,
		"scim.org_user_management_only_scim": `{"auth_settings":{"scim":{"org_user_management_only_scim":true}}}`,
		"scim.group_based_user_provisioning": `{"auth_settings":{"scim":{"group_based_user_provisioning":true}}}`,
	} {
		rec := w.raw(t, "admin", "PUT", settings, body)
		if rec.Code != http.StatusNotImplemented || !strings.Contains(rec.Body.String(), "auth_settings."+field) {
			t.Errorf("%s: %d %s", field, rec.Code, rec.Body)
		}
	}
	if rec := w.raw(t, "admin", "POST", settings+"/scim-token", ""); rec.Code != http.StatusNotImplemented || strings.Contains(rec.Body.String(), "scim_token\":\"") {
		t.Errorf("SCIM token: %d %s", rec.Code, rec.Body)
	}
	if rec := w.raw(t, "admin", "PUT", settings, `{"auth_settings":{"oidc":{"issuer":"https://id.acme.example","client_id":"x"}}}`); rec.Code != 200 {
		t.Errorf("settings that turn nothing on: %d %s", rec.Code, rec.Body)
	}
	if rec := w.raw(t, "nobody", "POST", "/v1/auth/login", `{"email":"ada@acme.example","password":"correct horse battery"}`); rec.Code != 200 {
		t.Errorf("login: %d %s", rec.Code, rec.Body)
	}
}

// Metadata that is not that of a SAML identity provider is refused, document types and
// entities above all.
func TestSAMLMetadataIsChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	const open, end = `<EntityDescriptor xmlns='urn:oasis:names:tc:SAML:2.0:metadata' entityID='x'>`, `</EntityDescriptor>`
	for name, c := range map[string]struct {
		xml  string
		code int
	}{
		"good":                 {open + `<IDPSSODescriptor/>` + end, 200},
		"another root":         {`<x/>`, 400},
		"no identity provider": {open + `<SPSSODescriptor/>` + end, 400},
		"another namespace":    {`<EntityDescriptor><IDPSSODescriptor/></EntityDescriptor>`, 400},
		"external entity":      {`<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>` + open + `<IDPSSODescriptor>&e;</IDPSSODescriptor>` + end, 400},
		"document type":        {`<!DOCTYPE x SYSTEM 'http://evil.example/x.dtd'>` + open + `<IDPSSODescriptor/>` + end, 400},
		"unknown entity":       {open + `<IDPSSODescriptor>&e;</IDPSSODescriptor>` + end, 400},
		"cut off":              {open + `<IDPSSODescriptor/>`, 400},
		"two roots":            {open + `<IDPSSODescriptor/>` + end + open + end, 400},
		"not XML":              {`metadata`, 400},
		"deep":                 {strings.ReplaceAll(strings.Repeat("<a>", 100), "<a>", open), 400},
	} {
		rec := w.raw(t, "admin", "PUT", "/v1/organisations/self/auth-settings", `{"auth_settings":{"saml":{"metadata_xml":"`+c.xml+`"}}}`)
		if rec.Code != c.code || strings.Contains(rec.Body.String(), "passwd") {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
}

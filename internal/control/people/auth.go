package people

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"time"

	"sluice/internal/control/destination"
	"sluice/internal/control/directory"
	"sluice/internal/control/outbox"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/mail"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// auth returns the routes of the sign-in settings and domains of an organisation. They are not a
// resource.Kind, because an organisation has one record of them. Updates merge it object by
// object, and the first update creates it.
// Source: contract/identity-and-governance.yaml, auth-settings and domains.
func (k auth) auth() resource.Resource {
	org := resource.Param{Name: "organisationId", Doc: "Id of the organisation, or self"}
	return resource.Operations{
		{
			Method: http.MethodGet, Path: "/organisations/{organisationId}/auth-settings", ID: "getAuthSettings", Summary: "Get the sign-in settings", Tag: "Organisation",
			Params: []resource.Param{org}, Scopes: []access.Scope{settingsRead}, Response: enveloped[authOut]{}, Run: k.getAuth,
		},
		{
			Method: http.MethodPut, Path: "/organisations/{organisationId}/auth-settings", ID: "updateAuthSettings", Summary: "Change the sign-in settings; objects are merged field by field", Tag: "Organisation",
			Params: []resource.Param{org}, Scopes: []access.Scope{settingsUpdate}, Body: authPatch{}, Audited: "auth", Action: "update", Run: k.putAuth,
		},
		{
			Method: http.MethodPost, Path: "/organisations/{organisationId}/auth-settings/scim-token", ID: "createScimToken", Summary: "Create a SCIM bearer token; returns 501 until SCIM is supported", Tag: "Organisation",
			Params: []resource.Param{org}, Scopes: []access.Scope{settingsUpdate}, Response: scimTokenOut{}, Audited: "auth", Action: "rotate", Run: newScimToken,
		},
		{
			Method: http.MethodPost, Path: "/organisations/{organisationId}/domains/{domain}/verify", ID: "verifyDomain", Summary: "Verify a domain with the emailed code, or request a code", Tag: "Organisation",
			Params: []resource.Param{org, {Name: "domain"}}, Scopes: []access.Scope{settingsUpdate}, Body: verifyIn{}, Optional: true, Response: verifyOut{},
			Audited: "auth", Action: "manage", Run: k.verifyDomain,
		},
	}
}

type authPatch struct {
	Settings *authIn    `json:"auth_settings,omitempty"`
	Domains  []domainIn `json:"domains,omitempty" nullable:"false" maxItems:"100" doc:"Replaces all; a domain that remains retains its state"`
}

type authIn struct {
	SSOType         string                         `json:"sso_type,omitempty" enum:"none,oidc,saml"`
	SSOOnly         bool                           `json:"sso_only,omitempty" doc:"Disables sign-in with a password and signs out sessions opened with one; only an Admin key can enable it"`
	SSOClientID     *string                        `json:"sso_client_id,omitempty" nullable:"true" maxLength:"255"`
	NoAutoProvision bool                           `json:"disable_auto_provision_user,omitempty" doc:"Allows sign-in only for invited users"`
	OIDC            *jsonfield.Nullable[oidcIn]    `json:"oidc,omitempty" nullable:"true"`
	SAML            *jsonfield.Nullable[samlIn]    `json:"saml,omitempty" nullable:"true"`
	JWT             *jsonfield.Nullable[jwtIn]     `json:"jwt,omitempty" nullable:"true"`
	Session         *jsonfield.Nullable[sessionIn] `json:"session_settings,omitempty" nullable:"true"`
	SCIM            *jsonfield.Nullable[scimIn]    `json:"scim,omitempty" nullable:"true"`
}

type oidcIn struct {
	Issuer       string         `json:"issuer,omitempty" format:"uri" maxLength:"2048"`
	ClientID     string         `json:"client_id,omitempty" maxLength:"255"`
	ClientSecret string         `json:"client_secret,omitempty" maxLength:"4096"`
	Scopes       []string       `json:"scopes,omitempty" nullable:"false" maxItems:"50"`
	Method       string         `json:"token_endpoint_auth_method,omitempty" enum:"client_secret_basic,client_secret_post,private_key_jwt"`
	JWKS         map[string]any `json:"jwks,omitempty" doc:"Private key set of the client"`
}

type samlIn struct {
	MetadataURL *string `json:"metadata_url,omitempty" nullable:"true" format:"uri" maxLength:"2048"`
	MetadataXML *string `json:"metadata_xml,omitempty" nullable:"true" maxLength:"262144"`
}

type jwtIn struct {
	JWKSURL  *string                     `json:"jwks_url,omitempty" nullable:"true" format:"uri" maxLength:"2048"`
	JWKS     *jsonfield.Nullable[object] `json:"jwks_json,omitempty" nullable:"true" doc:"Public RSA keys"`
	CacheTTL int                         `json:"jwks_cache_ttl,omitempty" minimum:"0" maximum:"86400" doc:"Seconds; 0 means 300"`
}

type sessionIn struct {
	MaxTTL *int `json:"max_session_ttl,omitempty" nullable:"true" minimum:"900" maximum:"315360000" doc:"Maximum age of a session in seconds; older sessions must sign in again"`
}

type scimIn struct {
	Enabled         bool   `json:"enabled,omitempty"`
	WorkspacePrefix string `json:"workspace_prefix,omitempty" maxLength:"50"`
	RoleSeparator   string `json:"role_separator,omitempty" maxLength:"50"`
	GroupUsers      bool   `json:"group_based_user_provisioning,omitempty"`
	UsersOnly       bool   `json:"org_user_management_only_scim,omitempty"`
}

type domainIn struct {
	Domain     string `json:"domain" maxLength:"253"`
	Subdomains bool   `json:"allow_subdomains,omitempty"`
}

// authOf returns the sign-in settings of an organisation. If there is no record yet, it returns
// an empty one without an id.
func authOf(ctx context.Context, from resource.Reader, orgID string) (*resource.Row[tenant.Auth], error) {
	rows, err := resource.ListRows[tenant.Auth](ctx, from, resource.Query{Kind: tenant.AuthKind, OrgID: orgID, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(rows) > 0 {
		return rows[0], nil
	}
	return &resource.Row[tenant.Auth]{Record: resource.Record{Kind: tenant.AuthKind, OrgID: orgID}}, nil
}

// requireCallerOrg checks that the path names the caller's organisation.
func requireCallerOrg(c *resource.Call) error {
	if id := c.Path("organisationId"); id != "self" {
		return c.RequireOrganisation(id, "organisationId")
	}
	return nil
}

// changeAuth applies edit to the sign-in settings, validates them and stores them. It creates
// the record if it does not exist.
func changeAuth(ctx context.Context, c *resource.Call, edit func(resource.Tx, *resource.Row[tenant.Auth]) error) error {
	if err := requireCallerOrg(c); err != nil {
		return err
	}
	return c.Change(ctx, func(tx resource.Tx) error {
		row, err := authOf(ctx, tx, c.OrgID)
		if err != nil {
			return err
		}
		if err := c.Unchanged(row.Record); err != nil {
			return err
		}
		first := row.ID == ""
		if first {
			row.ID, row.Status, row.Version, row.Created = ident.NewID(), resource.Active, 1, c.Now
		}
		if err := edit(tx, row); err != nil {
			return err
		}
		if err := row.Value.Validate(); err != nil {
			return err
		}
		rec := row.Record
		rec.Body, rec.Updated = jsonfield.Encode(row.Value), c.Now
		c.Target(rec)
		if first {
			rec.Index = []resource.IndexEntry{{Name: "organisation", Value: c.OrgID, Unique: true}}
			return tx.Insert(ctx, rec)
		}
		return tx.Update(ctx, rec)
	})
}

func (k auth) putAuth(ctx context.Context, c *resource.Call) (any, error) {
	return resource.Empty{}, changeAuth(ctx, c, func(_ resource.Tx, row *resource.Row[tenant.Auth]) error {
		var fields resource.Sent
		if err := c.Sent.Into("auth_settings", &fields); err != nil {
			return err
		}
		before := row.Value
		if err := k.mergeAuth(row, fields); err != nil {
			return err
		}
		if saml := row.Value.SAML; saml != nil && saml.MetadataXML != "" && (before.SAML == nil || before.SAML.MetadataXML != saml.MetadataXML) {
			if err := checkSAML(saml.MetadataXML); err != nil {
				return err
			}
		}
		if err := row.Value.Validate(); err != nil {
			return err
		}
		if err := refuseSignOn(&before, &row.Value); err != nil {
			return err
		}
		return replaceDomains(c, &row.Value)
	})
}

// mergeAuth merges the sent settings into the present ones. It merges objects field by field;
// null removes an object.
func (k auth) mergeAuth(row *resource.Row[tenant.Auth], fields resource.Sent) error {
	a := &row.Value
	plain := make(resource.Sent)
	for name, v := range fields {
		switch name {
		case "oidc", "saml", "jwt", "session_settings", "scim":
		default:
			plain[name] = v
		}
	}
	if err := resource.MergeFields(plain, a); err != nil {
		return err
	}
	if err := k.mergeOIDC(row, fields); err != nil {
		return err
	}
	saml, err := mergeObject(fields, "saml", a.SAML)
	if err != nil {
		return err
	}
	if a.SAML = saml; saml != nil && saml.Token == "" {
		saml.Token = ident.NewID()
	}
	if a.JWT, err = mergeObject(fields, "jwt", a.JWT); err != nil {
		return err
	}
	session, err := mergeObject(fields, "session_settings", &a.Session)
	if err != nil {
		return err
	}
	if a.Session = (tenant.Session{}); session != nil {
		a.Session = *session
	}
	scim, err := mergeObject(fields, "scim", &a.SCIM)
	if err == nil && scim != nil {
		a.SCIM = *scim
	}
	if err != nil {
		return err
	}
	return k.checkAddresses(a)
}

// mergeObject returns an object of the settings, merged with its sent fields. It returns nil if
// null was sent, and present if nothing was sent.
func mergeObject[T any](sent resource.Sent, name string, present *T) (*T, error) {
	if sent.Cleared(name) {
		return nil, nil
	}
	if !sent.Has(name) {
		return present, nil
	}
	var fields resource.Sent
	if err := sent.Into(name, &fields); err != nil {
		return nil, err
	}
	var base T
	if present != nil {
		base = *present
	}
	next, err := resource.Overlay(base, fields)
	return &next, err
}

// mergeOIDC merges the settings of the identity provider and seals its secrets.
func (k auth) mergeOIDC(row *resource.Row[tenant.Auth], sent resource.Sent) error {
	if sent.Cleared("oidc") {
		row.Value.OIDC = nil
		return nil
	}
	if !sent.Has("oidc") {
		return nil
	}
	var fields resource.Sent
	if err := sent.Into("oidc", &fields); err != nil {
		return err
	}
	present := tenant.OIDC{}
	if row.Value.OIDC != nil {
		present = *row.Value.OIDC
	}
	next, plain := present, maps.Clone(fields)
	delete(plain, oidcSecret)
	delete(plain, oidcKeys)
	if err := resource.MergeFields(plain, &next); err != nil {
		return err
	}
	if next.Issuer == "" || next.ClientID == "" {
		return fault.New(fault.InvalidParameter, "must have an issuer and a client_id").WithParam("auth_settings.oidc")
	}
	if path := leftWithIssuer(&present, &next, fields); path != "" {
		return fault.New(fault.InvalidParameter, "the issuer is on another host; send the secret again").WithParam("auth_settings.oidc." + path)
	}
	if err := k.sealOIDC(&next, fields, tenant.AuthContext(row.ID)); err != nil {
		return err
	}
	row.Value.OIDC = &next
	return nil
}

// The fields of an identity provider that are secrets.
const (
	oidcSecret = "client_secret"
	oidcKeys   = "jwks"
)

// leftWithIssuer returns the name of a stored secret that would go to another host than before
// because the issuer changes and the secret was not sent again. It returns "" for none.
// Otherwise an administrator could read secrets at that host that responses never show.
func leftWithIssuer(present, next *tenant.OIDC, sent resource.Sent) string {
	switch {
	case destination.Origin(present.Issuer) == destination.Origin(next.Issuer):
	case len(present.ClientSecret) > 0 && sent.Text(oidcSecret) == "":
		return oidcSecret
	case len(present.JWKS) > 0 && !sent.Has(oidcKeys):
		return oidcKeys
	}
	return ""
}

// sealOIDC seals the sent secrets and replaces the present ones. Secrets that were not sent
// remain.
func (k auth) sealOIDC(next *tenant.OIDC, sent resource.Sent, context string) (err error) {
	if raw := sent.Secret(oidcSecret).Reveal(); raw != "" {
		if next.ClientSecret, err = k.Box.Seal([]byte(raw), context); err != nil {
			return err
		}
	}
	if !sent.Has(oidcKeys) {
		return nil
	}
	if next.Method == "" {
		next.Method = "private_key_jwt"
	}
	next.JWKS, err = k.Box.Seal(sent[oidcKeys], context)
	return err
}

// checkAddresses checks all URLs that the gateway will fetch with k.Guard, and the public keys
// for JWTs.
func (k auth) checkAddresses(a *tenant.Auth) error {
	check := func(u, path string) error {
		if u == "" {
			return nil
		}
		if err := k.Guard.CheckURL(u); err != nil {
			return fault.From(err).WithParam("auth_settings." + path)
		}
		return nil
	}
	if a.OIDC != nil {
		if err := check(a.OIDC.Issuer, "oidc.issuer"); err != nil {
			return err
		}
	}
	if a.SAML != nil {
		if err := check(a.SAML.MetadataURL, "saml.metadata_url"); err != nil {
			return err
		}
	}
	if a.JWT == nil {
		return nil
	}
	if err := checkPublicKeys(a.JWT.JWKS); err != nil {
		return err
	}
	return check(a.JWT.JWKSURL, "jwt.jwks_url")
}

// checkPublicKeys checks that a key set contains only RSA keys with a kid and without private
// members. An absent or null set is valid.
func checkPublicKeys(raw json.RawMessage) error {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	var set struct {
		Keys []map[string]any `json:"keys"`
	}
	bad := func(text string) error {
		return fault.New(fault.InvalidParameter, text).WithParam("auth_settings.jwt.jwks_json")
	}
	if json.Unmarshal(raw, &set) != nil || len(set.Keys) == 0 {
		return bad("must be a key set: an object with a list of keys")
	}
	for _, key := range set.Keys {
		if key["kty"] != "RSA" || key["kid"] == nil {
			return bad("each key must be an RSA key with a kid")
		}
		for _, private := range []string{"d", "p", "q", "dp", "dq", "qi", "oth"} {
			if _, there := key[private]; there {
				return bad("keys must not have private members; send only the public part")
			}
		}
	}
	return nil
}

var domainForm = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$`)

// replaceDomains replaces the list of domains if one was sent. A domain that remains retains its
// state.
func replaceDomains(c *resource.Call, a *tenant.Auth) error {
	var sent []domainIn
	if err := c.Sent.Into("domains", &sent); err != nil || !c.Sent.Has("domains") {
		return err
	}
	next := make([]tenant.Domain, len(sent))
	for i, d := range sent {
		name := strings.ToLower(d.Domain)
		if !domainForm.MatchString(name) {
			return fault.Newf(fault.InvalidParameter, "%q is not a valid domain", jsonfield.Clip(d.Domain, 80)).WithParam("domains")
		}
		next[i] = tenant.Domain{Name: name, Status: "pending"}
		for _, old := range a.Domains {
			if old.Name == name {
				next[i] = old
			}
		}
		next[i].Subdomains = d.Subdomains
	}
	a.Domains = next
	return nil
}

type scimTokenOut struct {
	Token   string `json:"scim_token" doc:"Bearer token; returned only once"`
	BaseURL string `json:"base_url"`
}

// newScimToken always returns an error, because the SCIM routes do not exist.
func newScimToken(_ context.Context, c *resource.Call) (any, error) {
	if err := requireCallerOrg(c); err != nil {
		return nil, err
	}
	return nil, notRunning("scim_token", "SCIM is not available; use invitations")
}

type verifyIn struct {
	Code string `json:"verification_code,omitempty" maxLength:"64"`
}

type verifyOut struct {
	Status string `json:"status" enum:"pending,verified"`
}

// codeLife is the lifetime of an emailed code.
const codeLife = 24 * time.Hour

// verifyDomain emails a code to the postmaster of the domain if no code was sent. Otherwise it
// checks the code and marks the domain as verified.
func (k auth) verifyDomain(ctx context.Context, c *resource.Call) (any, error) {
	name, out := strings.ToLower(c.Path("domain")), verifyOut{"pending"}
	raw := strings.ToUpper(ident.NewSecret(5))
	err := changeAuth(ctx, c, func(tx resource.Tx, row *resource.Row[tenant.Auth]) error {
		for i := range row.Value.Domains {
			d := &row.Value.Domains[i]
			switch code := c.Sent.Text("verification_code"); {
			case d.Name != name:
				continue
			case d.Status == "verified":
				out.Status = d.Status
			case code == "":
				d.Code, d.CodeUntil = k.Hasher.Sum(raw).String(), c.Now.Add(codeLife)
				return k.mailCode(ctx, tx, c, name, raw)
			case d.Code == "" || !c.Now.Before(d.CodeUntil) || !same(d.Code, k.Hasher.Sum(code).String()):
				return fault.New(fault.InvalidParameter, "the code is wrong or has expired; request a new one").WithParam("verification_code")
			default:
				d.Status, d.Code = "verified", ""
				out.Status = d.Status
			}
			return nil
		}
		return fault.New(fault.NotFound, "the organisation does not have this domain").WithParam("domain")
	})
	return out, err
}

// mailCode emails the code of a domain to its postmaster.
func (k auth) mailCode(ctx context.Context, tx resource.Tx, c *resource.Call, domain, code string) error {
	org, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return err
	}
	m := mail.Message{
		Template: "domain-verification-alert", To: []string{"postmaster@" + domain},
		Vars: map[string]string{"organisationName": org.Value.Name, "domain": domain},
	}
	return outbox.PostSecret(ctx, tx, k.Box, c.OrgID, c.Now, m, map[string]string{"verificationCode": code})
}

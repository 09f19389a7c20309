package tenant

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"sluice/internal/fault"
)

// AuthKind is the kind of the record of how people of an organisation sign in; there
// is one of each organisation, with an id of its own.
const AuthKind = "auth_settings"

// Auth is its stored body. Secrets in it are sealed under AuthContext.
// Source: contract/identity-and-governance.yaml, AuthSettings.
type Auth struct {
	SSOType         string   `json:"sso_type,omitempty"` // none (also when empty), oidc or saml
	SSOOnly         bool     `json:"sso_only,omitempty"`
	SSOClientID     string   `json:"sso_client_id,omitempty"`
	NoAutoProvision bool     `json:"disable_auto_provision_user,omitempty"`
	OIDC            *OIDC    `json:"oidc,omitempty"`
	SAML            *SAML    `json:"saml,omitempty"`
	JWT             *JWT     `json:"jwt,omitempty"`
	Session         Session  `json:"session_settings"`
	SCIM            SCIM     `json:"scim"`
	Domains         []Domain `json:"domains,omitempty"`
}

// OIDC is an identity provider that speaks OpenID Connect.
type OIDC struct {
	Issuer       string   `json:"issuer"`
	ClientID     string   `json:"client_id"`
	ClientSecret []byte   `json:"client_secret,omitempty"` // sealed
	Scopes       []string `json:"scopes,omitempty"`
	Method       string   `json:"token_endpoint_auth_method,omitempty"`
	JWKS         []byte   `json:"jwks,omitempty"` // sealed: it has private keys
}

// SAML is one that speaks SAML 2.0, named by its metadata or the address of it.
type SAML struct {
	MetadataURL string `json:"metadata_url,omitempty"`
	MetadataXML string `json:"metadata_xml,omitempty"`
	Token       string `json:"token"` // in the address to which assertions are sent
}

// JWT says whose tokens are taken in the place of keys.
type JWT struct {
	JWKSURL  string          `json:"jwks_url,omitempty"`
	JWKS     json.RawMessage `json:"jwks_json,omitempty"`
	CacheTTL int             `json:"jwks_cache_ttl,omitempty"` // seconds; 0 means 300
}

// Session bounds the life of sessions.
type Session struct {
	MaxTTL int `json:"max_session_ttl,omitempty"` // seconds, at least 900; 0 is unset
}

// SCIM says how users and groups are provisioned.
type SCIM struct {
	Enabled         bool   `json:"enabled,omitempty"`
	TokenHash       string `json:"token_hash,omitempty"`
	TokenMasked     string `json:"token_masked,omitempty"`
	WorkspacePrefix string `json:"workspace_prefix,omitempty"` // empty means "ws-"
	RoleSeparator   string `json:"role_separator,omitempty"`   // empty means "-role-"
	GroupUsers      bool   `json:"group_based_user_provisioning,omitempty"`
	UsersOnly       bool   `json:"org_user_management_only_scim,omitempty"`
}

// Domain is one whose addresses may sign in once it is verified.
type Domain struct {
	Name       string    `json:"domain"`
	Status     string    `json:"status"` // pending or verified
	Subdomains bool      `json:"allow_subdomains,omitempty"`
	Code       string    `json:"code,omitempty"` // hash of the mailed one
	CodeUntil  time.Time `json:"code_until,omitzero"`
}

// AuthContext is what sealed values are bound to: the record they stand in.
func AuthContext(recordID string) string { return AuthKind + "/" + recordID }

// minSession is the shortest life of a session. Source: spec, Limits.
const minSession = 900

// Validate checks what belongs together: fault.InvalidParameter at the field.
func (a *Auth) Validate() error {
	bad := func(path, text string) error {
		return fault.New(fault.InvalidParameter, text).WithParam("auth_settings." + path)
	}
	switch {
	case a.Session.MaxTTL != 0 && a.Session.MaxTTL < minSession:
		return bad("session_settings.max_session_ttl", "must be at least 900 seconds")
	case a.SSOType == "oidc" && a.OIDC == nil:
		return bad("oidc", "is required for this sso_type")
	case a.SSOType == "saml" && a.SAML == nil:
		return bad("saml", "is required for this sso_type")
	case a.SAML != nil && (a.SAML.MetadataURL == "") == (a.SAML.MetadataXML == ""):
		return bad("saml", "send either metadata_url or metadata_xml")
	case a.JWT != nil && (a.JWT.JWKSURL == "") == (len(a.JWT.JWKS) == 0):
		return bad("jwt", "send either jwks_url or jwks_json")
	case a.SSOOnly && a.SSOType != "oidc" && a.SSOType != "saml":
		return bad("sso_only", "requires an identity provider; without one no user can sign in")
	}
	for i, d := range a.Domains {
		if slices.ContainsFunc(a.Domains[:i], func(e Domain) bool { return e.Name == d.Name }) {
			return fault.Newf(fault.InvalidParameter, "duplicate domain %s", d.Name).WithParam("domains")
		}
		if d.Subdomains && strings.Count(d.Name, ".") > 1 {
			return fault.New(fault.InvalidParameter, "only root domains can allow subdomains").WithParam("domains")
		}
	}
	return nil
}

package tenant

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"sluice/internal/kernel/fault"
)

// AuthKind is the kind of the record of the sign-in settings of an organisation. Each
// organisation has one, with a separate id.
const AuthKind = "auth_settings"

// Auth is the stored body of the sign-in settings. Its secrets are sealed under AuthContext.
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

// OIDC is an identity provider that uses OpenID Connect.
type OIDC struct {
	Issuer       string   `json:"issuer"`
	ClientID     string   `json:"client_id"`
	ClientSecret []byte   `json:"client_secret,omitempty"` // sealed
	Scopes       []string `json:"scopes,omitempty"`
	Method       string   `json:"token_endpoint_auth_method,omitempty"`
	JWKS         []byte   `json:"jwks,omitempty"` // sealed: it contains private keys
}

// SAML is an identity provider that uses SAML 2.0, given by its metadata or their URL.
type SAML struct {
	MetadataURL string `json:"metadata_url,omitempty"`
	MetadataXML string `json:"metadata_xml,omitempty"`
	Token       string `json:"token"` // part of the URL to which assertions are sent
}

// JWT configures the issuer of tokens that are accepted instead of keys.
type JWT struct {
	JWKSURL  string          `json:"jwks_url,omitempty"`
	JWKS     json.RawMessage `json:"jwks_json,omitempty"`
	CacheTTL int             `json:"jwks_cache_ttl,omitempty"` // seconds; 0 means 300
}

// Session limits the lifetime of sessions.
type Session struct {
	MaxTTL int `json:"max_session_ttl,omitempty"` // seconds, at least 900; 0 means unset
}

// SCIM configures the provisioning of users and groups.
type SCIM struct {
	Enabled         bool   `json:"enabled,omitempty"`
	TokenHash       string `json:"token_hash,omitempty"`
	TokenMasked     string `json:"token_masked,omitempty"`
	WorkspacePrefix string `json:"workspace_prefix,omitempty"` // empty means "ws-"
	RoleSeparator   string `json:"role_separator,omitempty"`   // empty means "-role-"
	GroupUsers      bool   `json:"group_based_user_provisioning,omitempty"`
	UsersOnly       bool   `json:"org_user_management_only_scim,omitempty"`
}

// Domain is an e-mail domain whose addresses may sign in after its verification.
type Domain struct {
	Name       string    `json:"domain"`
	Status     string    `json:"status"` // pending or verified
	Subdomains bool      `json:"allow_subdomains,omitempty"`
	Code       string    `json:"code,omitempty"` // hash of the e-mailed code
	CodeUntil  time.Time `json:"code_until,omitzero"`
}

// AuthContext returns the sealing context of an auth record: its kind and id.
func AuthContext(recordID string) string { return AuthKind + "/" + recordID }

// minSession is the shortest lifetime of a session. Source: spec, Limits.
const minSession = 900

// Validate checks fields that depend on each other. The error is fault.InvalidParameter at the
// field.
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

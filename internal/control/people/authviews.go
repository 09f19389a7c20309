package people

import (
	"cmp"
	"context"
	"crypto/subtle"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/sealed"
)

// authOut is the response to a read of the settings.
type authOut struct {
	Settings  authView     `json:"auth_settings"`
	Domains   []domainView `json:"domains" nullable:"false"`
	ScimToken *string      `json:"scim_token" nullable:"true" doc:"Masked secret"`
}

type authView struct {
	SSOType         string                       `json:"sso_type" enum:"none,oidc,saml"`
	SSOOnly         bool                         `json:"sso_only"`
	SSOClientID     *string                      `json:"sso_client_id" nullable:"true"`
	NoAutoProvision bool                         `json:"disable_auto_provision_user"`
	OIDC            jsonfield.Nullable[oidcView] `json:"oidc"`
	SAML            jsonfield.Nullable[samlView] `json:"saml"`
	JWT             jsonfield.Nullable[jwtView]  `json:"jwt"`
	Session         sessionView                  `json:"session_settings"`
	SCIM            scimView                     `json:"scim"`
}

type oidcView struct {
	Issuer      string   `json:"issuer"`
	ClientID    string   `json:"client_id"`
	Masked      *string  `json:"masked_client_secret" nullable:"true"`
	RedirectURI string   `json:"redirect_uri"`
	Scopes      []string `json:"scopes" nullable:"false"`
	Method      string   `json:"token_endpoint_auth_method"`
}

type samlView struct {
	MetadataURL *string `json:"metadata_url" nullable:"true"`
	MetadataXML *string `json:"metadata_xml" nullable:"true"`
	EntityID    string  `json:"entity_id"`
	ACSURL      string  `json:"acs_url"`
}

type jwtView struct {
	JWKSURL  *string                    `json:"jwks_url" nullable:"true"`
	JWKS     jsonfield.Nullable[object] `json:"jwks_json"`
	CacheTTL int                        `json:"jwks_cache_ttl"`
}

type sessionView struct {
	MaxTTL *int `json:"max_session_ttl" nullable:"true"`
}

type scimView struct {
	Enabled         bool   `json:"enabled"`
	BaseURL         string `json:"base_url"`
	WorkspacePrefix string `json:"workspace_prefix"`
	RoleSeparator   string `json:"role_separator"`
	GroupUsers      bool   `json:"group_based_user_provisioning"`
	UsersOnly       bool   `json:"org_user_management_only_scim"`
}

type domainView struct {
	Domain     string `json:"domain"`
	Status     string `json:"status" enum:"pending,verified"`
	Subdomains bool   `json:"allow_subdomains"`
}

func (k auth) getAuth(ctx context.Context, c *resource.Call) (any, error) {
	if err := requireCallerOrg(c); err != nil {
		return nil, err
	}
	row, err := authOf(ctx, c.Reader, c.OrgID)
	if err != nil {
		return nil, err
	}
	if row.ID != "" {
		c.Version(row.Record)
	}
	a := row.Value
	v := authView{
		SSOType: cmp.Or(a.SSOType, "none"), SSOOnly: a.SSOOnly, SSOClientID: jsonfield.OrNull(a.SSOClientID), NoAutoProvision: a.NoAutoProvision,
		OIDC: jsonfield.Nullable[oidcView]{Object: k.viewOIDC(a.OIDC)}, SAML: jsonfield.Nullable[samlView]{Object: k.viewSAML(a.SAML)},
		SCIM: scimView{a.SCIM.Enabled, k.ConsoleURL + "/scim", cmp.Or(a.SCIM.WorkspacePrefix, "ws-"), cmp.Or(a.SCIM.RoleSeparator, "-role-"), a.SCIM.GroupUsers, a.SCIM.UsersOnly},
	}
	if a.JWT != nil {
		v.JWT.Object = &jwtView{jsonfield.OrNull(a.JWT.JWKSURL), jsonObject(a.JWT.JWKS), cmp.Or(a.JWT.CacheTTL, 300)}
	}
	if ttl := a.Session.MaxTTL; ttl > 0 {
		v.Session.MaxTTL = &ttl
	}
	out := authOut{Settings: v, Domains: make([]domainView, len(a.Domains)), ScimToken: jsonfield.OrNull(a.SCIM.TokenMasked)}
	for i, d := range a.Domains {
		out.Domains[i] = domainView{d.Name, d.Status, d.Subdomains}
	}
	return enveloped[authOut]{true, out}, nil
}

func (k auth) viewOIDC(o *tenant.OIDC) *oidcView {
	if o == nil {
		return nil
	}
	v := &oidcView{
		Issuer: o.Issuer, ClientID: o.ClientID, RedirectURI: k.ConsoleURL + "/v2/auth/callback", Scopes: o.Scopes,
		Method: cmp.Or(o.Method, "client_secret_basic"),
	}
	if v.Scopes == nil {
		v.Scopes = []string{"openid", "profile", "email", "offline_access"}
	}
	if len(o.ClientSecret) > 0 {
		v.Masked = jsonfield.OrNull(sealed.Mask)
	}
	return v
}

func (k auth) viewSAML(s *tenant.SAML) *samlView {
	if s == nil {
		return nil
	}
	base := k.ConsoleURL + "/v2/auth/saml"
	return &samlView{jsonfield.OrNull(s.MetadataURL), jsonfield.OrNull(s.MetadataXML), base, base + "/callback/" + s.Token}
}

// same compares two strings in constant time.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

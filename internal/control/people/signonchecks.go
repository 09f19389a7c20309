package people

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/fault"
)

// refuseSignOn rejects turning on features that are stored but not implemented yet: single
// sign-on, tokens of an identity provider, and provisioning by SCIM. Settings that do not turn
// anything on are saved, and enabled settings can be turned off. The error is fault.NotSupported
// and names the field. Source: ours, until sign-on runs.
func refuseSignOn(before, after *tenant.Auth) error {
	isSSO := func(a *tenant.Auth) bool { return a.SSOType == "oidc" || a.SSOType == "saml" }
	for _, turned := range []struct {
		field        string
		enabled, was bool
		instead      string
	}{
		{"sso_only", after.SSOOnly, before.SSOOnly, "all users would be locked out; leave it false"},
		{"sso_type", isSSO(after), isSSO(before), "leave it at none and use password sign-in"},
		{"jwt", after.JWT != nil, before.JWT != nil, "JWTs are not accepted; use API keys"},
		{"scim.enabled", after.SCIM.Enabled, before.SCIM.Enabled, "SCIM is not available; use invitations"},
		{"scim.org_user_management_only_scim", after.SCIM.UsersOnly, before.SCIM.UsersOnly, "invitations would be impossible; leave it false"},
		{"scim.group_based_user_provisioning", after.SCIM.GroupUsers, before.SCIM.GroupUsers, "SCIM is not available; use invitations"},
	} {
		if turned.enabled && !turned.was {
			return notRunning("auth_settings."+turned.field, turned.instead)
		}
	}
	return nil
}

// notRunning returns the fault.NotSupported of a field that would turn on a feature that is not
// implemented.
func notRunning(field, instead string) error {
	return fault.Newf(fault.NotSupported, "%s cannot be enabled: this version stores it but does not support it yet; %s", field, instead).WithParam(field)
}

// SAML metadata. Source: OASIS SAML 2.0 Metadata, saml-metadata-2.0-os.
const (
	samlMetadata     = "urn:oasis:names:tc:SAML:2.0:metadata"
	maxMetadataDepth = 64
)

// checkSAML rejects a text that is not the SAML 2.0 metadata of an identity provider: malformed
// XML, document types and entities, another root, or no IDPSSODescriptor. The error is
// fault.InvalidParameter and does not quote the text.
func checkSAML(text string) error {
	bad := func(why string) error {
		return fault.New(fault.InvalidParameter, why).WithParam("auth_settings.saml.metadata_xml")
	}
	d := xml.NewDecoder(strings.NewReader(text))
	depth, roots, provides := 0, 0, false
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && roots == 1 && provides:
			return nil
		case errors.Is(err, io.EOF):
			return bad("the metadata does not have an IDPSSODescriptor; send the metadata that the identity provider publishes")
		case err != nil:
			return bad("the metadata is not well-formed XML, or defines its own entities")
		}
		switch t := token.(type) {
		case xml.Directive:
			return bad("the metadata must not have a document type or entities; remove the DOCTYPE")
		case xml.StartElement:
			if depth++; depth > maxMetadataDepth {
				return bad("the metadata is nested too deep")
			}
			isRoot := depth == 1
			if isRoot {
				roots++
			}
			if isRoot && (roots > 1 || t.Name.Space != samlMetadata || t.Name.Local != "EntityDescriptor" && t.Name.Local != "EntitiesDescriptor") {
				return bad("the metadata must be one EntityDescriptor or EntitiesDescriptor of " + samlMetadata)
			}
			provides = provides || t.Name.Space == samlMetadata && t.Name.Local == "IDPSSODescriptor"
		case xml.EndElement:
			depth--
		}
	}
}

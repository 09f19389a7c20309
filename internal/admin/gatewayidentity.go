package admin

import (
	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/provider"
	"sluice/internal/resource"
)

// gatewayIdentityScope is what a caller holds who may have calls signed with the identity of the
// gateway's machine: it writes integrations of the whole organisation.
const gatewayIdentityScope access.Scope = "organisation_integrations.create"

// rejectGatewayIdentity refuses values that sign with the identity of the gateway's machine from
// callers who are no administrators of the organisation. Everybody in the workspace would
// have the machine's rights, and with assumedRole those of every role that trusts it; what
// one workspace may have of that is no business of its managers. At says where a field
// stands in the body.
func rejectGatewayIdentity(c *resource.Call, v provider.Values, fieldPath func(field string) string) error {
	field := provider.UsesGatewayIdentity(v)
	if field == "" || c.Holds(gatewayIdentityScope) {
		return nil
	}
	return fault.Newf(fault.Forbidden, "%s %q signs with the gateway's own identity; only an administrator of the organisation can save it (%s)", field, v[field], gatewayIdentityScope).WithParam(fieldPath(field))
}

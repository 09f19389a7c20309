package destination

import (
	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/provider"
)

// gatewayIdentityScope is the scope of callers who may have calls signed with the identity of
// the gateway's machine: it permits writing integrations of the whole organisation.
const gatewayIdentityScope access.Scope = "organisation_integrations.create"

// RejectGatewayIdentity rejects values that sign with the identity of the gateway's machine,
// unless the caller is an administrator of the organisation. Otherwise everyone in the workspace
// would have the machine's rights, and with assumedRole those of every role that trusts it.
// Managers of one workspace may not grant such rights. fieldPath returns the path of a field in
// the body.
func RejectGatewayIdentity(c *resource.Call, v provider.Values, fieldPath func(field string) string) error {
	field := provider.UsesGatewayIdentity(v)
	if field == "" || c.Holds(gatewayIdentityScope) {
		return nil
	}
	return fault.Newf(fault.Forbidden, "%s %q signs with the gateway's own identity; only an administrator of the organisation can save it (%s)", field, v[field], gatewayIdentityScope).WithParam(fieldPath(field))
}

package gateway

import (
	"strings"

	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/intake"
	"sluice/internal/gateway/metering"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// workspaceDirectory finds the workspaces of callers.
type workspaceDirectory interface {
	FindWorkspace(id string) *tenant.Scope
}

// admission identifies the caller of a request and checks its permissions and limits.
type admission struct {
	callers      *intake.Authenticator
	metadataFrom intake.MetadataHeaders
	meter        *metering.Meter
}

// identify finds the caller of a request and merges the metadata of the call.
func (ad *admission) identify(x *exchange) error {
	if i := x.inner; i != nil {
		x.key, x.scope, x.metadata = i.key, i.scope, i.metadata
		return nil
	}
	if x.batch != nil {
		return ad.identifyBatchCall(x)
	}
	e, err := ad.callers.Authenticate(x.dir, x.req, &x.ctl, intake.Arrival{Time: x.started, RequestID: x.id, Path: x.shown})
	if err != nil {
		return err
	}
	x.key = e
	x.scope = x.dir.FindWorkspace(e.Principal.WorkspaceID)
	x.metadata = ad.metadataFrom.Describe(&x.ctl, e, x.scope, &x.req.Header)
	return nil
}

// Identify finds the key of a caller of the administration API. For JWTs the error has the cause
// intake.ErrToken, and the caller of Identify must record it.
func (g *Gateway) Identify(h wire.Header) (*access.Principal, error) {
	return g.callers.Identify(g.Directory(), h, g.Clock.Now())
}

// authorise checks whether the type and scopes of the key permit this call.
func authorise(x *exchange) error {
	p := &x.key.Principal
	if x.asksModels() && p.Scopes.Has("models.list") {
		return access.CanCall(p, "models.list")
	}
	if p.IsAdminKey() && x.unknownPath() {
		x.unknown = true
		return fault.Newf(fault.UnknownRoute, "unknown path %s for an Admin key; /v1/openapi.json lists the admin routes, and provider calls require a workspace key", clip(x.shown))
	}
	return access.CanCall(p, access.CompletionsWrite)
}

// unknownPath reports whether the path is neither a model route nor a vendor's path, and no
// header sends it to a provider. With an Admin key it is a mistyped administration route.
func (x *exchange) unknownPath() bool {
	if x.match.Endpoint != llm.Proxy || isTrue(x.ctl.Passthrough) {
		return false
	}
	if x.alias != nil && x.alias.Prefix != "/v1" {
		return false
	}
	named := x.ctl.Provider != "" || x.ctl.VirtualKey != ""
	return !named || x.path != "/collections" && !strings.HasPrefix(x.path, "/collections/")
}

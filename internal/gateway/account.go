package gateway

import (
	"context"
	"maps"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/call"
	"sluice/internal/gateway/intake"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/catalog"
	"sluice/internal/provider"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/sign"
)

// accountDirectory finds saved providers and their prices.
type accountDirectory interface {
	FindAccount(workspace, slug string) *credential.Account // nil if not found
	Accounts(workspace string) []*credential.Account
	Agreement(account *credential.Account) *catalog.PriceOverrides // nil: list prices apply; nil for a nil account
}

// credentialResolver determines the provider and the credentials of a target, and signs its calls.
type credentialResolver struct {
	specs   *provider.Table
	hasher  *keys.Hasher
	secrets Secrets
	guard   *netguard.Guard
	signers *sign.Set
}

// resolve determines the provider and the credentials of a target, in the order of
// contract/dataplane.md 1.3: a saved provider named in the model field, then the provider that
// the target names, then the provider that the headers name.
func (cr *credentialResolver) resolve(ctx context.Context, a *attempt) error {
	x, t := a.x, a.target
	a.model = x.model
	slug, credField := x.account, credentialField{field: "model"}
	if configured, ok := modelOf(t.Override); ok {
		slug, a.model = x.splitModel(configured)
		credField = credentialField{t.Path, "override_params.model"}
	} else if slug != "" && x.locked && (t.Provider != "" || t.VirtualKey != "") {
		return lockedConfig("the provider in the model field", "model")
	}
	if configured, ok := modelOf(t.Default); ok && a.model == "" {
		named, model := x.splitModel(configured)
		if a.model = model; named != "" {
			slug, credField = named, credentialField{t.Path, "default_params.model"}
		}
	}
	switch {
	case t.Passthrough && (x.ctl.Provider != "" || x.ctl.VirtualKey != ""):
		return cr.fromRequest(ctx, a) // here the headers take precedence over the body's model
	case slug != "":
		return cr.saved(ctx, a, slug, credField)
	case strings.HasPrefix(t.Provider, "@"):
		return cr.saved(ctx, a, t.Provider[1:], credentialField{t.Path, "provider"})
	case t.VirtualKey != "":
		return cr.saved(ctx, a, t.VirtualKey, credentialField{t.Path, "virtual_key"})
	case t.Provider != "":
		return cr.inline(a, t.Provider, t, credentialField{t.Path, "provider"})
	}
	return cr.fromRequest(ctx, a)
}

// credentialField is the field that names a provider: a field of a target of the config, or a
// field of the request when targetPath is empty.
type credentialField struct{ targetPath, field string }

// String returns the field's path for error messages, for example "config.targets[1].provider".
func (p credentialField) String() string {
	if p.targetPath == "" {
		return p.field
	}
	return p.targetPath + "." + p.field
}

// modelOf returns the model that the parameters of a target set.
func modelOf(params []routing.Param) (string, bool) {
	raw, _ := call.FindParam(params, "model")
	m := gjson.ParseBytes(raw)
	return m.String(), m.Type == gjson.String
}

// fromRequest uses the provider that the headers or the prompt name.
func (cr *credentialResolver) fromRequest(ctx context.Context, a *attempt) error {
	c := &a.x.ctl
	switch {
	case strings.HasPrefix(c.Provider, "@"):
		return cr.saved(ctx, a, c.Provider[1:], credentialField{field: "x-gateway-provider"})
	case c.VirtualKey != "":
		return cr.saved(ctx, a, strings.TrimPrefix(c.VirtualKey, "@"), credentialField{field: "x-gateway-virtual-key"})
	case c.Provider != "":
		return cr.inline(a, c.Provider, a.target, credentialField{field: "x-gateway-provider"})
	case a.x.prompt.provider() != "":
		return cr.saved(ctx, a, a.x.prompt.provider(), credentialField{field: "prompt"})
	}
	return fault.New(fault.InvalidRequest, "the target has no provider; set provider in the config or send x-gateway-provider").WithParam("x-gateway-provider")
}

// saved loads the credentials of a provider or virtual key of the workspace. credField is the
// field that names it.
func (cr *credentialResolver) saved(ctx context.Context, a *attempt, slug string, credField credentialField) error {
	acct := a.x.dir.FindAccount(a.x.key.Principal.WorkspaceID, slug)
	if acct == nil {
		return fault.Newf(fault.InvalidRequest, "unknown provider @%s in this workspace", clip(slug)).WithParam(credField.String())
	}
	if err := usableNow(acct, a, credField); err != nil {
		return err
	}
	spec, ok := cr.specs.Find(acct.Spec)
	if !ok {
		return fault.Newf(fault.Internal, "the provider @%s has the unknown type %q", acct.Slug, acct.Spec)
	}
	if err := hiddenModels(acct, spec, a); err != nil {
		return err
	}
	a.cacheable = len(acct.Secrets) == 0
	if !a.cacheable {
		filled, err := cr.withSecrets(ctx, acct)
		if err != nil {
			return err
		}
		acct = filled
	}
	a.account, a.spec, a.values = acct, spec, acct.Values
	configured := acct.Overrides[a.model]
	if len(a.target.Fields) > 0 || hasExtraFields(spec, a) || configured != nil {
		a.values, a.cacheable = a.x.scratch.fresh(), false
		maps.Copy(a.values, acct.Values)
		maps.Copy(a.values, configured)
		spec.FromTarget(a.target.Fields, a.values)
		spec.ReadHeaders(a.x.req.Header, a.values)
	}
	return cr.checkStoredCredentials(a)
}

// hasExtraFields reports whether the request has a header for a credential field, other than the
// key, that is still empty.
func hasExtraFields(s *provider.Spec, a *attempt) bool {
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Name != provider.Key && a.values[f.Name] == "" {
			for _, h := range f.Headers {
				if a.x.req.Header.Has(h) {
					return true
				}
			}
		}
	}
	return false
}

// usableNow rejects a saved provider that is deleted, expired or not allowed to use the model. It
// does not check the budget: the limiter does so when the call is reserved. The status
// "exhausted" is only for display, and the worker updates it with a delay.
// Source: contract/identity-and-governance.md section 6.
func usableNow(acct *credential.Account, a *attempt, credField credentialField) error {
	if acct.ExpiresAt != nil && !a.started.Before(*acct.ExpiresAt) || acct.Status == "expired" {
		return target(fault.KeyExpired, "01", "virtual_key_expired_error", "the provider @"+acct.Slug+" has expired")
	}
	if acct.Status == "archived" {
		return fault.Newf(fault.InvalidRequest, "the provider @%s was deleted; use another one", acct.Slug).WithParam(credField.String())
	}
	if a.model != "" && !acct.Allows(a.model) {
		return notAllowed(acct, a.model, "model")
	}
	return nil
}

// target builds the error for one unusable routing target. It has the OpenAI body.
func target(code fault.Code, wireCode, typ, text string) error {
	e := fault.New(fault.BudgetExhausted, text).WithType(typ, wireCode)
	e.Status = fault.New(code, "").HTTPStatus()
	return e
}

// inline uses a provider by its name, with the credentials of the target or of the headers.
func (cr *credentialResolver) inline(a *attempt, name string, t *routing.Target, credField credentialField) error {
	spec, ok := cr.specs.Find(name)
	if !ok {
		return fault.Newf(fault.InvalidRequest, "unknown provider %q; docs/providers.md lists the supported ones, and saved providers are named @slug", clip(name)).WithParam(credField.String())
	}
	a.spec, a.values = spec, a.x.scratch.fresh()
	if k := t.APIKey.Reveal(); k != "" {
		a.values[provider.Key] = k
	}
	spec.FromTarget(t.Fields, a.values)
	a.cacheable = t.Provider != "" && (len(t.Fields) > 0 || !t.APIKey.Empty())
	if !a.cacheable {
		if err := cr.fromHeaders(a); err != nil {
			return err
		}
	}
	return cr.checkStoredCredentials(a)
}

// fromHeaders adds the credentials that the client sent with the request. It is called only if
// the target does not set its own credentials.
func (cr *credentialResolver) fromHeaders(a *attempt) error {
	c := &a.x.ctl
	if k := strings.TrimSpace(trimBearer(c.Authorization)); k != "" && a.values[provider.Key] == "" {
		if cr.isGatewayKey(a.x.dir, k) {
			return fault.New(fault.InvalidRequest, "Authorization contains an API key of this gateway, which is never sent to a provider; send the provider's key there").WithParam("authorization")
		}
		a.values[provider.Key] = k
	}
	a.spec.ReadHeaders(a.x.req.Header, a.values)
	return nil
}

// isGatewayKey reports whether a credential is an API key of this gateway.
func (cr *credentialResolver) isGatewayKey(dir intake.Keys, raw string) bool {
	return len(raw) <= keys.MaxRaw && dir.FindKey(cr.hasher.Sum(raw)) != nil
}

func trimBearer(v string) string {
	if b := call.BearerToken(v); b != "" {
		return b
	}
	return v
}

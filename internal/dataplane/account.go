package dataplane

import (
	"context"
	"strings"

	"sluice/internal/credential"
	"sluice/internal/fault"
	"sluice/internal/keys"
	"sluice/internal/provider"
	"sluice/internal/routing"
	"sluice/internal/splice"

	"github.com/tidwall/gjson"
)

// resolve finds out which provider a target means and with which credentials, in
// the order of contract/dataplane.md 1.3: a saved provider named in the model
// field, then what the target names itself, then what the headers name.
func (g *Gateway) resolve(ctx context.Context, a *attempt) error {
	x, t := a.x, a.target
	a.model = x.model
	slug := x.account
	if own, ok := modelOf(t.Override); ok {
		slug, a.model = x.splitModel(own)
	} else if slug != "" && x.locked && (t.Provider != "" || t.VirtualKey != "") {
		return lockedConfig("the provider in the model field", "model")
	}
	if own, ok := modelOf(t.Default); ok && a.model == "" {
		_, a.model = x.splitModel(own)
	}
	switch {
	case t.Passthrough && (x.ctl.provider != "" || x.ctl.virtualKey != ""):
		return g.fromRequest(ctx, a) // here the headers come before the body's model
	case slug != "":
		return g.saved(ctx, a, slug)
	case strings.HasPrefix(t.Provider, "@"):
		return g.saved(ctx, a, t.Provider[1:])
	case t.VirtualKey != "":
		return g.saved(ctx, a, t.VirtualKey)
	case t.Provider != "":
		return g.inline(a, t.Provider, t)
	}
	return g.fromRequest(ctx, a)
}

// modelOf is the model that parameters of a target set.
func modelOf(params []routing.Param) (string, bool) {
	for i := range params {
		if params[i].Key == "model" {
			m := gjson.ParseBytes(params[i].Raw)
			return m.String(), m.Type == gjson.String
		}
	}
	return "", false
}

// fromRequest takes the provider that the headers name.
func (g *Gateway) fromRequest(ctx context.Context, a *attempt) error {
	c := &a.x.ctl
	switch {
	case strings.HasPrefix(c.provider, "@"):
		return g.saved(ctx, a, c.provider[1:])
	case c.virtualKey != "":
		return g.saved(ctx, a, c.virtualKey)
	case c.provider != "":
		return g.inline(a, c.provider, a.target)
	case a.x.prompt.provider() != "":
		return g.saved(ctx, a, a.x.prompt.provider())
	}
	return fault.New(fault.InvalidRequest, "the target names no provider; set provider in the config or send x-gateway-provider").At("x-gateway-provider")
}

// saved takes the credentials of a provider or virtual key of the workspace.
func (g *Gateway) saved(ctx context.Context, a *attempt, slug string) error {
	acct := a.x.dir.FindAccount(a.x.key.Principal.WorkspaceID, slug)
	if acct == nil {
		return fault.Newf(fault.InvalidRequest, "there is no provider @%s in this workspace", clip(slug)).At("x-gateway-provider")
	}
	if err := usableNow(acct, a); err != nil {
		return err
	}
	spec, ok := g.Specs.Find(acct.Spec)
	if !ok {
		return fault.Newf(fault.Internal, "the provider @%s belongs to the unknown kind %q", acct.Slug, acct.Spec)
	}
	a.lasting = len(acct.Secrets) == 0
	if !a.lasting {
		filled, err := g.withSecrets(ctx, acct)
		if err != nil {
			return err
		}
		acct = filled
	}
	a.account, a.spec, a.values = acct, spec, acct.Values
	if len(a.target.Fields) > 0 || hasOwnFields(spec, a) {
		a.values, a.lasting = a.x.room.fresh(), false
		for k, v := range acct.Values {
			a.values[k] = v
		}
		spec.FromTarget(a.target.Fields, a.values)
		spec.ReadHeaders(a.x.in.Header, a.values)
	}
	return g.guardStored(a)
}

// hasOwnFields reports whether the provider has credential fields beside the key
// that a request may still have to fill in.
func hasOwnFields(s *provider.Spec, a *attempt) bool {
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Name != provider.Key && a.values[f.Name] == "" {
			for _, h := range f.Headers {
				if a.x.in.Header.Has(h) {
					return true
				}
			}
		}
	}
	return false
}

// usableNow refuses a saved provider that is removed, expired, or not allowed to be asked
// for the model. Whether it is used up is asked of the bank, when the call is reserved:
// its status, exhausted, is for people and comes and goes with the worker's rounds.
// Source: contract/identity-and-governance.md section 6.
func usableNow(acct *credential.Account, a *attempt) error {
	if acct.ExpiresAt != nil && !a.started.Before(*acct.ExpiresAt) || acct.Status == "expired" {
		return target(fault.KeyExpired, "01", "virtual_key_expired_error", "the provider @"+acct.Slug+" has expired")
	}
	if acct.Status == "archived" {
		return fault.Newf(fault.InvalidRequest, "the provider @%s was removed", acct.Slug).At("x-gateway-provider")
	}
	if a.model == "" && a.x.direct != nil && acct.Restricted() {
		return fault.Newf(fault.ModelNotAllowed, "the provider @%s allows some models only, and the body of this call is not read; send it as application/json", acct.Slug).At("model")
	}
	if a.model != "" && !acct.Allows(a.model) {
		return notAllowed(acct, a.model, "model")
	}
	return nil
}

// batchAllowed refuses a batch whose requests stand in the body, each with a model of its
// own, when one of these is not allowed: {"requests":[{"params":{"model":"…"}}]}. It looks
// at what is to be sent, and at every member of a name that stands there twice.
func batchAllowed(acct *credential.Account, body []byte) error {
	for name, requests := range splice.Members(body) {
		if !splice.IsName(name, "requests") {
			continue
		}
		for r := range splice.Elements(requests) {
			if model, ok := strayModel(acct, r); !ok {
				return notAllowed(acct, model, "requests")
			}
		}
	}
	return nil
}

// strayModel finds a model in a batch's request that is not allowed; ok is true when
// there is none.
func strayModel(acct *credential.Account, request []byte) (model string, ok bool) {
	for name, params := range splice.Members(request) {
		if !splice.IsName(name, "params") {
			continue
		}
		for name, val := range splice.Members(params) {
			if model, _ := splice.Unquote(val); splice.IsName(name, "model") && !acct.Allows(model) {
				return model, false
			}
		}
	}
	return "", true
}

func notAllowed(acct *credential.Account, model, at string) error {
	return fault.Newf(fault.ModelNotAllowed, "the provider @%s may not be asked for the model %q", acct.Slug, clip(model)).At(at)
}

// target makes a refusal of one routing target, which has the OpenAI body.
func target(code fault.Code, wireCode, typ, text string) error {
	e := fault.New(fault.BudgetExhausted, text).WithType(typ, wireCode)
	e.Status = fault.New(code, "").HTTPStatus()
	return e
}

// inline takes a provider by name, with the credentials of the target or headers.
func (g *Gateway) inline(a *attempt, name string, t *routing.Target) error {
	spec, ok := g.Specs.Find(name)
	if !ok {
		return fault.Newf(fault.InvalidRequest, "the provider %q is unknown; docs/providers.md lists the known ones, and a saved one is named @slug", clip(name)).At("x-gateway-provider")
	}
	a.spec, a.values = spec, a.x.room.fresh()
	if k := t.APIKey.Reveal(); k != "" {
		a.values[provider.Key] = k
	}
	spec.FromTarget(t.Fields, a.values)
	a.lasting = t.Provider != "" && (len(t.Fields) > 0 || !t.APIKey.Empty())
	if !a.lasting {
		if err := g.fromHeaders(a); err != nil {
			return err
		}
	}
	return g.guardStored(a)
}

// fromHeaders adds the credentials that the client sent with the request. They
// are read only where the target brings none of its own.
func (g *Gateway) fromHeaders(a *attempt) error {
	c := &a.x.ctl
	if k := strings.TrimSpace(trimBearer(c.authorization)); k != "" && a.values[provider.Key] == "" {
		if g.ours(a.x.dir, k) {
			return fault.New(fault.InvalidRequest, "Authorization holds an API key of this gateway, which never goes to a provider; put the provider's key there").At("authorization")
		}
		a.values[provider.Key] = k
	}
	a.spec.ReadHeaders(a.x.in.Header, a.values)
	return nil
}

// ours reports whether a credential is an API key of this gateway.
func (g *Gateway) ours(dir Directory, raw string) bool {
	return len(raw) <= keys.MaxRaw && dir.FindKey(g.Hasher.Sum(raw)) != nil
}

func trimBearer(v string) string {
	if b := bearer(v); b != "" {
		return b
	}
	return v
}

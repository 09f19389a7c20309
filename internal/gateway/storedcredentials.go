package gateway

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
)

// checkStoredCredentials prevents a request from misusing stored credentials: from sending one to
// a host of its choice, and from signing a call with the identity of the gateway's machine.
//
// Stored credentials are the values of a saved provider, and a key or field in a saved config.
// Each is sent only to the host that is stored with it. A host in a saved config does not count
// for the credentials of a saved provider, because a user who may save configs need not know the
// keys of providers. Credentials from the request itself, in headers or an inline config, may go
// to any host that the address guard permits. A trusted host (TRUSTED_CUSTOM_HOSTS) may be
// dialled, but does not receive stored credentials for that reason. STORED_KEY_HOSTS lists the
// hosts that may receive them.
func (cr *credentialResolver) checkStoredCredentials(a *attempt) error {
	if err := rejectGatewayIdentity(a); err != nil {
		return err
	}
	if !holdsStored(a) {
		return nil
	}
	if host, field := requestedHost(a); host != "" && !cr.mayReceive(a, host) {
		return disallowedHost(field)
	}
	if keyWithoutProvider(a) && !cr.savedHost(a) {
		return fault.New(fault.InvalidRequest, "the key saved in this config is not sent to a provider that the request selects; save provider with it, or remove it and send the provider's key with the request").WithParam(credentialField{a.target.Path, "provider"}.String())
	}
	for i := range a.spec.Fields {
		f := &a.spec.Fields[i]
		if v := a.values[f.Name]; f.NamesHost() && v != "" && v != storedField(a, f) && !cr.mayReceive(a, v) {
			return disallowedHost(f.Name)
		}
	}
	return nil
}

func disallowedHost(field string) error {
	return fault.Newf(fault.InvalidRequest, "%s is a host that belongs neither to the stored credential nor to its provider; remove %[1]s, send the provider's key with the request, save the host with the credential (in the provider's integration or in the config), or ask the operator to add its host:port to STORED_KEY_HOSTS", field).WithParam(field)
}

// savedConfig reports whether the config is saved, as opposed to inline.
func (c *chosenConfig) savedConfig() bool { return c.configID != "" && c.configID != inlineConfig }

// holdsStored reports whether the attempt's credential is stored, as opposed to sent with the
// request.
func holdsStored(a *attempt) bool {
	return a.account != nil || a.x.savedConfig() && (!a.target.APIKey.Empty() || len(a.target.Fields) > 0)
}

// storedValue returns the stored value of a field, from the saved provider or the saved config.
func storedValue(a *attempt, f *provider.Field) string {
	if v := accountField(a, f); v != "" || !a.x.savedConfig() {
		return v
	}
	return firstOf(a.target.Fields, f)
}

// storedField returns the value of a field that is stored together with the credential.
func storedField(a *attempt, f *provider.Field) string {
	if a.account != nil {
		return accountField(a, f)
	}
	return storedValue(a, f)
}

// accountField returns the value of a field in the saved provider.
func accountField(a *attempt, f *provider.Field) string {
	if a.account == nil {
		return ""
	}
	return firstOf(a.account.Values, f)
}

// firstOf returns the value of a field under the first of its names that has one.
func firstOf(values map[string]string, f *provider.Field) string {
	if v := values[f.Name]; v != "" {
		return v
	}
	for _, name := range f.Aliases {
		if v := values[name]; v != "" {
			return v
		}
	}
	return ""
}

// requestedHost returns the custom host that the request names, or that a saved config names for
// the credential of a saved provider, and the field that contains it. It returns "" for none.
func requestedHost(a *attempt) (host, field string) {
	switch {
	case a.x.ctl.CustomHost != "":
		return a.x.ctl.CustomHost, "x-gateway-custom-host"
	case a.x.savedConfig() && a.account == nil:
		return "", ""
	}
	return cmp.Or(a.target.CustomHost, a.target.Fields["custom_host"]), "custom_host"
}

// mayReceive reports whether a stored credential may be sent to a host named elsewhere. Permitted
// are the host that is stored with it, the provider's own host, and the hosts in
// STORED_KEY_HOSTS.
func (cr *credentialResolver) mayReceive(a *attempt, host string) bool {
	trusted := []string{a.spec.BaseURL}
	switch {
	case a.account != nil:
		trusted = append(trusted, a.account.Values["custom_host"])
	case a.x.savedConfig():
		trusted = append(trusted, a.target.CustomHost, a.target.Fields["custom_host"])
	}
	return cr.guard.MayReceive(host, trusted...)
}

// keyWithoutProvider reports whether the credential is in a saved config that does not name a
// provider, so that the request selects it.
func keyWithoutProvider(a *attempt) bool {
	t := a.target
	if a.account != nil || !a.x.savedConfig() || t.Provider != "" {
		return false
	}
	return !t.APIKey.Empty() || slices.ContainsFunc(a.spec.Fields, func(f provider.Field) bool { return f.Secret && firstOf(t.Fields, &f) != "" })
}

// savedHost reports whether the call goes to a host that is saved with the key of a config, or to
// a host in STORED_KEY_HOSTS.
func (cr *credentialResolver) savedHost(a *attempt) bool {
	host := a.customHost()
	saved := cmp.Or(a.target.CustomHost, a.target.Fields["custom_host"])
	return host != "" && cr.guard.MayReceive(host, saved)
}

// rejectGatewayIdentity refuses a request that uses the identity of the gateway's machine to
// sign: any caller would have the machine's permissions. Saved providers and saved configs may
// use it.
func rejectGatewayIdentity(a *attempt) error {
	field := provider.UsesGatewayIdentity(a.values)
	if field == "" {
		return nil
	}
	v := a.values[field]
	if i := slices.IndexFunc(a.spec.Fields, func(f provider.Field) bool { return f.Name == field }); i >= 0 && storedValue(a, &a.spec.Fields[i]) == v {
		return nil
	}
	return fault.Newf(fault.InvalidRequest, "%s %q uses the identity of the gateway; an administrator must save this provider, then select it as @slug", field, v).WithParam(field)
}

// sign adds the attempt's credential to a call. It refuses the identity of the gateway's machine
// for a host that may not receive it. This check includes saved configs, because any user who may
// save configs may have written them.
func (cr *credentialResolver) sign(ctx context.Context, a *attempt, r *sign.Request) error {
	if err := a.plan.CheckIdentityHost(a.values, cr.guard.TakesStoredKeys); err != nil {
		return err
	}
	if err := checkBucketUnchanged(a); err != nil {
		return err
	}
	return cr.signers.Sign(ctx, r, a.plan.Auth, a.values)
}

// bucketOf maps the signing scheme of a cloud to the field that names its bucket for files.
var bucketOf = map[string]string{"aws": "aws_s3_bucket", "gcp": "vertex_storage_bucket_name"}

// checkBucketUnchanged restricts files to the bucket that is saved with the provider or config.
// Callers name files by bucket and key, and a stored credential may have permissions on other
// buckets. The identity of the gateway's machine, which may have access to the bucket of the
// request log, signs for the saved bucket only.
func checkBucketUnchanged(a *attempt) error {
	field := bucketOf[a.plan.Auth.Scheme]
	switch a.plan.Requested {
	case llm.UploadFile, llm.RetrieveFile, llm.RetrieveFileContent:
	default:
		return nil
	}
	saved := ""
	if i := slices.IndexFunc(a.spec.Fields, func(f provider.Field) bool { return f.Name == field }); i >= 0 {
		saved = storedValue(a, &a.spec.Fields[i])
	}
	if field == "" || saved == "" && provider.UsesGatewayIdentity(a.values) == "" {
		return nil
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(a.plan.Target, a.plan.Base), "?")
	bucket, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if bucket != "" && saved == bucket {
		return nil
	}
	return fault.New(fault.InvalidRequest, "a saved provider with a bucket, or with the identity of the gateway, can read and write files only in its saved bucket, as "+field).WithParam(field)
}

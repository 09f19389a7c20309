package credential

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
)

// authField is a field of a sign-in.
type authField struct {
	name     string
	required bool
	form     *regexp.Regexp // of its value; nil for any text
	url      bool
}

// authMode is one way to sign in to a manager: the value of its choosing field, and
// the fields that go with it.
type authMode struct {
	value  string
	fields []authField
}

// authForms are the ways to sign in. Source:
// contract/identity-and-governance.yaml, SecretAuthConfig.
var authForms = map[Manager]struct {
	choose string // the field that chooses the mode
	modes  []authMode
}{
	AWSSecretsManager: {"aws_auth_type", []authMode{
		{"accessKey", []authField{needed("aws_access_key_id"), needed("aws_secret_access_key"), region(true)}},
		{"assumedRole", []authField{needed("aws_role_arn"), free("aws_external_id"), region(true)}},
		{"serviceRole", []authField{region(false)}},
	}},
	AzureKeyVault: {"azure_auth_mode", []authMode{
		{"entra", []authField{needed("azure_entra_tenant_id"), needed("azure_entra_client_id"), needed("azure_entra_client_secret"), address("azure_vault_url")}},
		{"managed", []authField{free("azure_managed_client_id"), address("azure_vault_url")}},
		{"default", []authField{address("azure_vault_url")}},
	}},
	HashiCorpVault: {"vault_auth_type", []authMode{
		{"token", []authField{address("vault_addr"), needed("vault_token"), free("vault_namespace")}},
		{"approle", []authField{address("vault_addr"), needed("vault_role_id"), needed("vault_secret_id"), free("vault_namespace")}},
		{"kubernetes", []authField{address("vault_addr"), needed("vault_role"), free("vault_namespace")}},
	}},
}

func needed(name string) authField  { return authField{name: name, required: true} }
func free(name string) authField    { return authField{name: name} }
func address(name string) authField { return authField{name: name, required: true, url: true} }

// region is part of a host name, so nothing else may stand in it.
func region(required bool) authField {
	return authField{name: "aws_region", required: required, form: regexp.MustCompile(`^[a-z0-9-]{1,40}$`)}
}

// hiddenAuth are the fields of sign-ins that answers mask.
// Source: contract/identity-and-governance.yaml, SecretAuthConfig.masked_in_responses.
var hiddenAuth = []string{"aws_secret_access_key", "aws_access_key_id", "aws_role_arn", "aws_external_id", "azure_entra_client_secret", "vault_token", "vault_secret_id"}

// HidesAuth reports whether answers mask a field of a sign-in.
func HidesAuth(name string) bool { return slices.Contains(hiddenAuth, name) }

// Managers are the sorts of secret managers that there are.
func Managers() []string {
	return []string{string(AWSSecretsManager), string(AzureKeyVault), string(HashiCorpVault)}
}

// CheckAuth holds a sign-in against what the manager wants and takes out the fields
// of other modes, which remain after a change of the mode; known are the fields that
// were just sent, of which none may be superfluous. It returns the URL that is called,
// "" for none, and the field it stands in. Refusals are fault.InvalidParameter.
func CheckAuth(m Manager, auth map[string]string, sent []string) (rawURL, path string, err error) {
	const prefix = "auth_config."
	forms, ok := authForms[m]
	if !ok {
		return "", "", fault.New(fault.InvalidParameter, "must be one of "+strings.Join(Managers(), ", ")).WithParam("manager_type")
	}
	i := slices.IndexFunc(forms.modes, func(f authMode) bool { return f.value == auth[forms.choose] })
	if i < 0 {
		names := make([]string, len(forms.modes))
		for i, mode := range forms.modes {
			names[i] = mode.value
		}
		return "", "", fault.New(fault.InvalidParameter, "must be one of "+strings.Join(names, ", ")).WithParam(prefix + forms.choose)
	}
	mode := forms.modes[i]
	fits := func(name string) bool {
		return name == forms.choose || slices.ContainsFunc(mode.fields, func(f authField) bool { return f.name == name })
	}
	for _, name := range slices.Sorted(slices.Values(sent)) {
		if !fits(name) {
			return "", "", fault.Newf(fault.InvalidParameter, "%s %s does not have this field", forms.choose, mode.value).WithParam(prefix + name)
		}
	}
	maps.DeleteFunc(auth, func(name, _ string) bool { return !fits(name) })
	for _, f := range mode.fields {
		v := auth[f.name]
		if text := f.wrong(v, forms.choose+" "+mode.value); text != "" {
			return "", "", fault.New(fault.InvalidParameter, text).WithParam(prefix + f.name)
		}
		if f.url {
			rawURL, path = v, prefix+f.name
		}
	}
	return rawURL, path, nil
}

// wrong describes the problem of a value, "" if it is valid.
func (f *authField) wrong(v, mode string) string {
	switch {
	case v == "" && f.required:
		return mode + " requires this field"
	case len(v) > maxAuthText || strings.ContainsAny(v, "\r\n\x00"):
		return fmt.Sprintf("must be a single line of at most %d characters", maxAuthText)
	case v != "" && f.form != nil && !f.form.MatchString(v):
		return "must contain only lower-case letters, digits and dashes, for example eu-west-1"
	case f.url:
		if u, err := url.Parse(v); err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
			return "must be a URL without a query, for example https://vault.example.com"
		}
	}
	return ""
}

// UsesGatewayIdentity reports whether the sign-in sends a token of the gateway's own machine
// to the URL that it names, so that the URL must be one that the operator or the
// cloud vouches for.
func UsesGatewayIdentity(m Manager, auth map[string]string) bool {
	return m == AzureKeyVault && auth["azure_auth_mode"] != "entra" || m == HashiCorpVault && auth["vault_auth_type"] == "kubernetes"
}

// IdentityAddress is the URL to which a sign-in sends a token of the gateway's own machine
// and for which the operator must vouch, for example "https://vault.example.com"; "" when
// it sends none, or to Key Vault in a cloud of Azure.
// Source: docs/secrets.md.
func IdentityAddress(m Manager, auth map[string]string) string {
	switch {
	case !UsesGatewayIdentity(m, auth):
		return ""
	case m == HashiCorpVault:
		return auth["vault_addr"]
	case AzureVault(auth["azure_vault_url"]) != "":
		return ""
	}
	return auth["azure_vault_url"]
}

// azureVaults are the domains of Key Vault in the clouds of Azure.
// Source: https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates, 2026-11.
var azureVaults = []string{".vault.azure.net", ".vault.azure.cn", ".vault.usgovcloudapi.net", ".managedhsm.azure.net"}

// AzureVault is the domain of Key Vault that a URL lies in, for example
// "vault.azure.net"; "" when it lies in none.
func AzureVault(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	for _, d := range azureVaults {
		if strings.HasSuffix(host, d) {
			return d[1:]
		}
	}
	return ""
}

// pathForms keep a path from leading elsewhere than to a secret.
var pathForms = map[Manager]*regexp.Regexp{
	AWSSecretsManager: regexp.MustCompile(`^[A-Za-z0-9/_+=.@:!-]+$`),
	AzureKeyVault:     regexp.MustCompile(`^[A-Za-z0-9-]{1,127}(/[A-Za-z0-9]{1,64})?$`),
	HashiCorpVault:    regexp.MustCompile(`^/?([^/?#%\\\x00-\x1f.][^/?#%\\\x00-\x1f]*/?)+$`),
}

var pathHelp = map[Manager]string{
	AWSSecretsManager: "must be the name or ARN of a secret",
	AzureKeyVault:     "must be the name of a secret, optionally followed by a slash and its version",
	HashiCorpVault:    "must be the path of a secret including its mount, for example secret/data/openai; no part may begin with a dot or contain %, ? or #",
}

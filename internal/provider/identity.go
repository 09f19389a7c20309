package provider

import (
	"slices"
	"strings"

	"sluice/internal/fault"
)

// hostIdentities are the fields and values that sign a call with the identity of the
// gateway's machine.
var hostIdentities = [...]struct {
	field string
	modes []string
}{
	{"aws_auth_type", []string{"serviceRole", "assumedRole"}}, // roles are assumed with the machine's credentials
	{"azure_auth_mode", []string{"managed", "workload"}},
	{"vertex_auth_type", []string{"workload", "workload identity federation"}},
}

// UsesGatewayIdentity is the field by which values ask that a call be signed with the identity of
// the gateway's machine, for example "azure_auth_mode"; empty when none does.
func UsesGatewayIdentity(v Values) (field string) {
	for _, id := range hostIdentities {
		if slices.Contains(id.modes, v[id.field]) {
			return id.field
		}
	}
	return ""
}

// azureModels are the domains in which Azure itself serves models. Below others of its
// domains, such as inference.ml.azure.com and azure-api.net, its customers run programs of
// their own.
// Source: https://learn.microsoft.com/azure/ai-services/cognitive-services-custom-subdomains
// and /azure/azure-government/compare-azure-government-global-azure, 2026-11.
var azureModels = []string{
	".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com", ".models.ai.azure.com",
	".openai.azure.us", ".cognitiveservices.azure.us", ".openai.azure.cn", ".cognitiveservices.azure.cn",
}

// CheckIdentityHost refuses a call that would take the identity of the gateway's machine to a
// host that was named as a whole, with fault.AddressRefused: whoever may save a provider or
// config could otherwise read the machine's token at a host of their own, or have the
// machine sign for any service of its cloud. A host is free where Azure itself serves
// models, and where takes reports that the operator lets stored credentials go to the URL.
func (p *Plan) CheckIdentityHost(v Values, takes func(url string) bool) error {
	field := UsesGatewayIdentity(v)
	if field == "" || p.Named == "" || p.Named == "path" {
		return nil
	}
	if url := p.Scheme + "://" + p.Host; p.Auth.Scheme == "azure" && servesModels(url) || takes(url) {
		return nil
	}
	return fault.Newf(fault.AddressRefused, "%s %q receives the identity of the gateway; the operator must list its host and port in STORED_KEY_HOSTS", field, v[field]).WithParam(p.Named)
}

// servesModels reports whether a URL lies where Azure serves models and nobody else anything.
func servesModels(url string) bool {
	url = strings.ToLower(url)
	return strings.HasPrefix(url, "https://") && slices.ContainsFunc(azureModels, func(d string) bool { return strings.HasSuffix(url, d) })
}

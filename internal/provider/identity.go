package provider

import (
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
)

// hostIdentities are the fields and values that sign a call with the identity of the machine on
// which the gateway runs.
var hostIdentities = [...]struct {
	field string
	modes []string
}{
	{"aws_auth_type", []string{"serviceRole", "assumedRole"}}, // roles are assumed with the machine's credentials
	{"azure_auth_mode", []string{"managed", "workload"}},
	{"vertex_auth_type", []string{"workload", "workload identity federation"}},
}

// UsesGatewayIdentity returns the field whose value requests signing with the identity of the
// gateway's machine, for example "azure_auth_mode". It returns "" without such a field.
func UsesGatewayIdentity(v Values) (field string) {
	for _, id := range hostIdentities {
		if slices.Contains(id.modes, v[id.field]) {
			return id.field
		}
	}
	return ""
}

// azureModels are the domains in which Azure itself serves models. In its other domains, such
// as inference.ml.azure.com and azure-api.net, customers run their own programs.
// Source: https://learn.microsoft.com/azure/ai-services/cognitive-services-custom-subdomains
// and /azure/azure-government/compare-azure-government-global-azure, 2026-11.
var azureModels = []string{
	".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com", ".models.ai.azure.com",
	".openai.azure.us", ".cognitiveservices.azure.us", ".openai.azure.cn", ".cognitiveservices.azure.cn",
}

// CheckIdentityHost refuses a call that would use the identity of the gateway's machine for a
// custom host. The error is fault.AddressRefused. Otherwise a person who may save a provider or
// config could read the machine's token at a custom host, or make the machine sign for any
// service of its cloud. Two kinds of hosts are permitted: those where Azure itself serves
// models, and those for which takes reports that the operator permits stored credentials.
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

// servesModels reports whether a URL is in a domain where only Azure serves models.
func servesModels(url string) bool {
	url = strings.ToLower(url)
	return strings.HasPrefix(url, "https://") && slices.ContainsFunc(azureModels, func(d string) bool { return strings.HasSuffix(url, d) })
}

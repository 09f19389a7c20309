package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
)

// Limits of configurations.
const (
	maxFields  = 100 // members of one object
	maxEntries = 200 // elements of one list
	maxText    = 16 << 10
)

// form judges a value at a place of the configurations: fault.InvalidParameter.
type form func(v any, path string) error

// sections are the fields of configurations that mean something. Others are kept as
// they are. Source: contract/content-and-observability.yaml, McpConfigurations.
var sections = map[string]form{
	"custom_headers":      headers,
	"passthrough_headers": headers,
	"passthrough_header":  headerShapes,
	"forward_headers":     forwarded,
	"oauth_metadata": object(fields{
		"issuer": text, "authorization_endpoint": text, "token_endpoint": text, "scopes_supported": texts, "client_id": text, "client_secret": text,
		"client_name": text, "client_uri": text, "logo_uri": text, "scope": text, "software_id": text, "software_version": text, "grant_types": texts,
		"response_types": texts, "token_endpoint_auth_method": oneOf("none", "client_secret_post", "client_secret_basic"), "contacts": texts,
		"tos_uri": text, "policy_uri": text, "authorization_params": authorizationParams,
	}),
	"user_identity_forwarding": required("method", object(fields{
		"method": oneOf("claims_header", "bearer", "jwt_header"), "include_claims": texts, "header_name": headerName, "jwt_expiry_seconds": integer(1, 86_400),
	})),
	"jwt_validation": validation,
	"external_auth_config": object(fields{
		"authorization_endpoint": text, "token_endpoint": text, "registration_endpoint": text, "client_id": text, "client_secret": text, "scope": text,
		"authorization_params": authorizationParams,
	}),
}

// addresses are the fields by which the gateway is sent somewhere.
var addresses = map[string][]string{
	"oauth_metadata":       {"issuer", "authorization_endpoint", "token_endpoint"},
	"jwt_validation":       {"jwksUri", "introspectEndpoint"},
	"external_auth_config": {"authorization_endpoint", "token_endpoint", "registration_endpoint"},
}

// CheckConfigurations holds configurations, a decoded JSON object, against what their
// fields may be: fault.InvalidParameter at the field, for example
// "configurations.jwt_validation.jwksUri".
func CheckConfigurations(config map[string]any) error {
	if len(config) > maxFields {
		return refuse("configurations", fmt.Sprintf("must not have more than %d fields", maxFields))
	}
	for _, name := range slices.Sorted(maps.Keys(config)) {
		check, known := sections[name]
		if config[name] == nil || !known {
			continue
		}
		if err := check(config[name], "configurations."+name); err != nil {
			return err
		}
	}
	return nil
}

// Addresses are the URLs in configurations by their place. Whoever calls them must
// judge them before.
func Addresses(config map[string]any) map[string]string {
	urls := make(map[string]string)
	for section, names := range addresses {
		members, _ := config[section].(map[string]any)
		for _, name := range names {
			if url, _ := members[name].(string); url != "" {
				urls["configurations."+section+"."+name] = url
			}
		}
	}
	return urls
}

// hiddenFields are the secrets among fields that are shown.
var hiddenFields = []string{"client_secret", "introspectClientSecret"}

// Hides reports whether the text at a path of the configurations is a secret, for
// example custom_headers, Authorization. What is below a field that nobody knows counts
// as one too.
func Hides(path []string) bool {
	if len(path) == 0 {
		return false
	}
	switch _, known := sections[path[0]]; {
	case path[0] == "custom_headers", path[0] == "passthrough_headers", !known:
		return true
	case path[0] == "passthrough_header":
		return path[len(path)-1] != "type"
	}
	return slices.Contains(hiddenFields, path[len(path)-1])
}

// Mappable reports whether a text of the configurations may be read from a secret
// manager: "custom_headers" (an object), "custom_headers.Authorization",
// "oauth_metadata.client_secret".
func Mappable(field string) bool {
	section, name, isNested := strings.Cut(field, ".")
	switch section {
	case "custom_headers", "passthrough_headers":
		return !isNested || headerName(name, "") == nil
	case "oauth_metadata", "external_auth_config":
		return name == "client_id" || name == "client_secret"
	case "jwt_validation":
		return name == "introspectClientId" || name == "introspectClientSecret"
	}
	return false
}

// validation needs exactly one place to ask. Source: contract/content-and-observability.md 9.2.
func validation(v any, path string) error {
	members, err := members(v, path)
	if err != nil {
		return err
	}
	sources := 0
	for _, name := range []string{"jwksUri", "jwks", "introspectEndpoint"} {
		if members[name] != nil {
			sources++
		}
	}
	if sources != 1 {
		return refuse(path, "must have exactly one of jwksUri, jwks and introspectEndpoint")
	}
	return object(fields{
		"jwksUri": text, "jwks": anyObject, "introspectEndpoint": text, "introspectContentType": oneOf("application/json", "application/x-www-form-urlencoded"),
		"introspectCacheMaxAge": integer(0, 31_536_000), "introspectClientId": text, "introspectClientSecret": text, "headerKey": headerName,
		"algorithms": texts, "clockTolerance": integer(0, 86_400), "cacheMaxAge": integer(0, 31_536_000), "maxTokenAge": text, "requiredClaims": texts,
		"claimValues": anyObject, "headerPayloadMatch": texts,
	})(v, path)
}

func refuse(path, why string) error { return fault.New(fault.InvalidParameter, why).WithParam(path) }

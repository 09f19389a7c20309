package control

import (
	"strings"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/routing"
)

// knownParams are the field names in objects without their own schema, in addition to those of
// configs and checks: parameters of models, messages and tools of prompts, members of JSON
// schemas, configurations of tool servers, credentials for secret managers, and members of
// public key sets.
const knownParams = `
	model messages role content text type name description temperature top_p top_k max_tokens max_completion_tokens n stop seed stream
	frequency_penalty presence_penalty logprobs top_logprobs response_format json_schema strict schema function functions parameters tools
	tool_choice parallel_tool_calls reasoning_effort modalities store service_tier url image_url detail input instructions
	properties required items enum anyOf oneOf allOf additionalProperties $ref $defs definitions format minimum maximum minLength maxLength
	minItems maxItems default title
	custom_host openai_organization openai_project
	issuer authorization_endpoint token_endpoint registration_endpoint scopes_supported client_name client_uri logo_uri scope software_id
	software_version grant_types response_types token_endpoint_auth_method contacts tos_uri policy_uri oauth_metadata user_identity_forwarding
	method include_claims header_name jwt_expiry_seconds jwt_validation external_auth_config jwksUri introspectEndpoint algorithms
	aws_auth_type aws_region azure_auth_mode azure_entra_tenant_id azure_entra_client_id azure_managed_client_id azure_vault_url
	vault_auth_type vault_addr vault_namespace vault_role_id vault_role
	keys kty kid alg use crv
	deny async sequential on_success on_fail feedback value weight metadata message`

// knownFields returns a function that reports whether this program, a provider or a model has a
// field of that name. It applies to objects that accept any field; the audit trail masks the
// values of all other fields.
// Source: ours.
func knownFields(checks *guardrail.Table) func(name string) bool {
	names := make(map[string]bool)
	for _, name := range strings.Fields(knownParams) {
		names[name] = true
	}
	for _, name := range routing.FieldNames() {
		names[name] = true
	}
	for _, check := range checks.All() {
		names[check.ID] = true
		for _, p := range check.Params {
			names[p.Name] = true
		}
	}
	return func(name string) bool { return names[name] }
}

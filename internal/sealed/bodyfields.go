package sealed

import "strings"

// A maskRule says how a credential field of a body is masked.
type maskRule int

const (
	maskAll     maskRule = iota + 1 // every text, number and boolean at or below the field, except "type" and "*_id"
	maskText                        // a text; objects, such as a JSON schema of that name, are left alone
	maskAddress                     // a URL: its user, its password and its secret parameters
	maskHook                        // the URL of a webhook: as Webhook
	maskKey                         // a text that begins with "ek_", a key of a realtime session
)

// A bodyField is a field that carries a credential. Path is its name and those of the
// members around it, in lower case without "-", "_", "." and "/": "tools[].headers" is a
// member "headers" of an object in a list "tools", at any depth of the body. A path of one
// name stands for every member of that name.
type bodyField struct {
	path string
	rule maskRule
}

// bodyFields are the fields of request and response bodies that carry credentials. Bodies
// of every surface are looked through for all of them, because bodies of one provider pass
// through to others, and responses, events and batches repeat them at any depth.
// Pages of providers were read 2026-11.
var bodyFields = []bodyField{
	// Tools of type mcp on Responses, in realtime sessions (session.update, response.create) and in responses that repeat them.
	// Source: contract/content-and-observability.md, MCP; https://platform.openai.com/docs/api-reference/responses/create; xAI and Groq use the same names.
	{"tools[].headers", maskAll},
	{"tools[].authorization", maskAll},
	{"tools[].serverurl", maskAddress},
	// Mcp_servers of Messages. Source: https://docs.claude.com/en/docs/agents-and-tools/mcp-connector.
	{"authorizationtoken", maskText},
	{"mcpservers[].headers", maskAll},
	{"mcpservers[].url", maskAddress},
	// Domain secrets of hosted containers. Source: https://platform.openai.com/docs/guides/tools-shell.
	{"domainsecrets[].value", maskAll},
	// Keys of realtime sessions: the answer of /v1/realtime/client_secrets, of /v1/realtime/sessions and of /v1/realtime/transcription_sessions.
	// Source: https://platform.openai.com/docs/api-reference/realtime-sessions.
	{"clientsecret.value", maskAll},
	{"value", maskKey},
	// Data sources of Azure OpenAI, and of the embedding that one of them uses; the older spelling beside the present one.
	// Source: https://learn.microsoft.com/azure/ai-foundry/openai/references/on-your-data; OnYourDataAuthenticationOptions.
	{"parameters.authentication", maskAll},
	{"embeddingdependency.authentication", maskAll},
	{"datasources[].parameters.key", maskAll},
	{"datasources[].parameters.adminkey", maskAll},
	{"datasources[].parameters.searchkey", maskAll},
	{"datasources[].parameters.embeddingkey", maskAll},
	{"datasources[].parameters.password", maskAll},
	{"encodedapikey", maskText},
	{"connectionstring", maskText},
	// Retrieval and maps of Gemini on Vertex AI (externalApi.apiAuth, googleMaps.authConfig), and its servers of tools.
	// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1beta1/Tool; https://ai.google.dev/api/caching#Tool.
	{"apikeyconfig.apikeystring", maskAll},
	{"authconfig.apikeyconfig", maskAll},
	{"oauthconfig.accesstoken", maskAll},
	{"oidcconfig.idtoken", maskAll},
	{"streamablehttptransport.headers", maskAll},
	{"streamablehttptransport.url", maskAddress},
	// Connectors of Cohere. Source: https://docs.cohere.com/v1/reference/create-connector.
	{"serviceauth.token", maskAll},
	{"oauth.clientsecret", maskAll},
	// Headers that client libraries and other gateways send in a body. Source: https://docs.litellm.ai/docs/completion/input; LlamaStack.
	{"extraheaders", maskAll},
	{"defaultheaders", maskAll},
	{"xheaders", maskAll},
	{"providerdata.headers", maskAll},
	// Webhooks. Source: https://platform.openai.com/docs/guides/webhooks; https://docs.x.ai; fal and Replicate for the addresses.
	{"webhooksecret", maskText},
	{"signingsecret", maskText},
	{"webhook.secret", maskAll},
	{"webhookurl", maskHook},
	{"webhook", maskHook},
	{"webhook.url", maskHook},
	{"callbackurl", maskHook},
	// Credentials under names that have no other meaning: of S3 and Bedrock (AWS), of service accounts (Google), of Entra ID (Azure),
	// in bodies of providers that only pass through, in custom logs and in spans.
	{"apikey", maskText},
	{"xapikey", maskText},
	{"xgoogapikey", maskText},
	{"subscriptionkey", maskText},
	{"ocpapimsubscriptionkey", maskText},
	{"authorization", maskText},
	{"proxyauthorization", maskText},
	{"accesstoken", maskText},
	{"refreshtoken", maskText},
	{"bearertoken", maskText},
	{"authtoken", maskText},
	{"clientsecret", maskText},
	{"clientassertion", maskText},
	{"accesskeyid", maskText},
	{"awsaccesskeyid", maskText},
	{"secretaccesskey", maskText},
	{"awssecretaccesskey", maskText},
	{"awssessiontoken", maskText},
	{"sessiontoken", maskText},
	{"securitytoken", maskText},
	{"secretkey", maskText},
	{"privatekey", maskText},
	{"setcookie", maskText},
	// Header lines as attributes of spans. Source: https://opentelemetry.io/docs/specs/semconv/registry/attributes/http.
	{"httprequestheaderauthorization", maskAll},
	{"httprequestheaderproxyauthorization", maskAll},
	{"httprequestheadercookie", maskAll},
	{"httprequestheaderxapikey", maskAll},
	{"httprequestheaderapikey", maskAll},
	{"httprequestheaderxgoogapikey", maskAll},
	{"httprequestheaderxgatewayapikey", maskAll},
	{"httpresponseheadersetcookie", maskAll},
}

// parsedField is a bodyField whose path is cut at its members; "" stands for an object in
// a list.
type parsedField struct {
	names []string // from the outermost one on
	rule  maskRule
}

// fieldsByName are the fields by the last name of their path.
var fieldsByName = parseFields(bodyFields)

func parseFields(fields []bodyField) map[string][]parsedField {
	byName := make(map[string][]parsedField, len(fields))
	for _, f := range fields {
		names := strings.Split(strings.ReplaceAll(f.path, "[]", "."), ".")
		last := names[len(names)-1]
		byName[last] = append(byName[last], parsedField{names, f.rule})
	}
	return byName
}

// fieldEnds has the last two letters of those names, in any case: nearly all names of a
// body are known not to be one of them by that alone.
var fieldEnds = endsOf(fieldsByName)

func endsOf(names map[string][]parsedField) (ends [1 << 10]bool) {
	for name := range names {
		ends[pairOf(name[len(name)-2], name[len(name)-1])] = true
	}
	return ends
}

// pairOf is a number for two letters, the same in any case. Other bytes share the numbers of
// letters.
func pairOf(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// schemaNames hold the definitions of fields in a JSON schema: what stands in them has the
// name of a field, and is none.
var schemaNames = map[string]bool{"properties": true, "patternproperties": true, "$defs": true, "definitions": true}

// openBelow reports whether a member below a credential field says what kind of credential
// it is, or whose, and not the credential.
func openBelow(name string) bool {
	return name == "type" || name == "keyid" || name == "managedidentityresourceid"
}

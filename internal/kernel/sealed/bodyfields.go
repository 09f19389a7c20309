package sealed

import (
	"slices"
	"strings"
)

// A maskRule is how a credential field of a body is masked.
type maskRule int

const (
	maskAll     maskRule = iota + 1 // every string, number and boolean at or below the field, except "type" and "*_id"
	maskText                        // a string; objects, such as a JSON schema of that name, are left unchanged
	maskAddress                     // a URL: its user, its password and its secret parameters
	maskHook                        // the URL of a webhook, masked as Webhook does
	maskKey                         // a string that begins with "ek_", a key of a realtime session
	maskHeaders                     // an object: strings, numbers and lists in it, except headers without a secret
)

// A bodyZone is what a part of a body contains. Below a part of one zone there are only parts of
// the same and of later zones.
type bodyZone int

const (
	inBody    bodyZone = iota // parameters and everything else
	inContent                 // messages and other content
	inData                    // arguments and results of tools, and JSON schemas
)

// A bodyField is a field that contains a credential. Path is its name and those of the enclosing
// members, in lower case without "-", "_", "." and "/": "tools[].headers" is a member "headers"
// of an object in a list "tools", at any depth of the body. A path of one name matches every
// member of that name. "^" at the beginning matches only a member of the body itself, or of a
// "body" in it, as in batches.
type bodyField struct {
	path string
	rule maskRule
	last bodyZone // last zone in which the rule applies, because the name may mean anything in later ones
}

// bodyFields lists the fields of request and response bodies that contain credentials. Bodies of
// every surface are searched for all of them, because bodies of one provider pass through to
// others, and responses, events and batches repeat them at any depth. If several match, the
// longest path wins.
// Pages of providers were read 2026-11.
var bodyFields = []bodyField{
	// Tools of type mcp on Responses, in realtime sessions (session.update, response.create) and
	// in responses that repeat them.
	// Source: contract/content-and-observability.md, MCP; https://platform.openai.com/docs/api-reference/responses/create; xAI and Groq use the same names.
	{"tools[].headers", maskAll, inData},
	{"tools[].authorization", maskAll, inData},
	{"tools[].serverurl", maskAddress, inData},
	// Mcp_servers of Messages. Source: https://docs.claude.com/en/docs/agents-and-tools/mcp-connector.
	{"authorizationtoken", maskText, inData},
	{"mcpservers[].headers", maskAll, inData},
	{"mcpservers[].url", maskAddress, inData},
	// Domain secrets of hosted containers. Source: https://platform.openai.com/docs/guides/tools-shell.
	{"domainsecrets[].value", maskAll, inData},
	// Keys of realtime sessions: the responses of /v1/realtime/client_secrets,
	// /v1/realtime/sessions and /v1/realtime/transcription_sessions.
	// Source: https://platform.openai.com/docs/api-reference/realtime-sessions.
	{"clientsecret.value", maskAll, inData},
	{"value", maskKey, inData},
	// Data sources of Azure OpenAI, and of the embedding that one of them uses, in the older and
	// the present spelling.
	// Source: https://learn.microsoft.com/azure/ai-foundry/openai/references/on-your-data; OnYourDataAuthenticationOptions.
	{"parameters.authentication", maskAll, inData},
	{"embeddingdependency.authentication", maskAll, inData},
	{"datasources[].parameters.key", maskAll, inData},
	{"datasources[].parameters.adminkey", maskAll, inData},
	{"datasources[].parameters.searchkey", maskAll, inData},
	{"datasources[].parameters.embeddingkey", maskAll, inData},
	{"datasources[].parameters.password", maskAll, inData},
	{"encodedapikey", maskText, inData},
	{"connectionstring", maskText, inData},
	// Retrieval and maps of Gemini on Vertex AI (externalApi.apiAuth, googleMaps.authConfig),
	// and its tool servers.
	// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1beta1/Tool; https://ai.google.dev/api/caching#Tool.
	{"apikeyconfig.apikeystring", maskAll, inData},
	{"authconfig.apikeyconfig", maskAll, inData},
	{"oauthconfig.accesstoken", maskAll, inData},
	{"oidcconfig.idtoken", maskAll, inData},
	{"streamablehttptransport.headers", maskAll, inData},
	{"streamablehttptransport.url", maskAddress, inData},
	// Connectors of Cohere. Source: https://docs.cohere.com/v1/reference/create-connector.
	{"serviceauth.token", maskAll, inData},
	{"oauth.clientsecret", maskAll, inData},
	// Headers that client libraries and other gateways send in a body. Source: https://docs.litellm.ai/docs/completion/input; LlamaStack.
	{"extraheaders", maskAll, inData},
	{"defaultheaders", maskAll, inData},
	{"xheaders", maskAll, inData},
	{"providerdata.headers", maskAll, inData},
	// Webhooks. Source: https://platform.openai.com/docs/guides/webhooks; https://docs.x.ai; fal and Replicate for the addresses.
	{"webhooksecret", maskText, inData},
	{"signingsecret", maskText, inData},
	{"webhook.secret", maskAll, inData},
	{"webhookurl", maskHook, inData},
	{"webhook", maskHook, inData},
	{"webhook.url", maskHook, inData},
	{"callbackurl", maskHook, inData},
	// Credentials under names that have no other meaning: of S3 and Bedrock (AWS), of service
	// accounts (Google), of Entra ID (Azure). They occur in bodies of providers that are only
	// passed through, in custom logs and in spans.
	{"apikey", maskText, inData},
	{"xapikey", maskText, inData},
	{"xgoogapikey", maskText, inData},
	{"subscriptionkey", maskText, inData},
	{"ocpapimsubscriptionkey", maskText, inData},
	{"authorization", maskText, inData},
	{"proxyauthorization", maskText, inData},
	{"accesstoken", maskText, inData},
	{"refreshtoken", maskText, inData},
	{"bearertoken", maskText, inData},
	{"authtoken", maskText, inData},
	{"clientsecret", maskText, inData},
	{"clientassertion", maskText, inData},
	{"accesskeyid", maskText, inData},
	{"awsaccesskeyid", maskText, inData},
	{"secretaccesskey", maskText, inData},
	{"awssecretaccesskey", maskText, inData},
	{"awssessiontoken", maskText, inData},
	{"sessiontoken", maskText, inData},
	{"securitytoken", maskText, inData},
	{"secretkey", maskText, inData},
	{"privatekey", maskText, inData},
	{"setcookie", maskText, inData},
	{"awswebidentitytoken", maskText, inData},
	// Credentials that other gateways and client libraries accept in a body. Source: https://docs.litellm.ai/docs/completion/input; https://docs.litellm.ai/docs/providers.
	{"vertexcredentials", maskAll, inData},
	{"vertexaicredentials", maskAll, inData},
	{"serviceaccountjson", maskAll, inData},
	{"vertexserviceaccountjson", maskAll, inData},
	{"azureadtoken", maskText, inData},
	{"azurepassword", maskText, inData},
	{"hftoken", maskText, inData},
	// Tools whose server is a separate object, or that are one object instead of a list.
	{"tools[].mcp.headers", maskAll, inData},
	{"tools[].mcp.authorization", maskAll, inData},
	{"tools[].server.headers", maskAll, inData},
	{"tools[].server.authorization", maskAll, inData},
	{"tools.headers", maskAll, inData},
	{"tools.authorization", maskAll, inData},
	// Names that mean a credential in the body itself and in a tool, and other things elsewhere.
	{"^password", maskText, inBody},
	{"^token", maskText, inBody},
	{"^secret", maskText, inBody},
	{"^credentials", maskAll, inBody},
	{"tools[].password", maskText, inBody},
	{"tools[].token", maskText, inBody},
	{"tools[].secret", maskText, inBody},
	{"tools[].mcp.password", maskText, inBody},
	{"tools[].mcp.token", maskText, inBody},
	{"tools[].mcp.secret", maskText, inBody},
	{"tools[].server.password", maskText, inBody},
	{"tools[].server.token", maskText, inBody},
	{"tools[].server.secret", maskText, inBody},
	{"tools.password", maskText, inBody},
	{"tools.token", maskText, inBody},
	{"tools.secret", maskText, inBody},
	{"mcpservers[].password", maskText, inBody},
	{"mcpservers[].token", maskText, inBody},
	{"mcpservers[].secret", maskText, inBody},
	{"headers", maskHeaders, inBody},
	{"headers[].value", maskAll, inBody},
	// Addresses: of servers, and of images and files in messages, which are often signed.
	// Source: https://platform.openai.com/docs/api-reference/chat/create, image_url; https://platform.openai.com/docs/api-reference/responses/create, file_url;
	// https://docs.claude.com/en/api/messages, source.url; https://docs.mistral.ai/api, document_url; https://ai.google.dev/api/caching#FileData.
	{"apibase", maskAddress, inContent},
	{"baseurl", maskAddress, inContent},
	{"serverurl", maskAddress, inContent},
	{"url", maskAddress, inContent},
	{"uri", maskAddress, inContent},
	{"imageurl", maskAddress, inContent},
	{"fileurl", maskAddress, inContent},
	{"fileuri", maskAddress, inContent},
	{"audiourl", maskAddress, inContent},
	{"videourl", maskAddress, inContent},
	{"documenturl", maskAddress, inContent},
	// Header lines as attributes of spans. Source: https://opentelemetry.io/docs/specs/semconv/registry/attributes/http.
	{"httprequestheaderauthorization", maskAll, inData},
	{"httprequestheaderproxyauthorization", maskAll, inData},
	{"httprequestheadercookie", maskAll, inData},
	{"httprequestheaderxapikey", maskAll, inData},
	{"httprequestheaderapikey", maskAll, inData},
	{"httprequestheaderxgoogapikey", maskAll, inData},
	{"httprequestheaderxgatewayapikey", maskAll, inData},
	{"httpresponseheadersetcookie", maskAll, inData},
}

// parsedField is a bodyField whose path is split into its members; "" is an object in a list.
type parsedField struct {
	names []string // outermost first
	rule  maskRule
	last  bodyZone
	top   bool // the outermost name is a member of the body itself
}

// fieldsByName maps the last name of a path to the fields that end in it, longest path first.
var fieldsByName = parseFields(bodyFields)

func parseFields(fields []bodyField) map[string][]parsedField {
	byName := make(map[string][]parsedField, len(fields))
	for _, f := range fields {
		path, top := strings.CutPrefix(f.path, "^")
		names := strings.Split(strings.ReplaceAll(path, "[]", "."), ".")
		last := names[len(names)-1]
		byName[last] = append(byName[last], parsedField{names, f.rule, f.last, top})
	}
	for _, same := range byName {
		slices.SortStableFunc(same, func(a, b parsedField) int { return len(b.names) - len(a.names) })
	}
	return byName
}

// fieldEnds contains the last two letters of those names, in any case. They alone rule out
// nearly all names of a body.
var fieldEnds = endsOf(fieldsByName)

func endsOf(names map[string][]parsedField) (ends [1 << 10]bool) {
	for name := range names {
		ends[pairOf(name[len(name)-2], name[len(name)-1])] = true
	}
	return ends
}

// pairOf returns a number for two letters, the same in any case. Other bytes share the numbers
// of letters.
func pairOf(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// schemaNames contain the definitions of fields in a JSON schema: a member of one has the name
// of a field, but is not that field.
var schemaNames = map[string]bool{"properties": true, "patternproperties": true, "$defs": true, "definitions": true}

// zoneNames maps members to the zone that begins with their value. See also bodyWalk.zoneOf.
var zoneNames = map[string]bodyZone{
	"messages": inContent, "message": inContent, "content": inContent, "contents": inContent, "contentblock": inContent, "parts": inContent, "system": inContent,
	"text": inContent, "delta": inContent, "prompt": inContent, "output": inContent,
	"arguments": inData, "args": inData, "partialjson": inData, "toolcalls": inData, "tooluse": inData, "functioncall": inData, "functionresponse": inData,
	"inputschema": inData, "outputschema": inData, "jsonschema": inData, "schema": inData, "responseschema": inData, "responsejsonschema": inData,
	"parametersjsonschema": inData, "parameterdefinitions": inData, "properties": inData, "patternproperties": inData, "$defs": inData, "definitions": inData,
}

// openBelow reports whether a member below a credential field contains the type or the owner of
// the credential, and not the credential.
func openBelow(name string) bool {
	return name == "type" || name == "keyid" || name == "managedidentityresourceid" || openHeaders[name]
}

// openHeaders are headers of nearly every call, which do not contain a secret.
var openHeaders = map[string]bool{
	"accept": true, "acceptcharset": true, "acceptencoding": true, "acceptlanguage": true, "cachecontrol": true, "connection": true, "contentencoding": true,
	"contentlength": true, "contenttype": true, "date": true, "host": true, "server": true, "transferencoding": true, "useragent": true, "vary": true,
	"xrequestid": true, "anthropicversion": true,
}

package sealed

import (
	"slices"
	"strings"
)

// A maskRule says how a credential field of a body is masked.
type maskRule int

const (
	maskAll     maskRule = iota + 1 // every text, number and boolean at or below the field, except "type" and "*_id"
	maskText                        // a text; objects, such as a JSON schema of that name, are left alone
	maskAddress                     // a URL: its user, its password and its secret parameters
	maskHook                        // the URL of a webhook: as Webhook
	maskKey                         // a text that begins with "ek_", a key of a realtime session
	maskHeaders                     // an object: texts, numbers and lists in it, except headers without a secret
)

// A bodyZone is what a part of a body holds. A part of one zone has parts of its own and
// later ones alone.
type bodyZone int

const (
	inBody    bodyZone = iota // parameters and everything else
	inContent                 // messages and other content
	inData                    // arguments and results of tools, and JSON schemas
)

// A bodyField is a field that carries a credential. Path is its name and those of the
// members around it, in lower case without "-", "_", "." and "/": "tools[].headers" is a
// member "headers" of an object in a list "tools", at any depth of the body. A path of one
// name stands for every member of that name; "^" at the beginning, for one of the body
// itself or of a "body" in it, as batches have them.
type bodyField struct {
	path string
	rule maskRule
	last bodyZone // the last zone in which the field counts, because its name may mean anything in later ones
}

// bodyFields are the fields of request and response bodies that carry credentials. Bodies
// of every surface are looked through for all of them, because bodies of one provider pass
// through to others, and responses, events and batches repeat them at any depth. Of several
// that match, the longest path counts.
// Pages of providers were read 2026-11.
var bodyFields = []bodyField{
	// Tools of type mcp on Responses, in realtime sessions (session.update, response.create) and in responses that repeat them.
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
	// Keys of realtime sessions: the answer of /v1/realtime/client_secrets, of /v1/realtime/sessions and of /v1/realtime/transcription_sessions.
	// Source: https://platform.openai.com/docs/api-reference/realtime-sessions.
	{"clientsecret.value", maskAll, inData},
	{"value", maskKey, inData},
	// Data sources of Azure OpenAI, and of the embedding that one of them uses; the older spelling beside the present one.
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
	// Retrieval and maps of Gemini on Vertex AI (externalApi.apiAuth, googleMaps.authConfig), and its servers of tools.
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
	// Credentials under names that have no other meaning: of S3 and Bedrock (AWS), of service accounts (Google), of Entra ID (Azure),
	// in bodies of providers that only pass through, in custom logs and in spans.
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
	// Credentials that other gateways and client libraries take in a body. Source: https://docs.litellm.ai/docs/completion/input; https://docs.litellm.ai/docs/providers.
	{"vertexcredentials", maskAll, inData},
	{"vertexaicredentials", maskAll, inData},
	{"serviceaccountjson", maskAll, inData},
	{"vertexserviceaccountjson", maskAll, inData},
	{"azureadtoken", maskText, inData},
	{"azurepassword", maskText, inData},
	{"hftoken", maskText, inData},
	// Tools whose server is an object of its own, or that are one object instead of a list.
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
	// Addresses: of servers, and of pictures and files in messages, which are often signed.
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

// parsedField is a bodyField whose path is cut at its members; "" stands for an object in
// a list.
type parsedField struct {
	names []string // from the outermost one on
	rule  maskRule
	last  bodyZone
	top   bool // the outermost one is a member of the body itself
}

// fieldsByName are the fields by the last name of their path.
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

// zoneNames are the members with whose values a zone begins. See also bodyWalk.zoneOf.
var zoneNames = map[string]bodyZone{
	"messages": inContent, "message": inContent, "content": inContent, "contents": inContent, "contentblock": inContent, "parts": inContent, "system": inContent,
	"text": inContent, "delta": inContent, "prompt": inContent, "output": inContent,
	"arguments": inData, "args": inData, "partialjson": inData, "toolcalls": inData, "tooluse": inData, "functioncall": inData, "functionresponse": inData,
	"inputschema": inData, "outputschema": inData, "jsonschema": inData, "schema": inData, "responseschema": inData, "responsejsonschema": inData,
	"parametersjsonschema": inData, "parameterdefinitions": inData, "properties": inData, "patternproperties": inData, "$defs": inData, "definitions": inData,
}

// openBelow reports whether a member below a credential field says what kind of credential
// it is, or whose, and not the credential.
func openBelow(name string) bool {
	return name == "type" || name == "keyid" || name == "managedidentityresourceid" || openHeaders[name]
}

// openHeaders are header lines of nearly every call, which have no secret.
var openHeaders = map[string]bool{
	"accept": true, "acceptcharset": true, "acceptencoding": true, "acceptlanguage": true, "cachecontrol": true, "connection": true, "contentencoding": true,
	"contentlength": true, "contenttype": true, "date": true, "host": true, "server": true, "transferencoding": true, "useragent": true, "vary": true,
	"xrequestid": true, "anthropicversion": true,
}

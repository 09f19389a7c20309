package llm

import (
	"net/url"
	"strings"
)

// Alias is a path prefix for the clients of a provider, which use it instead of /v1 when only
// their base address points to the gateway.
type Alias struct {
	Prefix     string // complete segments, "/openai/v1"
	RestPrefix string // replaces Prefix below /v1: "", or "/v1beta" where it is part of the provider's own paths
	Azure      bool   // calls have Azure's form: the name of a deployment is in the path or the query
	Native     bool   // the prefix is the gateway's own
	Vendor     string // vendor whose clients use the prefix and whose error format applies: "google", "amazon", "cohere"; empty for OpenAI
	Models     string // path after which the provider has model names, "/v1beta/models/"; empty: none
}

// Aliases are the prefixes in addition to /v1, longer ones before shorter ones. To serve the
// clients of a provider at its own paths, add a line here.
var Aliases = []Alias{
	{Prefix: "/v1/proxy", Native: true},
	{Prefix: "/v1", Native: true},
	{Prefix: "/proxy", Native: true},
	{Prefix: "/openai/v1"},           // https://console.groq.com/docs/openai; https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle
	{Prefix: "/openai", Azure: true}, // https://learn.microsoft.com/azure/foundry/openai/reference
	{Prefix: "/v1beta", RestPrefix: "/v1beta", Vendor: "google", Models: "/v1beta/models/"},    // https://ai.google.dev/api
	{Prefix: "/v1alpha", RestPrefix: "/v1alpha", Vendor: "google", Models: "/v1alpha/models/"}, // likewise
	{Prefix: "/v1beta1", RestPrefix: "/v1beta1", Vendor: "google"},                             // https://cloud.google.com/vertex-ai/docs/reference/rest
	{Prefix: "/upload/v1beta", RestPrefix: "/upload/v1beta", Vendor: "google"},                 // https://ai.google.dev/api/files
	{Prefix: "/v2/chat", RestPrefix: "/v2/chat", Vendor: "cohere"},                             // https://docs.cohere.com/reference
	{Prefix: "/v2/embed", RestPrefix: "/v2/embed", Vendor: "cohere"},                           // likewise
	{Prefix: "/v2/rerank", RestPrefix: "/v2/rerank", Vendor: "cohere"},                         // likewise
	{Prefix: "/model", RestPrefix: "/model", Vendor: "amazon", Models: "/model/"},              // https://docs.aws.amazon.com/bedrock/latest/APIReference
}

// Address is the meaning of an escaped path.
type Address struct {
	Rest       string // "/chat/completions" of "/v1/chat/completions"; the complete path without a prefix
	Alias      *Alias // nil without a prefix; shared, must not be changed
	Deployment string // deployment in the path of Azure's clients, unescaped; empty for none
}

// Foreign reports whether the path has a prefix that is not the gateway's own.
func (a *Alias) Foreign() bool { return a != nil && !a.Native }

// Locate removes the prefix from an escaped path. In an Azure path that names a deployment and
// ends in a typed route, such as "/openai/deployments/gpt-4o/chat/completions", the deployment
// is the model. All other Azure paths have the same form as paths below /v1.
func Locate(method, path string) Address {
	for i := range Aliases {
		a := &Aliases[i]
		rest, ok := strings.CutPrefix(path, a.Prefix)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		if a.Azure {
			if model, route, ok := deployed(method, rest); ok {
				return Address{Rest: route, Alias: a, Deployment: model}
			}
		}
		if a.RestPrefix != "" {
			rest = path[len(a.Prefix)-len(a.RestPrefix):]
		}
		return Address{Rest: rest, Alias: a}
	}
	return Address{Rest: path}
}

// deploymentNames is the maximum number of segments in the name of a deployment. Model names
// contain slashes.
const deploymentNames = 8

// deployed splits "/deployments/@slug/meta-llama/Llama-3/chat/completions" into the model and
// the typed route at its end.
func deployed(method, path string) (model, route string, ok bool) {
	names, ok := strings.CutPrefix(path, "/deployments/")
	if !ok || strings.HasPrefix(names, "/") {
		return "", "", false
	}
	end := 0
	for range deploymentNames {
		next := strings.IndexByte(names[end:], '/')
		if next < 0 {
			return "", "", false
		}
		end += next
		if name, route := names[:end], names[end:]; Lookup(method, route).Endpoint != Proxy {
			plain, err := url.PathUnescape(name)
			return plain, route, err == nil
		}
		end++
	}
	return "", "", false
}

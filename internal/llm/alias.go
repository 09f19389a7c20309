package llm

import (
	"net/url"
	"strings"
)

// Alias is where the clients of a provider send what others send below /v1, when all that is
// set of them is the address of the gateway.
type Alias struct {
	Prefix     string // whole segments, "/openai/v1"
	RestPrefix string // what stands for it below /v1: "", or "/v1beta" where it is part of the provider's own paths
	Azure      bool   // calls come as Azure has them: with the name of a deployment in the path or the query
	Native     bool   // the prefix is the gateway's
	Vendor     string // whose clients call there, in whose shape errors are: "google", "amazon", "cohere"; empty for OpenAI's
	Models     string // behind which the provider has the names of models, "/v1beta/models/"; empty for nowhere
}

// Aliases are the prefixes beside /v1, the longer before the shorter. To serve a client at its
// own address, add its line here.
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

// Address is what an escaped path stands for.
type Address struct {
	Rest       string // "/chat/completions" of "/v1/chat/completions"; the path itself where it has no prefix
	Alias      *Alias // nil where it has none; shared, not to be changed
	Deployment string // that stands in the path of Azure's clients, plain; empty for none
}

// Foreign reports whether the path has a prefix that is not the gateway's own.
func (a *Alias) Foreign() bool { return a != nil && !a.Native }

// Locate takes the prefix off an escaped path. Of Azure's paths that name a deployment and end
// in a typed route, such as "/openai/deployments/gpt-4o/chat/completions", the deployment is
// the model; all others of them are as below /v1.
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

// deploymentNames bounds the segments that the name of a deployment may have: those of models
// have slashes.
const deploymentNames = 8

// deployed takes "/deployments/@slug/meta-llama/Llama-3/chat/completions" apart where a typed
// route stands at its end.
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

package dataplane

import (
	"net/url"
	"path"
	"strings"

	"sluice/internal/llm"
)

// pathNames bounds the places of a path in which a model is looked for.
const pathNames = 16

// setModelFromPath finds the model of a call that is passed through, where its provider takes it
// from the path: the first name there that has a price, else the one that stands where a model
// does beside another in the body, which the provider does not read. Limits go by it, and the
// bill where the answer names none. What is sent stays as it is.
func (g *Gateway) setModelFromPath(a *attempt) {
	if a.x.match.Endpoint != llm.Proxy || !a.spec.ModelsInPaths() {
		return
	}
	a.modelInPath = true
	plain, err := url.PathUnescape(a.x.path)
	if err != nil {
		return
	}
	rest, terms := path.Clean(plain), a.x.dir.Agreement(a.account)
	for range pathNames {
		_, after, more := strings.Cut(rest, "/")
		if rest = after; !more {
			break
		}
		for _, name := range modelCandidates(rest) {
			if name != "" && g.Prices.Has(a.spec.ID, name, terms) {
				a.model = name
				return
			}
		}
	}
	if name := modelAt(path.Clean(plain)); a.model != "" && name != "" {
		a.model = name
	}
}

// modelAt is the segment in which providers have the model in a path: "m" of "/model/m/invoke"
// and "/v1beta/models/m:generateContent"; empty for a path without one.
func modelAt(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments[:len(segments)-1] {
		if s == "models" || s == "model" {
			return modelCandidates(strings.Join(segments[i+1:], "/"))[2]
		}
	}
	return ""
}

// modelCandidates are the names that a path may begin with: all of it, as those of models have slashes,
// its first segment, and that without the verb behind it: "gemini-2.5-flash:generateContent".
func modelCandidates(path string) [3]string {
	segment, _, _ := strings.Cut(path, "/")
	name := segment
	if index := strings.LastIndexByte(segment, ':'); index >= 0 {
		name = segment[:index]
	}
	return [3]string{path, segment, name}
}

// accountInPath takes the saved provider that a path names before the model, "@slug/model",
// off the path: that of GET /models/{id} where a provider is asked, and of the paths by which
// vendors' own clients come. What is passed through below /v1 stays as it came.
func (x *exchange) accountInPath() {
	switch {
	case x.match.Endpoint == llm.RetrieveModel:
		x.match.ID = x.useAccount(x.match.ID)
	case x.match.Endpoint == llm.Proxy && x.alias != nil && x.alias.Models != "":
		name, ok := strings.CutPrefix(x.path, x.alias.Models)
		if !ok { // some clients take a name with a slash for a whole one, "models/x" or "tunedModels/x"
			name, _ = strings.CutPrefix(x.path, x.alias.RestPrefix+"/")
		}
		if rest := x.useAccount(name); rest != name {
			x.path = x.alias.Models + rest
		}
	}
}

// useAccount is an escaped name without the saved provider before it, which is the call's.
func (x *exchange) useAccount(escaped string) string {
	plain, err := url.PathUnescape(escaped)
	if err != nil {
		return escaped
	}
	account, _ := x.splitModel(plain)
	if account == "" {
		return escaped
	}
	x.account = account
	for range len("@" + account + "/") {
		if escaped[0] == '%' {
			escaped = escaped[2:]
		}
		escaped = escaped[1:]
	}
	return escaped
}

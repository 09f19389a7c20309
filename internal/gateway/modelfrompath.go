package gateway

import (
	"net/url"
	"path"
	"strings"

	"sluice/internal/kernel/llm"
)

// pathNames is the maximum number of path positions that are searched for a model.
const pathNames = 16

// setModelFromPath sets the model of a pass-through call whose provider reads it from the path.
// It uses the first name in the path that has a price. Otherwise, if the body names a model,
// which the provider does not read, it uses the segment after "model" or "models". Limits apply
// to this model, and so does the bill when the response names none. The request itself is
// unchanged.
func (ac *accountant) setModelFromPath(a *attempt) {
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
			if name != "" && ac.prices.Has(a.spec.ID, name, terms) {
				a.model = name
				return
			}
		}
	}
	if name := modelAt(path.Clean(plain)); a.model != "" && name != "" {
		a.model = name
	}
}

// modelAt returns the path segment that contains the model: "m" for "/model/m/invoke" and
// "/v1beta/models/m:generateContent"; "" for a path without one.
func modelAt(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments[:len(segments)-1] {
		if s == "models" || s == "model" {
			return modelCandidates(strings.Join(segments[i+1:], "/"))[2]
		}
	}
	return ""
}

// modelCandidates returns the names that a path may begin with: the complete path, because model
// names can contain slashes; its first segment; and that segment without a verb after it, as in
// "gemini-2.5-flash:generateContent".
func modelCandidates(path string) [3]string {
	segment, _, _ := strings.Cut(path, "/")
	name := segment
	if index := strings.LastIndexByte(segment, ':'); index >= 0 {
		name = segment[:index]
	}
	return [3]string{path, segment, name}
}

// accountInPath removes the saved provider from a path that names it before the model,
// "@slug/model". This applies to GET /models/{id} and to the paths of vendors' own clients.
// Pass-through paths below /v1 are unchanged.
func (x *exchange) accountInPath() {
	switch {
	case x.match.Endpoint == llm.RetrieveModel:
		x.match.ID = x.useAccount(x.match.ID)
	case x.match.Endpoint == llm.Proxy && x.alias != nil && x.alias.Models != "":
		name, ok := strings.CutPrefix(x.path, x.alias.Models)
		if !ok { // some clients treat a name with a slash as complete, "models/x" or "tunedModels/x"
			name, _ = strings.CutPrefix(x.path, x.alias.RestPrefix+"/")
		}
		if rest := x.useAccount(name); rest != name {
			x.path = x.alias.Models + rest
		}
	}
}

// useAccount returns an escaped name without its saved provider, which it sets on the exchange.
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

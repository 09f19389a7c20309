package provider

import (
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// Call is the part of a client's request that determines the address.
type Call struct {
	Endpoint   llm.Endpoint
	Method     string // method of the client's request
	ID         string // id in the route, still escaped: "file-1", "arn%3Aaws%2F1"
	Path       string // escaped path below /v1, "/collections/a%2Fb"; used by pass-through
	RawQuery   string // query of the client, without the question mark
	Model      string // model in the body, without "@slug/"; may be empty
	Underlying string // model that Model is a profile of, if known; conditions on the model check it
	User       string // body field "user"; only Predibase's path needs it
	Stream     bool
	CustomHost string // URL that replaces the base; empty: the one in Values, if any
}

// Plan is one upstream call without its body and credential. The values that it points to are
// shared and must not be changed.
type Plan struct {
	Spec      *Spec
	Requested llm.Endpoint // endpoint of the Call
	Endpoint  *Endpoint    // dialect, parameter and reply changes, with the spec's defaults filled in
	Auth      *Auth
	Method    string
	Scheme    string      // "https" or "http"
	Host      string      // "api.openai.com", with a port when one was given
	Target    string      // request target, escaped: "/v1/files/a%2Fb?limit=2"
	Base      string      // path of the base, with which Target begins: "/v1"
	Header    wire.Header // the provider's headers, without the credential; Apply sets them over the client's
	Defaults  wire.Header // headers that apply where the client sent none
	Model     string      // model for the body; equals Call.Model unless the provider needs another
	// Underlying is Call.Underlying.
	Underlying string
	// Named is the value of a caller or a stored value that supplied the complete host:
	// "custom_host", a field of class URL such as "azure_foundry_url", or "path" when the path
	// contains a host. Such an address needs the check for custom hosts. Empty means that the
	// host comes from the spec.
	Named string
}

// Plan builds the upstream call. It reads v and retains nothing of it.
//
// An endpoint that the provider does not serve is fault.NotSupported, which names the provider
// and the endpoint. A missing credential field, a value that does not fit its class and a path
// that would leave the base are fault.InvalidRequest, which names the field and how to fix it.
// Pass-through works for every provider, except for paths that belong to an endpoint that the
// provider does not have.
// Source: contract/dataplane.md 6.2, 6.7.
func (s *Spec) Plan(c Call, v Values) (*Plan, error) {
	q := query{spec: s, call: c, values: v, model: c.Model, host: c.CustomHost}
	if q.host == "" {
		q.host = v[customHost]
	}
	if err := q.checkFields(); err != nil {
		return nil, err
	}
	q.chooseDeployment()
	sh := q.shape()
	e, err := q.endpoint(sh)
	if err != nil {
		return nil, err
	}
	p := &Plan{Spec: s, Requested: c.Endpoint, Underlying: c.Underlying, Endpoint: e, Auth: sh.auth, Method: c.Method, Defaults: sh.defaults}
	if e.auth != nil {
		p.Auth = e.auth
	}
	if e.Method != "" {
		p.Method = e.Method
	}
	if p.Model = c.Model; e.Dialect != Through {
		p.Model = q.bodyModel(sh)
	}
	if err := q.address(p); err != nil {
		return nil, err
	}
	p.Header, err = q.header(e)
	return p, err
}

// plain lists the endpoints that began as plain paths. RetrieveModel is one of them too: most
// providers have it at the same path as OpenAI.
// Source: contract/providers.yaml, endpoints marked proxy.
var plain = []llm.Endpoint{llm.ListModels, llm.RetrieveModel, llm.Moderate, llm.Rerank, llm.OCR}

// endpoint returns how the endpoint is served. When the spec does not name them, plain endpoints
// and all endpoints of a provider without typed ones pass through.
func (q *query) endpoint(sh *shape) (*Endpoint, error) {
	name := q.call.Endpoint
	e := sh.endpoints[name]
	if e == nil && q.call.Path != "" && (q.spec.Dialect == Through || slices.Contains(plain, name)) {
		e = sh.endpoints[llm.Proxy]
	}
	if parent := parts[q.call.Path]; parent != "" && name == llm.Proxy && q.spec.Dialect != Through && sh.endpoints[parent] == nil {
		return nil, fault.Newf(fault.NotSupported, "/v1%s is not supported by %s, which has no native %s", q.call.Path, q.spec.ID, parent)
	}
	if e == nil {
		return nil, fault.Newf(fault.NotSupported, "%s is not supported by %s", name, q.spec.ID)
	}
	return e, nil
}

// parts maps untyped paths to the endpoint they belong to. A provider for which calls of that
// endpoint are translated does not serve them.
// Source: https://platform.openai.com/docs/api-reference/responses/compact, read 2026-11.
var parts = map[string]llm.Endpoint{"/responses/compact": llm.CreateModelResponse}

// bodyModel applies the model rules, and sets q.model to the model for the path.
func (q *query) bodyModel(sh *shape) string {
	if q.call.Model == "" {
		return ""
	}
	if sh.modelFrom != "" {
		if m := q.value(sh.modelFrom); m != "" {
			return m
		}
	}
	rule := sh.model
	m := strings.TrimPrefix(q.call.Model, rule.StripPrefix)
	if rule.Publisher {
		m = strings.Replace(m, ".", "/", 1)
	}
	q.model = m
	if rule.Split != "" {
		q.model, m, _ = strings.Cut(m, rule.Split)
	}
	return m
}

// address fills scheme, host, target and Named.
func (q *query) address(p *Plan) error {
	r := p.Endpoint.route
	if !safeQuery(q.call.RawQuery) {
		return fault.New(fault.InvalidRequest, "the query contains characters that must be escaped")
	}
	if p.Endpoint.OwnQuery {
		q.call.RawQuery = ""
	}
	if p.Endpoint.Dialect != Through {
		q.call.RawQuery = r.versioned(q.call.RawQuery)
	}
	if q.host == "" && r.fixed {
		p.Scheme, p.Host, p.Target, p.Base = r.fixedBase.scheme, r.fixedBase.host, withQuery(r.target, q.call.RawQuery), r.fixedBase.path
		return nil
	}
	if p.Endpoint.Dialect == Through {
		if err := q.checkRest(p); err != nil {
			return err
		}
	}
	addr, err := q.base(p)
	if err != nil {
		return err
	}
	path, err := q.path(p, addr.path)
	if err != nil {
		return err
	}
	params, err := q.params(r)
	if err != nil {
		return err
	}
	p.Scheme, p.Host, p.Target, p.Base = addr.scheme, addr.host, withQuery(path, params), addr.path
	return nil
}

// Reroute replaces the path below the base, unless path is empty, and appends to the query. It
// serves translations whose path depends on the content of the request. A path that would leave
// the base is fault.InvalidRequest.
func (p *Plan) Reroute(path, query string) error {
	old, params, _ := strings.Cut(p.Target, "?")
	if path != "" {
		if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || !safePath(path) {
			return fault.New(fault.InvalidRequest, "the path must not contain elements that leave the provider's base URL")
		}
		old = p.Base + path
	}
	if query != "" {
		if !safeQuery(query) {
			return fault.New(fault.InvalidRequest, "the query contains characters that must be escaped")
		}
		if params != "" {
			params += "&"
		}
		params += query
	}
	p.Target = withQuery(old, params)
	return nil
}

// base returns the custom host if there is one, else the endpoint's base with its values filled
// in.
func (q *query) base(p *Plan) (base, error) {
	r := p.Endpoint.route
	if addr, ok := q.embedded(); ok {
		p.Named = "path"
		return addr, nil
	}
	if q.host != "" {
		addr, ok := parseBase(q.host)
		if !ok {
			return base{}, invalid("x-gateway-custom-host", "the custom host must be %s", classes[classURL])
		}
		p.Named = customHost
		return addr, nil
	}
	if r.fixedBase.host != "" {
		return r.fixedBase, nil
	}
	for _, part := range r.base {
		if part.name != "" && q.value(part.name) == "" {
			return base{}, q.missing(part.name)
		}
	}
	text, _ := r.base.raw(q.value)
	addr, ok := parseBase(text)
	if !ok {
		return base{}, fault.Newf(fault.InvalidRequest, "cannot build the address of %s from the given fields", q.spec.ID)
	}
	p.Named = r.named
	return addr, nil
}

// path joins the path of the base and that of the endpoint. When the path of a custom host
// already ends in the version with which the endpoint begins, the version is written once.
func (q *query) path(p *Plan, prefix string) (string, error) {
	t := p.Endpoint.route.path
	if q.call.Stream && len(p.Endpoint.route.stream) > 0 {
		t = p.Endpoint.route.stream
	}
	path, missing := t.path(q.value)
	if missing != "" {
		return "", q.missing(missing)
	}
	if p.Endpoint.Dialect != Through && q.host != "" && strings.HasSuffix(prefix, "/v1") && strings.HasPrefix(path, "/v1/") {
		path = path[len("/v1"):]
	}
	if path = prefix + path; path == "" {
		path = "/"
	}
	if !safePath(path) || strings.HasPrefix(path, "//") {
		outside := fault.New(fault.InvalidRequest, "the path must not contain elements that leave the provider's base URL")
		if q.model != "" && !safePath("/"+q.model) && p.Endpoint.Dialect != Through {
			return "", outside.WithParam(argModel)
		}
		return "", outside
	}
	return path, nil
}

// params returns the caller's query with the parameters that the provider adds.
func (q *query) params(r *route) (string, error) {
	out := q.call.RawQuery
	for i := range r.query {
		p := &r.query[i]
		if p.required != "" && q.value(p.required) == "" && !hasParam(out, p.name) {
			return "", q.missing(p.required)
		}
		out = p.value.query(out, p.name, q.value)
	}
	if q.call.Stream {
		for i := range r.streamQuery {
			out = r.streamQuery[i].value.query(out, r.streamQuery[i].name, q.value)
		}
	}
	return out, nil
}

func withQuery(path, query string) string {
	if query == "" {
		return path
	}
	return path + "?" + query
}

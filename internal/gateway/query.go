package gateway

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// readQuery reads the model of a GET call from the query, where realtime clients set it:
// "model=gpt-realtime". For any other GET it only uses "@slug/model", which names a saved
// provider; other values are filters of the provider. The query of a realtime call must be
// unambiguous, because the model determines permissions and billing.
// Source: contract/dataplane.md 1.3.
func (x *exchange) readQuery() error {
	if x.req.Method != "GET" || x.req.RawQuery == "" {
		return nil
	}
	if x.match.Endpoint == llm.Realtime && x.alias != nil && x.alias.Azure {
		x.req.RawQuery = modelOfDeployment(x.req.RawQuery)
	}
	raw := x.req.RawQuery
	q, err := url.ParseQuery(raw)
	named := q["model"]
	realtime := x.match.Endpoint == llm.Realtime
	switch {
	case realtime && err != nil:
		return fault.New(fault.InvalidRequest, "the query is not valid; escape its values, and separate its parameters with &").WithParam("model").WithCause(err)
	case realtime && len(named) > 1:
		return fault.New(fault.InvalidRequest, "the query contains several models; send only one").WithParam("model")
	case len(named) != 1:
		return nil
	}
	account, model := x.splitModel(named[0])
	if realtime || account != "" {
		x.account, x.model, x.modelInQuery = account, model, true
	}
	return nil
}

// modelOfDeployment renames the deployment parameter of Azure's realtime clients to model. A
// query with both names several models and is refused later.
// Source: https://learn.microsoft.com/azure/foundry/openai/how-to/realtime-audio-websockets, read 2026-11.
func modelOfDeployment(raw string) string {
	pairs := strings.Split(raw, "&")
	for i, p := range pairs {
		if v, ok := strings.CutPrefix(p, "deployment="); ok {
			pairs[i] = "model=" + v
		}
	}
	return strings.Join(pairs, "&")
}

// query returns the client's query for a call to model. A model in the query is replaced by
// model, without its saved provider.
func (x *exchange) query(model string) string {
	raw, pretty := x.req.RawQuery, x.pretty()
	if !x.modelInQuery && !pretty {
		return raw
	}
	var pairs []string
	for p := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(p, "=")
		plain, err := url.QueryUnescape(name)
		switch {
		case pretty && name == prettyParam:
			continue
		case x.modelInQuery && err == nil && plain == "model":
			if was, err := url.QueryUnescape(value); err != nil || was != model {
				p = "model=" + url.QueryEscape(model)
			}
		}
		pairs = append(pairs, p)
	}
	return strings.Join(pairs, "&")
}

// prettyParam requests an indented response. The gateway reads it itself on typed routes.
// Source: contract/dataplane.md 1.1.
const prettyParam = "pretty"

func (x *exchange) pretty() bool {
	if x.req.RawQuery == "" || x.match.Endpoint == llm.Proxy {
		return false
	}
	for p := range strings.SplitSeq(x.req.RawQuery, "&") {
		if name, value, _ := strings.Cut(p, "="); name == prettyParam {
			return value != "false"
		}
	}
	return false
}

// legible returns a JSON response, indented when the caller requests it.
func (x *exchange) legible(body []byte) []byte {
	if !x.pretty() {
		return body
	}
	var out bytes.Buffer
	if json.Indent(&out, body, "", "  ") != nil { // it is not JSON
		return body
	}
	return out.Bytes()
}

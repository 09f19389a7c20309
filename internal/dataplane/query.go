package dataplane

import (
	"net/url"
	"strings"

	"sluice/internal/fault"
	"sluice/internal/llm"
)

// readQuery takes the model of a call that has no body to say it from the query, where
// realtime clients put it: "model=gpt-realtime". That of any other GET is looked at for
// "@slug/model" alone, which names a saved provider; else it is a filter of the
// provider's own. Of a realtime call the query must say one thing to all its readers,
// since the model is what the conversation is allowed and billed by.
// Source: contract/dataplane.md 1.3.
func (x *exchange) readQuery() error {
	raw := x.in.RawQuery
	if x.in.Method != "GET" || raw == "" {
		return nil
	}
	q, err := url.ParseQuery(raw)
	named := q["model"]
	realtime := x.match.Endpoint == llm.Realtime
	switch {
	case realtime && err != nil:
		return fault.New(fault.InvalidRequest, "the query cannot be read; escape what it holds, and separate its parameters by &").At("model").Because(err)
	case realtime && len(named) > 1:
		return fault.New(fault.InvalidRequest, "the query names several models; name one").At("model")
	case len(named) != 1:
		return nil
	}
	account, model := x.splitModel(named[0])
	if realtime || account != "" {
		x.account, x.model, x.asked = account, model, true
	}
	return nil
}

// query is the client's query for a call with a model: where the query names one, that one
// stands there without its provider.
func (x *exchange) query(model string) string {
	raw := x.in.RawQuery
	if !x.asked {
		return raw
	}
	pairs := strings.Split(raw, "&")
	for i, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		if plain, err := url.QueryUnescape(name); err != nil || plain != "model" {
			continue
		}
		if was, err := url.QueryUnescape(value); err != nil || was != model {
			pairs[i] = "model=" + url.QueryEscape(model)
		}
	}
	return strings.Join(pairs, "&")
}

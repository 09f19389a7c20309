package dataplane

import (
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/llm"
)

// asyncFields lists the body fields that request a response before the work is done: deferred
// completions of xAI, background work of OpenAI and Google, and the equivalents of other
// providers.
// Source: https://docs.x.ai/docs/guides/deferred-chat-completions and
// https://ai.google.dev/gemini-api/docs/interactions, read 2026-11.
var asyncFields = []string{"background", "deferred", "async", "is_async"}

// asyncQueries lists the query parameters that do the same: Deepgram sends the result to a
// callback.
var asyncQueries = []string{"async", "callback"}

// answersWithoutUsage reports whether the response does not contain the usage of the call's work,
// and the gateway does not poll for that work.
func (a *attempt) answersWithoutUsage() bool {
	if a.x.match.Endpoint != llm.Proxy {
		return a.hasAsyncField()
	}
	segments := pathSegments(a.x.path)
	return usageElsewhere(segments) || a.hasAsyncField() || a.hasAsyncHeader() || hasAsyncQuery(a.x.req.RawQuery) || a.runsAgent(segments)
}

// hasAsyncField reports whether the body requests asynchronous work. If a name occurs more than
// once, one such value is enough.
func (a *attempt) hasAsyncField() bool {
	for _, name := range asyncFields {
		if name == "background" && a.x.match.Endpoint == llm.CreateModelResponse {
			continue // the gateway polls such responses
		}
		if requestsAsync(a.param(name)) {
			return true
		}
	}
	if a.x.doc == nil {
		return false
	}
	for k := range a.x.doc.Len() {
		raw, value := a.x.doc.Member(k)
		name := gjson.ParseBytes(raw).String()
		if name == "background" && a.x.match.Endpoint == llm.CreateModelResponse || slices.Contains(a.target.Drop, name) {
			continue
		}
		if slices.Contains(asyncFields, name) && requestsAsync(gjson.ParseBytes(value)) {
			if _, set := setBy(a.target.Override, name); !set {
				return true
			}
		}
	}
	return false
}

// requestsAsync reports whether a lenient parser reads a value as true.
func requestsAsync(v gjson.Result) bool {
	switch v.Type {
	case gjson.True:
		return true
	case gjson.Number:
		return v.Num != 0
	case gjson.String:
		return slices.Contains([]string{"true", "1", "yes", "on"}, strings.ToLower(v.Str))
	case gjson.Null, gjson.False, gjson.JSON:
	}
	return false
}

// hasAsyncHeader reports whether a header requests asynchronous work, in DashScope's form or in
// the standard form.
// Source: https://help.aliyun.com/zh/model-studio/text-to-image-v2-api-reference,
// read 2026-11, and RFC 7240 section 4.1.
func (a *attempt) hasAsyncHeader() bool {
	h := a.x.req.Header
	return slices.ContainsFunc(h.Values("x-dashscope-async"), func(v string) bool { return !strings.EqualFold(strings.TrimSpace(v), "disable") }) ||
		slices.ContainsFunc(h.Values("prefer"), func(v string) bool { return strings.Contains(strings.ToLower(v), "respond-async") })
}

// hasAsyncQuery reports whether the query requests asynchronous work.
func hasAsyncQuery(raw string) bool {
	if raw == "" {
		return false
	}
	query, _ := url.ParseQuery(raw) // a malformed query still yields its valid part
	return slices.ContainsFunc(asyncQueries, func(name string) bool {
		return slices.ContainsFunc(query[name], func(v string) bool { return v != "" && !strings.EqualFold(v, "false") && v != "0" })
	})
}

// runsAgent reports whether a call starts a Google agent. It works in the background with its own
// models, even if the call also names a model.
func (a *attempt) runsAgent(segments []string) bool {
	agent := a.param("agent")
	return segments[len(segments)-1] == "interactions" && agent.Exists() && agent.Type != gjson.Null
}

package bound

import (
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/gateway/call"
	"sluice/internal/kernel/llm"
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

// AnswersWithoutUsage reports whether the response does not contain the usage of the call's work,
// and the gateway does not poll for that work.
func (c *Call) AnswersWithoutUsage() bool {
	if c.Endpoint != llm.Proxy {
		return hasAsyncField(c)
	}
	segments := call.PathSegments(c.Path)
	return usageElsewhere(segments) || hasAsyncField(c) || hasAsyncHeader(c) || hasAsyncQuery(c.Request.RawQuery) || runsAgent(c, segments)
}

// hasAsyncField reports whether the body requests asynchronous work. If a name occurs more than
// once, one such value is enough.
func hasAsyncField(c *Call) bool {
	for _, name := range asyncFields {
		if name == "background" && c.Endpoint == llm.CreateModelResponse {
			continue // the gateway polls such responses
		}
		if requestsAsync(c.Value(name)) {
			return true
		}
	}
	if c.Doc == nil {
		return false
	}
	for k := range c.Doc.Len() {
		raw, value := c.Doc.Member(k)
		name := gjson.ParseBytes(raw).String()
		if name == "background" && c.Endpoint == llm.CreateModelResponse || slices.Contains(c.Target.Drop, name) {
			continue
		}
		if slices.Contains(asyncFields, name) && requestsAsync(gjson.ParseBytes(value)) {
			if _, set := call.FindParam(c.Target.Override, name); !set {
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
func hasAsyncHeader(c *Call) bool {
	h := c.Request.Header
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
func runsAgent(c *Call, segments []string) bool {
	agent := c.Value("agent")
	return segments[len(segments)-1] == "interactions" && agent.Exists() && agent.Type != gjson.Null
}

package cachekey

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// What does not count in a key, because it differs from call to call and does not change the
// response. Vary makes a name count again, except the members of streamMembers.

// streamMembers are members of the body that select the format of the response. A stored response
// is replayed in either format.
var streamMembers = map[string]bool{"stream": true, "stream_options": true}

// ignoredMembers are members of the body.
var ignoredMembers = map[string]bool{
	"user":              true, // OpenAI: the caller's own user
	"safety_identifier": true, // OpenAI: the successor of user
	"prompt_cache_key":  true, // OpenAI: selects a machine with a warm prompt cache
	"trace":             true, // OpenRouter
	"trace_id":          true,
	"request_id":        true, // Zhipu, Langfuse
}

// ignoredFields are fields of the body's metadata object, and of the metadata of the request.
var ignoredFields = map[string]bool{
	"user_id":               true, // Anthropic's body; Claude Code writes its session there
	"trace_id":              true,
	"trace_name":            true, // Langfuse
	"trace_user_id":         true, // Langfuse
	"span_id":               true,
	"parent_span_id":        true,
	"parent_observation_id": true, // Langfuse
	"generation_id":         true, // Langfuse
	"generation_name":       true, // Langfuse
	"request_id":            true,
	"traceparent":           true,
}

// userField is the field of the metadata that the gateway adds itself. It never counts.
const userField = "_user"

// ignoredHeaders are headers that describe the client program, its retries, its trace or the
// connection. Names are in lower case.
var ignoredHeaders = map[string]bool{
	// of the message and the connection
	"accept": true, "accept-encoding": true, "connection": true, "content-length": true, "date": true, "host": true,
	"forwarded": true, "via": true, "x-forwarded-for": true, "x-forwarded-host": true, "x-forwarded-port": true,
	"x-forwarded-proto": true, "x-real-ip": true,
	// traces
	"traceparent": true, "tracestate": true, "baggage": true, "b3": true, "sentry-trace": true, "uber-trace-id": true,
	"x-trace-id": true, "x-span-id": true, "x-amzn-trace-id": true, "x-cloud-trace-context": true, "x-ot-span-context": true,
	"x-gateway-trace-id": true,
	// ids of one request, session or attempt
	"idempotency-key": true, "x-idempotency-key": true, "request-id": true, "x-request-id": true, "x-correlation-id": true,
	"x-client-request-id": true, "x-ms-client-request-id": true, "amz-sdk-invocation-id": true, "amz-sdk-request": true,
	"x-amz-date": true, "x-claude-code-session-id": true, "x-session-affinity": true, "session_id": true,
	"conversation_id": true, "x-codex-turn-metadata": true,
	// the client program
	"user-agent": true, "x-goog-api-client": true, "x-amz-user-agent": true,
}

// ignoredPrefixes are the beginnings of further such names.
var ignoredPrefixes = []string{
	"x-stainless-", // SDKs of OpenAI and Anthropic: language, system, retries, timeout
	"x-b3-",
	"x-datadog-",
}

// Ignored lists what does not count by default, for the documentation: members of the body, with
// "metadata.user_id" for a member of its metadata, and headers, with "x-b3-*" for a prefix. Both
// are sorted.
func Ignored() (members, headers []string) {
	members = slices.Collect(maps.Keys(streamMembers))
	members = slices.AppendSeq(members, maps.Keys(ignoredMembers))
	for name := range ignoredFields {
		members = append(members, "metadata."+name)
	}
	headers = slices.Collect(maps.Keys(ignoredHeaders))
	for _, p := range ignoredPrefixes {
		headers = append(headers, p+"*")
	}
	slices.Sort(members)
	slices.Sort(headers)
	return members, headers
}

// countsHeader reports whether a line with that lower-case name counts.
func countsHeader(name string, vary []string) bool {
	ignored := ignoredHeaders[name] || slices.ContainsFunc(ignoredPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	return !ignored || slices.ContainsFunc(vary, func(v string) bool { return strings.EqualFold(v, name) })
}

// attribution is the beginning of a line that Claude Code writes before its instructions and that
// differs with every call: "x-anthropic-billing-header: cc_version=2.1.117; cch=71fea;". The text
// block that consists of this line does not count.
// Source: github.com/anthropics/claude-code/issues/68900, 2026-06-16.
var attribution = regexp.MustCompile(`^"x-anthropic-billing-header:( ?cc[a-z_]{0,20}=[0-9A-Za-z._-]{1,24};?){1,6}"$`)

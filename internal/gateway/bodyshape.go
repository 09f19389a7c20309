package gateway

import (
	"slices"
	"strings"

	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/kernel/llm"
)

// unknownShape is the name of a format that the gateway cannot read.
const unknownShape = "unknown"

// pathShapes are the formats of calls that are passed through, by the end of their path. Longer ends are
// above shorter ones. Other paths have an unknown format.
var pathShapes = [...]struct{ end, shape string }{
	{":generateContent", passage.Google}, {":streamGenerateContent", passage.Google}, {":countTokens", passage.Google},
	{":embedContent", passage.Google}, {":batchEmbedContents", passage.Google},
	{":rawPredict", string(llm.Messages)}, {":streamRawPredict", string(llm.Messages)},
	{"/converse", passage.Bedrock}, {"/converse-stream", passage.Bedrock},
	{"/agents/completions", string(llm.ChatComplete)}, {"/chat/completions", string(llm.ChatComplete)}, {"/completions", string(llm.Complete)},
	{"/messages/count_tokens", string(llm.MessagesCountTokens)}, {"/messages", string(llm.Messages)},
	{"/responses/input_tokens", string(llm.CountResponseInputTokens)}, {"/responses", string(llm.CreateModelResponse)},
	{"/embeddings", string(llm.Embed)}, {"/images/generations", string(llm.ImageGenerate)}, {"/videos", string(llm.Complete)},
	{"/moderations", string(llm.Moderate)}, {"/rerank", string(llm.Rerank)}, {"/audio/speech", string(llm.CreateSpeech)},
	{"/realtime/client_secrets", passage.Realtime}, {"/realtime/sessions", passage.Realtime}, {"/realtime/transcription_sessions", passage.Realtime},
}

// bodyShape returns the name of the body's format for the package passage. A call that is passed
// through has the format of its path, if its body has a text in that format. A form is read as an
// object with its prompt.
func bodyShape(x *exchange) string {
	if x.form != nil {
		return string(llm.Complete)
	}
	if x.match.Endpoint != llm.Proxy {
		return string(x.match.Endpoint)
	}
	path := strings.TrimRight(x.path, "/")
	if readsText(x) {
		path = path[:max(strings.LastIndexByte(path, '/'), 0)] // without the id
	}
	for _, s := range pathShapes {
		if !strings.HasSuffix(path, s.end) {
			continue
		}
		if s.shape == passage.Realtime || x.doc == nil {
			return s.shape
		}
		if b, err := passage.RequestShape(s.shape, x.doc.Source()); err != nil || !b.HasKnownTexts() {
			return unknownShape
		}
		return s.shape
	}
	return unknownShape
}

// answerShape returns the format of the response.
func answerShape(x *exchange, request string) string {
	if x.match.Endpoint != llm.Proxy {
		return string(x.match.Endpoint)
	}
	return request
}

// leadsElsewhere reports whether the response lets the client talk to the provider directly, so that no
// guardrail judges what follows. x's call is passed through.
func leadsElsewhere(shape string) bool { return shape == passage.Realtime }

// textPaths are the segments of paths below which providers keep texts of models.
var textPaths = []string{"responses", "conversations", "threads", "completions", "interactions"}

// readsText reports whether a call without a body reads what a model wrote earlier.
func readsText(x *exchange) bool {
	if x.match.Endpoint == llm.GetModelResponse {
		return true
	}
	return x.match.Endpoint == llm.Proxy && x.req.Method == "GET" && slices.ContainsFunc(strings.Split(strings.ToLower(x.path), "/"), func(s string) bool { return slices.Contains(textPaths, s) })
}

// unreadable returns the enforced hook of a list that denies what it cannot read; nil for none.
func unreadable(hooks []*guardrails.Hook, c *guardrails.Call) *guardrails.Hook {
	for _, h := range hooks {
		if h.Enforced && h.Deny && !c.PassUnreadable {
			return h
		}
	}
	return nil
}

// BodyShape returns the name of a recorded body's format for the package passage: "chatComplete". A call
// that is passed through has the format of its path; "unknown" is a format that guardrails cannot read.
func BodyShape(ep llm.Endpoint, path string) string {
	if ep != llm.Proxy {
		return string(ep)
	}
	path = strings.TrimRight(path, "/")
	for _, s := range pathShapes {
		if strings.HasSuffix(path, s.end) {
			return s.shape
		}
	}
	return unknownShape
}

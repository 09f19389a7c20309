package bound

import (
	"slices"
	"strings"

	"sluice/internal/gateway/call"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// IsMetered reports whether limits and ledger entries apply to a call: to every call that makes a
// model work or makes a provider store or do something. Reading data and counting tokens is free,
// even for callers whose budgets are used up. path is escaped, below /v1.
// Source: contract/identity-and-governance.md section 6, dataplane.md 4.8.
func IsMetered(m llm.Match, method, path string) bool {
	switch {
	case m.Endpoint == llm.Realtime:
		return true
	case freeEndpoints[m.Endpoint], readMethods[method], cancelsWork(path):
		return false
	}
	return m.Endpoint != llm.Proxy || !countsTokens(path)
}

// freeEndpoints are the endpoints that do not only read data but are free.
var freeEndpoints = map[llm.Endpoint]bool{llm.MessagesCountTokens: true, llm.CountResponseInputTokens: true, llm.CancelBatch: true, llm.CancelFinetune: true}

// readMethods are the methods that do not start work.
var readMethods = map[string]bool{"GET": true, "HEAD": true, "DELETE": true, "OPTIONS": true}

// cancelsWork reports whether a path cancels a response. A cancel call is free, and its response
// repeats the usage of the cancelled response.
func cancelsWork(path string) bool {
	id, ok := strings.CutPrefix(path, "/responses/")
	if !ok {
		return false
	}
	id, ok = strings.CutSuffix(id, "/cancel")
	return ok && id != "" && strings.Trim(id, idAlphabet) == ""
}

// idAlphabet lists the characters of response ids.
const idAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// unbilled are the endpoints whose calls are not billed by a model. The work that they start is
// billed elsewhere or costs nothing.
var unbilled = map[llm.Endpoint]bool{llm.UploadFile: true, llm.CreateBatch: true, llm.CreateFinetune: true}

// IsFree reports whether the provider bills nothing for the call: an upload, or a pass-through
// call to a path that is known to cost nothing.
func (c *Call) IsFree() bool {
	return unbilled[c.Endpoint] || c.Endpoint == llm.Proxy && costsNothing(c.Spec.Platform, call.PathSegments(c.Path))
}

// freePaths lists the ends of paths at which providers store, change or stop something without
// model work, and do not bill the call. An asterisk matches an id. All other paths may cost
// something.
//
// Source: the API references of OpenAI, Azure, Anthropic, Google, Amazon Bedrock, Mistral,
// Together, Fireworks, Cohere, xAI, OpenRouter and Replicate, read 2026-11.
var freePaths = splitAll(
	// files
	"files", "files/*", "uploads", "uploads/*", "uploads/*/parts", "uploads/*/complete",
	"containers/*/files", "datasets", "datasets/*", "datasets/*/upload", "skills", "skills/*", "skills/*/versions",
	// what searches and conversations read
	"vector_stores", "vector_stores/*", "vector_stores/*/files", "vector_stores/*/files/*", "vector_stores/*/file_batches",
	"vector_stores/*/search", "collections", "collections/*", "cachedcontents/*",
	"assistants", "assistants/*", "threads", "threads/*", "threads/*/messages", "threads/*/messages/*", "threads/*/runs/*", "chat/completions/*",
	// jobs that were started earlier
	"batches/*", "batches/*/cancel", "batch/jobs/*/cancel", "fine_tuning/jobs/*", "fine_tuning/jobs/*/pause", "fine_tuning/jobs/*/resume", "fine_tuning/jobs/*/start",
	"fine_tuning/checkpoints/*/permissions", "fine_tuning/alpha/graders/validate", "fine_tuning/models/*", "fine_tuning/models/*/archive",
	"evals", "evals/*", "evals/*/runs/*", "tunedmodels/*", "tunedmodels/*/permissions", "tunedmodels/*/permissions/*", "operations/*",
)

// countVerbs end the paths of calls that count tokens. freeVerbs end the paths of other free
// calls of any resource. Google appends them after a colon:
// "models/gemini-2.5-flash:countTokens".
var (
	countVerbs = []string{"count_tokens", "count-tokens", "input_tokens", ":counttokens", ":computetokens", ":countmessagetokens"}
	freeVerbs  = []string{
		"cancel", "stop", "tokenize", "detokenize",
		":cancel", ":wait", ":register", ":transferownership", ":upload", ":getuploadendpoint", ":validateupload",
	}
)

// openAIPaths are free only at OpenAI and Azure: Mistral generates output at its conversations.
var openAIPaths = splitAll("conversations", "conversations/*", "conversations/*/items")

// elsewherePaths start work whose usage is not in any response through the gateway: tokens for
// direct calls to the provider, and thread runs that end later.
var elsewherePaths = splitAll(
	"realtime/sessions", "realtime/client_secrets", "realtime/transcription_sessions", "realtime/calls", "realtime/calls/*/accept", "chatkit/sessions", "auth_tokens", "auth/grant",
	"threads/runs", "threads/*/runs", "threads/*/runs/*/submit_tool_outputs",
)

func splitAll(paths ...string) (list [][]string) {
	for _, p := range paths {
		list = append(list, strings.Split(p, "/"))
	}
	return list
}

// countsTokens reports whether a passed-through call only counts tokens, by its path.
func countsTokens(escaped string) bool { return endsWith(countVerbs, call.PathSegments(escaped)) }

// costsNothing reports whether a passed-through call is known to be free.
func costsNothing(platform string, segments []string) bool {
	return endsWith(freeVerbs, segments) || isPath(freePaths, segments) || platform == provider.PlatformOpenAI && isPath(openAIPaths, segments)
}

// endsWith reports whether the last segment of a path is one of the verbs, after another segment,
// or ends with one after a colon.
func endsWith(verbs, segments []string) bool {
	last := segments[len(segments)-1]
	if at := strings.LastIndexByte(last, ':'); at > 0 {
		return slices.Contains(verbs, last[at:])
	}
	return len(segments) > 1 && slices.Contains(verbs, last)
}

// usageElsewhere reports whether a passed-through call starts work whose usage the gateway does
// not receive. Perplexity has all such paths below /async.
func usageElsewhere(segments []string) bool {
	return trimBases(segments)[0] == "async" || isPath(elsewherePaths, segments)
}

// isPath reports whether a path is one of paths, after its base segments: a version, or the names
// of an account, a project or a deployment.
func isPath(paths [][]string, segments []string) bool {
	native := trimBases(segments)
	return slices.ContainsFunc(paths, func(p []string) bool {
		return slices.EqualFunc(p, native, func(want, got string) bool { return want == got || want == "*" && isID(got) })
	})
}

// isID reports whether a segment can be an id, without a verb or a parameter.
func isID(s string) bool { return s != "" && !strings.ContainsAny(s, ":;?# ") }

// bases lists the segments that may precede the paths of a provider, with the number of segments
// that belong together: "projects/p", "openai".
var bases = map[string]int{"openai": 1, "api": 1, "upload": 1, "projects": 2, "locations": 2, "accounts": 2, "deployments": 2}

// trimBases removes such base segments from a path.
func trimBases(segments []string) []string {
	for len(segments) > 1 {
		n := bases[segments[0]]
		if isVersion(segments[0]) {
			n = 1
		}
		if n == 0 || len(segments) <= n {
			break
		}
		segments = segments[n:]
	}
	return segments
}

// isVersion reports whether a segment is an API version, for example "v1beta".
func isVersion(s string) bool { return len(s) > 1 && s[0] == 'v' && s[1] >= '0' && s[1] <= '9' }

package bedrock

import (
	"cmp"
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Claude returns the shape in which Bedrock invokes Claude: that of Anthropic's messages
// but for where the model, the version and the beta flags stand. Callers of messages
// keep the bytes of all else, their answers' too.
// Source: contract/provider-transforms.md 3.6;
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html, read 2026-11.
func Claude() *dialect.Dialect {
	return &dialect.Dialect{Name: "bedrock-claude", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{llm.Messages: invocation{}}}
}

// invocation is a message to Claude.
type invocation struct{}

var _ dialect.Streamer = invocation{}

// EncodeRequest makes the body of InvokeModel.
func (invocation) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	if !splice.Valid(r.Body) {
		return nil, fault.New(fault.InvalidRequest, "the body must be a JSON object")
	}
	body, dropped := claudeBody(r.Body, to, 0)
	return &dialect.Outgoing{Body: body, Dropped: dropped}, nil
}

// TranslateResponse gives the answer as it is.
func (invocation) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	if !splice.Valid(incoming.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a JSON object")
	}
	if err := dialect.CheckListMember(llm.Messages, incoming.Body); err != nil {
		return nil, err
	}
	a := &dialect.Response{Body: incoming.Body}
	a.Usage, a.Model = dialect.Usage(llm.Messages, incoming.Body, "")
	return a, nil
}

// NewStream takes the events out of Amazon's messages.
func (invocation) NewStream(*dialect.Incoming) dialect.StreamTranscoder { return &dialect.Unframer{} }

// claudeVersion is the version of Anthropic's API that Bedrock speaks.
const claudeVersion = "bedrock-2023-05-31"

// claudeBody makes the native body of a messages request: without model and stream, without
// what other providers signed and what Amazon has a flag or another place for, with a version,
// the beta flags of the header or else of the body and, where the caller set none, with a limit
// unless that is 0. The version in a caller's header is mostly that of Anthropic's own hosts,
// which Bedrock refuses. Lost names what Claude there cannot be told.
func claudeBody(body []byte, to *dialect.Target, limit int64) (native []byte, dropped []string) {
	var w dialect.JSON
	w.Open('{')
	mark, _ := splice.Find(body, "cache_control")
	var beta []byte
	var tools toolList
	versioned, limited := false, false
	for name, val := range splice.Members(body) {
		switch plain(name) {
		case "model", "stream", "cache_control":
			continue
		case "anthropic_beta":
			beta = val
			continue
		case "anthropic_version":
			versioned = true
		case llm.MaxTokens:
			limited = true
		case "tools":
			tools = claudeTools(val, to.Underlying())
			val = tools.raw
		case "messages":
			if turns := dialect.Unsigned(val); turns != nil {
				val = turns
			}
			val = cached(val, mark)
		}
		w.Raw(bare(name), val)
	}
	if !versioned {
		version := valueOf(to, "anthropic_version")
		if !strings.HasPrefix(version, "bedrock-") {
			version = claudeVersion
		}
		w.Str("anthropic_version", version)
	}
	flags := betas(to, beta)
	if tools.eager {
		flags = withFlag(flags, eagerFlag)
	}
	writeBetas(&w, flags)
	if !limited && limit > 0 {
		w.Int(llm.MaxTokens, limit)
	}
	w.Close('}')
	return w.B, tools.dropped
}

// absent are beginnings of beta flags for what Amazon does not offer: it refuses a
// request that names one.
// Source: contract/provider-transforms.md 2.1;
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html,
// https://github.com/router-for-me/CLIProxyAPI/issues/4750 and
// https://github.com/anthropics/claude-code/issues/56595, read 2026-11.
var absent = [...]string{
	"advisor-tool-", "code-execution-", "extended-cache-ttl-", "fast-mode-", "files-api-", "mcp-client-", "mcp-servers-", "message-threads-", "oauth-",
	"per-turn-control-", "prompt-caching-scope-", "redact-thinking-", "skills-", "token-efficient-tools-2026-", "web-fetch-", "web-search-",
}

// renamed are beta flags that Amazon knows by other names.
// Source: contract/provider-transforms.md 2.1.
var renamed = map[string]string{"advanced-tool-use-2025-11-20": "tool-search-tool-2025-10-19"}

// betas are the beta flags for Claude: those of the header, or else of the body, a text
// with commas or a list.
func betas(to *dialect.Target, body []byte) []string {
	all := []string{valueOf(to, "anthropic_beta")}
	if all[0] == "" {
		if len(body) == 0 {
			return nil
		}
		all[0] = plain(body)
		for val := range splice.Elements(body) {
			all = append(all, plain(val))
		}
	}
	var list []string
	for b := range strings.SplitSeq(strings.Join(all, ","), ",") {
		b = strings.TrimSpace(b)
		if b == "" || isAbsent(b) {
			continue
		}
		list = append(list, cmp.Or(renamed[b], b))
	}
	return list
}

func isAbsent(beta string) bool {
	for _, a := range absent {
		if strings.HasPrefix(beta, a) {
			return true
		}
	}
	return false
}

func writeBetas(w *dialect.JSON, list []string) {
	if len(list) == 0 {
		return
	}
	w.Key("anthropic_beta").Open('[')
	for _, b := range list {
		w.Text(b)
	}
	w.Close(']')
}

package bedrock

import (
	"cmp"
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/claude"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/sniff"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Claude returns the dialect for invoking Claude on Bedrock. It is Anthropic's Messages API, except
// that the model, the version and the beta flags are elsewhere. For callers of messages, all other
// bytes of the request and of the response remain unchanged.
// Source: contract/provider-transforms.md 3.6;
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html, read 2026-11.
func Claude() *dialect.Dialect {
	return &dialect.Dialect{Name: "bedrock-claude", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{llm.Messages: invocation{}}}
}

// invocation implements a Messages API call to Claude.
type invocation struct{}

var _ dialect.Streamer = invocation{}

// EncodeRequest builds the body of InvokeModel.
func (invocation) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	if !jsonedit.Valid(r.Body) {
		return nil, fault.New(fault.InvalidRequest, "the body must be a JSON object")
	}
	body, dropped := claudeBody(r.Body, to, 0)
	return &dialect.Outgoing{Body: body, Dropped: dropped}, nil
}

// TranslateResponse returns the response unchanged.
func (invocation) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	if !jsonedit.Valid(incoming.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a JSON object")
	}
	if err := sniff.CheckList(llm.Messages, incoming.Body); err != nil {
		return nil, err
	}
	a := &dialect.Response{Body: incoming.Body}
	a.Usage, a.Model = usage.Read(llm.Messages, incoming.Body, "")
	return a, nil
}

// NewStream returns a reader that extracts the events from Amazon's event-stream messages.
func (invocation) NewStream(*dialect.Incoming) dialect.StreamTranscoder { return &dialect.Unframer{} }

// claudeVersion is the version of Anthropic's API that Bedrock uses.
const claudeVersion = "bedrock-2023-05-31"

// claudeBody builds the native body of a messages request. It removes model, stream, signatures of
// other providers, and members for which Amazon has a flag or another field. It adds a version, and
// the beta flags of the header or else of the body. If the caller set no limit and limit is not 0,
// it adds limit. The version in a caller's header is usually that of Anthropic's own hosts, which
// Bedrock rejects. The list dropped contains the paths that Claude on Bedrock does not support.
func claudeBody(body []byte, to *dialect.Target, limit int64) (native []byte, dropped []string) {
	body, dropped = acceptedMarks(body, to.Underlying())
	var w jsonwriter.Writer
	w.Open('{')
	mark, _ := jsonedit.Find(body, cacheMember)
	var beta []byte
	var tools toolList
	versioned, limited := false, false
	for name, val := range jsonedit.Members(body) {
		switch plain(name) {
		case "model", "stream", cacheMember:
			continue
		case "anthropic_beta":
			beta = val
			continue
		case "anthropic_version":
			versioned = true
		case llm.MaxTokens:
			limited = true
		case "system":
			val = claude.WithoutAttribution(val)
		case "tools":
			tools = claudeTools(val, to.Underlying())
			val = tools.raw
		case "messages":
			if turns := signatures.Unsigned(val); turns != nil {
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
	return w.B, append(dropped, tools.dropped...)
}

// absent lists prefixes of beta flags for features that Amazon does not offer. Amazon rejects a
// request with such a flag.
// Source: contract/provider-transforms.md 2.1;
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html,
// https://github.com/router-for-me/CLIProxyAPI/issues/4750 and
// https://github.com/anthropics/claude-code/issues/56595, read 2026-11.
var absent = [...]string{
	"advisor-tool-", "code-execution-", "extended-cache-ttl-", "fast-mode-", "files-api-", "mcp-client-", "mcp-servers-", "message-threads-", "oauth-",
	"per-turn-control-", "prompt-caching-scope-", "redact-thinking-", "skills-", "token-efficient-tools-2026-", "web-fetch-", "web-search-",
}

// renamed maps beta flags to the names that Amazon has for them.
// Source: contract/provider-transforms.md 2.1.
var renamed = map[string]string{"advanced-tool-use-2025-11-20": "tool-search-tool-2025-10-19"}

// betas returns the beta flags for Claude: those of the header, or else of the body, which is a
// string with commas or a list.
func betas(to *dialect.Target, body []byte) []string {
	all := []string{valueOf(to, "anthropic_beta")}
	if all[0] == "" {
		if len(body) == 0 {
			return nil
		}
		all[0] = plain(body)
		for val := range jsonedit.Elements(body) {
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

func writeBetas(w *jsonwriter.Writer, list []string) {
	if len(list) == 0 {
		return
	}
	w.Key("anthropic_beta").Open('[')
	for _, b := range list {
		w.Text(b)
	}
	w.Close(']')
}

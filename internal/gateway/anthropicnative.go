package gateway

import (
	"context"
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// Anthropic's clients send anthropic-version with every call and share some paths with OpenAI's
// clients: /files and /models. The gateway recognises them by that header on shared paths, and by
// the path below /messages/batches. If the target uses Anthropic's format, such a call and its
// response pass unchanged. (ours)

// anthropicBatchesPath is the path of batches in Anthropic's API.
const anthropicBatchesPath = "/messages/batches"

// lookupAnthropicBatch returns the route of an Anthropic batch path. ok is false for all other
// paths.
// Source: https://platform.claude.com/docs/en/api/messages/batches, read 2026-11.
func lookupAnthropicBatch(method, path string) (m llm.Match, ok bool) {
	rest, ok := strings.CutPrefix(path, anthropicBatchesPath)
	if !ok || rest != "" && rest[0] != '/' {
		return m, false
	}
	if id, results := strings.CutSuffix(rest, "/results"); results {
		rest = id + "/output"
	}
	m = llm.Lookup(method, "/batches"+rest)
	return m, m.Endpoint != llm.Proxy
}

// shared lists the endpoints whose paths OpenAI's and Anthropic's clients both use.
var shared = []llm.Endpoint{llm.UploadFile, llm.ListFiles, llm.RetrieveFile, llm.DeleteFile, llm.RetrieveFileContent, llm.ListModels, llm.RetrieveModel}

// isNativeClient reports whether the caller of a shared path is an Anthropic client.
func (x *exchange) isNativeClient() bool {
	return slices.Contains(shared, x.match.Endpoint) && x.req.Header.Has("anthropic-version")
}

// planNative plans a call of an Anthropic client. If a provider with Anthropic's format does not
// have the endpoint, the call is passed through. Targets with another format are rejected, except
// for models and model lists, which every caller gets in the target's format.
func (c *callPlanner) planNative(a *attempt, call provider.Call) (*provider.Plan, error) {
	call.Endpoint = a.x.match.Endpoint
	p, err := a.spec.Plan(call, a.values)
	if fault.Has(err, fault.NotSupported) && a.spec.Dialect == anthropic {
		call.Endpoint = llm.Proxy
		p, err = a.spec.Plan(call, a.values)
	}
	if err != nil {
		return nil, err
	}
	if p.Endpoint.Dialect != anthropic && p.Endpoint.Dialect != provider.Through {
		if a.x.asksModels() {
			return c.planFor(a, call, call.Endpoint)
		}
		return nil, fault.Newf(fault.NotSupported, "%s in Anthropic's format is not supported by %s; use the OpenAI format, /v1/files and /v1/batches without anthropic-version", call.Endpoint, a.spec.ID)
	}
	return p, nil
}

// isNative reports whether the call goes to its target in the form that the Anthropic client
// sent.
func (a *attempt) isNative() bool {
	return a.x.nativeClient && (a.plan.Endpoint.Dialect == anthropic || a.plan.Endpoint.Dialect == provider.Through)
}

// setNativeBody sends the client's body with only the changes of the target's config.
func setNativeBody(a *attempt, edits []jsonedit.Edit) error {
	x := a.x
	switch {
	case x.form != nil:
		a.body = x.form.Payload()
	case x.doc != nil:
		body := x.doc.Source()
		if len(edits) > 0 {
			body = x.doc.Apply(edits)
		}
		if a.account != nil && a.account.Restricted() && x.match.Endpoint == llm.CreateBatch {
			if err := batchAllowed(a.account, body); err != nil {
				return err
			}
		}
		a.body = spliced(x, edits)
	case x.spool != nil:
		a.body = x.spool.Payload()
	case x.direct != nil:
		a.body = *x.direct
	}
	return nil
}

// nativeResponse returns the provider's response unchanged. Files and results are relayed. The
// URL of results is replaced by the gateway's route, because Anthropic's clients would send the
// gateway's key to it.
func (re *receiver) nativeResponse(ctx context.Context, a *attempt) error {
	switch ep := a.x.match.Endpoint; ep {
	case llm.RetrieveFileContent, llm.GetBatchOutput:
		a.response.live = true
		return nil
	default:
		b, err := re.responses.readResponse(ctx, a, re.maxResponseBytes)
		if err != nil {
			return err
		}
		if isPage(b) {
			return pageError(a)
		}
		if !jsonedit.Valid(b) {
			return fault.Newf(fault.UpstreamInvalid, "Invalid response received from %s: not a JSON object", a.spec.ID)
		}
		if a.response.body = b; strings.HasPrefix(a.x.path, anthropicBatchesPath) {
			a.response.body = resultsHere(b)
		}
		return nil
	}
}

// resultsHere sets the results path of a batch, or of each batch of a list, to this gateway.
func resultsHere(b []byte) []byte {
	if list, ok := jsonedit.Find(b, "data"); ok {
		var out []byte
		for item := range jsonedit.Elements(list) {
			out = append(append(out, ','), resultsHere(item)...)
		}
		if len(out) == 0 {
			return b
		}
		out[0] = '['
		return edited(b, jsonedit.Set("data", append(out, ']')))
	}
	if jsonedit.Text(b, "results_url") == "" {
		return b
	}
	return edited(b, jsonedit.Set("results_url", jsonedit.Quote("/v1"+anthropicBatchesPath+"/"+jsonedit.Text(b, "id")+"/results")))
}

// edited applies an edit to a JSON object.
func edited(b []byte, e jsonedit.Edit) []byte {
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if jsonedit.Scan(b, d) != nil {
		return b
	}
	return d.Apply([]jsonedit.Edit{e})
}

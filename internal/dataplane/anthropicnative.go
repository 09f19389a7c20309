package dataplane

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/provider"
	"sluice/internal/splice"
)

// Anthropic's own clients say anthropic-version with every call and share some paths with
// OpenAI's: /files and /models. They are understood by that header there, and by the path
// below /messages/batches. Where the target speaks Anthropic's shape, such a call and its
// answer stay as they are. (ours)

// anthropicBatchesPath is where Anthropic's clients have their batches.
const anthropicBatchesPath = "/messages/batches"

// lookupAnthropicBatch finds the route of a batch of Anthropic's; ok is false for all other paths.
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

// shared are the endpoints whose paths both kinds of clients call.
var shared = []llm.Endpoint{llm.UploadFile, llm.ListFiles, llm.RetrieveFile, llm.DeleteFile, llm.RetrieveFileContent, llm.ListModels, llm.RetrieveModel}

// isNativeClient reports whether a caller of a path that both share is a client of Anthropic's.
func (x *exchange) isNativeClient() bool {
	return slices.Contains(shared, x.match.Endpoint) && x.req.Header.Has("anthropic-version")
}

// planNative plans a call of Anthropic's client. Where a provider of Anthropic's shape has no
// endpoint for it, the call is passed through. Targets that speak another shape are
// refused, but for models and their lists, which callers get as the target gives them to all.
func (g *Gateway) planNative(a *attempt, call provider.Call) (*provider.Plan, error) {
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
			return g.planFor(a, call, call.Endpoint)
		}
		return nil, fault.Newf(fault.NotSupported, "%s in Anthropic's format is not supported by %s; use the OpenAI format, /v1/files and /v1/batches without anthropic-version", call.Endpoint, a.spec.ID)
	}
	return p, nil
}

// isNative reports whether the call goes to its target as Anthropic's client made it.
func (a *attempt) isNative() bool {
	return a.x.nativeClient && (a.plan.Endpoint.Dialect == anthropic || a.plan.Endpoint.Dialect == provider.Through)
}

// setNativeBody sends the body as it came, but for what the target's config changes in it.
func (g *Gateway) setNativeBody(a *attempt, edits []splice.Edit) error {
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

// nativeResponse gives the answer as it came. Files and results are relayed; the address of
// results, to which Anthropic's clients would send the key of this gateway, becomes that
// of the route here.
func (g *Gateway) nativeResponse(ctx context.Context, a *attempt) error {
	switch ep := a.x.match.Endpoint; ep {
	case llm.RetrieveFileContent, llm.GetBatchOutput:
		a.response.live = true
		return nil
	default:
		b, err := g.readResponse(ctx, a, g.set.MaxResponseBytes)
		if err != nil {
			return err
		}
		if a.isPage(b) {
			return a.sentPage()
		}
		if !splice.Valid(b) {
			return fault.Newf(fault.UpstreamInvalid, "Invalid response received from %s: not a JSON object", a.spec.ID)
		}
		if a.response.body = b; strings.HasPrefix(a.x.path, anthropicBatchesPath) {
			a.response.body = resultsHere(b)
		}
		return nil
	}
}

// resultsHere gives a batch, or each of a list, the path of its results at this gateway.
func resultsHere(b []byte) []byte {
	if list, ok := splice.Find(b, "data"); ok {
		var out []byte
		for item := range splice.Elements(list) {
			out = append(append(out, ','), resultsHere(item)...)
		}
		if len(out) == 0 {
			return b
		}
		out[0] = '['
		return edited(b, splice.Set("data", append(out, ']')))
	}
	if splice.Text(b, "results_url") == "" {
		return b
	}
	return edited(b, splice.Set("results_url", splice.Quote("/v1"+anthropicBatchesPath+"/"+splice.Text(b, "id")+"/results")))
}

// edited is a JSON object with an edit in it.
func edited(b []byte, e splice.Edit) []byte {
	d := newDoc()
	defer docs.Put(d)
	if splice.Scan(b, d) != nil {
		return b
	}
	return d.Apply([]splice.Edit{e})
}

// anthropicModel is a line of the catalogue as Anthropic's clients read it.
// Source: https://platform.claude.com/docs/en/api/models/list, read 2026-11.
type anthropicModel struct {
	Type        string    `json:"type"` // "model"
	ID          string    `json:"id"`   // "@slug/model"
	DisplayName string    `json:"display_name"`
	CreatedAt   time.Time `json:"created_at"`
}

func (r *modelRow) toAnthropic() anthropicModel {
	return anthropicModel{Type: "model", ID: r.ID, DisplayName: r.ID, CreatedAt: time.Unix(r.Created, 0).UTC()}
}

// anthropicModelList is the catalogue for Anthropic's clients, in one page.
func anthropicModelList(rows []modelRow) ([]byte, error) {
	list := struct {
		Data    []anthropicModel `json:"data"`
		HasMore bool             `json:"has_more"`
		FirstID *string          `json:"first_id"`
		LastID  *string          `json:"last_id"`
	}{Data: []anthropicModel{}}
	for i := range rows {
		list.Data = append(list.Data, rows[i].toAnthropic())
	}
	if n := len(list.Data); n > 0 {
		list.FirstID, list.LastID = &list.Data[0].ID, &list.Data[n-1].ID
	}
	return json.Marshal(list)
}

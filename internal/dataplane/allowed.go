package dataplane

import (
	"strings"

	"sluice/internal/credential"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/provider"
	"sluice/internal/splice"
)

// hiddenModels refuses a call to a provider that allows some models only where these could
// be named in a place that is not looked at: in a body that is not read, in a path that is
// passed through, in a list of models to fall back to.
func hiddenModels(acct *credential.Account, spec *provider.Spec, a *attempt) error {
	x := a.x
	switch {
	case !acct.Restricted():
		return nil
	case x.unread:
		return fault.Newf(fault.ModelNotAllowed, "the provider @%s allows some models only, and the body of this call is not read; send it as application/json, a JSON object", acct.Slug).At("model")
	case x.match.Endpoint == llm.Proxy && x.in.Method != "GET" && spec.ModelsInPaths():
		return fault.Newf(fault.ModelNotAllowed, "the provider @%s allows some models only, and takes them from paths, which this call passes through; call one of the gateway's own endpoints, such as /v1/chat/completions", acct.Slug).At("model")
	}
	if a.model == "" && forOneModel[x.match.Endpoint] || x.match.Endpoint == llm.Realtime && strings.Contains(x.in.RawQuery, "deployment") {
		return fault.Newf(fault.ModelNotAllowed, "the provider @%s allows some models only; name one of them in the field model", acct.Slug).At("model")
	}
	var sent []byte
	if x.doc != nil {
		sent, _ = x.doc.Raw(modelList)
	}
	forced, _ := setBy(a.target.Override, modelList)
	usual, _ := setBy(a.target.Default, modelList)
	for _, list := range [...][]byte{sent, forced, usual} {
		if err := listAllowed(acct, list); err != nil {
			return err
		}
	}
	return nil
}

// forOneModel are the endpoints whose calls are for one model, of which a provider takes one
// of its choice where none is named.
var forOneModel = map[llm.Endpoint]bool{
	llm.ChatComplete: true, llm.Complete: true, llm.Embed: true, llm.Messages: true, llm.CreateModelResponse: true,
	llm.ImageGenerate: true, llm.ImageEdit: true, llm.CreateSpeech: true, llm.CreateTranscription: true, llm.CreateTranslation: true,
	llm.Rerank: true, llm.Moderate: true, llm.OCR: true, llm.CreateFinetune: true, llm.Realtime: true,
}

// modelList is the member in which some providers take models to fall back to.
// Source: https://openrouter.ai/docs/features/model-routing, read 2026-11.
const modelList = "models"

func listAllowed(acct *credential.Account, list []byte) error {
	for m := range splice.Elements(list) {
		if model, ok := splice.Unquote(m); ok && !acct.Allows(model) {
			return notAllowed(acct, model, modelList)
		}
	}
	return nil
}

// batchAllowed refuses a batch whose requests stand in the body, each with a model of its
// own, when one of these is not allowed: {"requests":[{"params":{"model":"…"}}]}. It looks
// at what is to be sent, and at every member of a name that stands there twice.
func batchAllowed(acct *credential.Account, body []byte) error {
	for name, requests := range splice.Members(body) {
		if !splice.IsName(name, "requests") {
			continue
		}
		for r := range splice.Elements(requests) {
			if model, ok := strayModel(acct, r); !ok {
				return notAllowed(acct, model, "requests")
			}
		}
	}
	return nil
}

// strayModel finds a model in a batch's request that is not allowed; ok is true when
// there is none.
func strayModel(acct *credential.Account, request []byte) (model string, ok bool) {
	for name, params := range splice.Members(request) {
		if !splice.IsName(name, "params") {
			continue
		}
		for name, val := range splice.Members(params) {
			if model, _ := splice.Unquote(val); splice.IsName(name, "model") && !acct.Allows(model) {
				return model, false
			}
		}
	}
	return "", true
}

func notAllowed(acct *credential.Account, model, at string) error {
	return fault.Newf(fault.ModelNotAllowed, "the provider @%s may not be asked for the model %q", acct.Slug, clip(model)).At(at)
}

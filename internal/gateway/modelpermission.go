package gateway

import (
	"strings"

	"sluice/internal/domain/credential"
	"sluice/internal/gateway/call"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// hiddenModels refuses a call to a provider with restricted models when the call may name a model
// that is not checked: in a body that is not parsed, in a pass-through path, or by leaving the
// choice to the provider. It also checks the lists of fallback models.
func hiddenModels(acct *credential.Account, spec *provider.Spec, a *attempt) error {
	x := a.x
	switch {
	case !acct.Restricted():
		return nil
	case x.bodyNotParsed:
		return fault.Newf(fault.ModelNotAllowed, "the provider @%s restricts models, and the body of this call is not parsed; send it as application/json, a JSON object", acct.Slug).WithParam("model")
	case x.match.Endpoint == llm.Proxy && x.req.Method != "GET" && spec.ModelsInPaths():
		return fault.Newf(fault.ModelNotAllowed, "the provider @%s restricts models, and this pass-through path is not checked; call an endpoint of the gateway, such as /v1/chat/completions", acct.Slug).WithParam("model")
	}
	if a.model == "" && forOneModel[x.match.Endpoint] || x.match.Endpoint == llm.Realtime && strings.Contains(x.req.RawQuery, "deployment") {
		return fault.Newf(fault.ModelNotAllowed, "the provider @%s restricts models; set the field model to an allowed model", acct.Slug).WithParam("model")
	}
	for _, name := range call.ModelLists() {
		if err := listAllowed(acct, a, name); err != nil {
			return err
		}
	}
	return nil
}

// forOneModel are the endpoints whose calls use one model. A provider chooses the model when the
// call names none.
var forOneModel = map[llm.Endpoint]bool{
	llm.ChatComplete: true, llm.Complete: true, llm.Embed: true, llm.Messages: true, llm.CreateModelResponse: true,
	llm.ImageGenerate: true, llm.ImageEdit: true, llm.CreateSpeech: true, llm.CreateTranscription: true, llm.CreateTranslation: true,
	llm.Rerank: true, llm.Moderate: true, llm.OCR: true, llm.CreateFinetune: true, llm.Realtime: true,
}

// listAllowed refuses a disallowed model in such a member, whether the caller sent it or the
// target's config sets it.
func listAllowed(acct *credential.Account, a *attempt, name string) error {
	var sent []byte
	if a.x.doc != nil {
		sent, _ = a.x.doc.Raw(name)
	}
	forced, _ := call.FindParam(a.target.Override, name)
	usual, _ := call.FindParam(a.target.Default, name)
	for _, list := range [...][]byte{sent, forced, usual} {
		if model, ok := firstDisallowedFallback(acct, list); !ok {
			return notAllowed(acct, model, name)
		}
	}
	return nil
}

// firstDisallowedFallback finds a disallowed model in a name, in an object that has one, or in a
// list of either. ok is true when there is none.
func firstDisallowedFallback(acct *credential.Account, raw []byte) (model string, ok bool) {
	if model, named := jsonedit.Unquote(raw); named {
		return model, acct.Allows(model)
	}
	for one := range jsonedit.Elements(raw) {
		if model, ok := firstDisallowedFallback(acct, one); !ok {
			return model, false
		}
	}
	return firstDisallowedModel(acct, raw)
}

// batchAllowed refuses a batch whose body contains a request with a disallowed model:
// {"requests":[{"params":{"model":"…"}}]}. It checks the body to be sent, including duplicate
// members.
func batchAllowed(acct *credential.Account, body []byte) error {
	for name, requests := range jsonedit.Members(body) {
		if !jsonedit.IsName(name, "requests") {
			continue
		}
		for r := range jsonedit.Elements(requests) {
			if model, ok := firstDisallowedInBody(acct, r, "params"); !ok {
				return notAllowed(acct, model, "requests")
			}
		}
	}
	return nil
}

// firstDisallowedInBody applies firstDisallowedModel to the objects in the named member of a
// batch request, or of a line of a batch file.
func firstDisallowedInBody(acct *credential.Account, request []byte, member string) (model string, ok bool) {
	for name, asks := range jsonedit.Members(request) {
		if !jsonedit.IsName(name, member) {
			continue
		}
		if model, ok := firstDisallowedModel(acct, asks); !ok {
			return model, false
		}
	}
	return "", true
}

// firstDisallowedModel finds a disallowed model that an object names, as its model or as a
// fallback. ok is true when there is none.
func firstDisallowedModel(acct *credential.Account, object []byte) (model string, ok bool) {
	for name, val := range jsonedit.Members(object) {
		if model, named := jsonedit.Unquote(val); named && jsonedit.IsName(name, "model") && !acct.Allows(model) {
			return model, false
		}
		for _, list := range call.ModelLists() {
			if !jsonedit.IsName(name, list) {
				continue
			}
			if model, ok := firstDisallowedFallback(acct, val); !ok {
				return model, false
			}
		}
	}
	return "", true
}

func notAllowed(acct *credential.Account, model, param string) error {
	return fault.Newf(fault.ModelNotAllowed, "the provider @%s does not allow the model %q", acct.Slug, clip(model)).WithParam(param)
}

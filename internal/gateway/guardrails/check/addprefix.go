package check

import (
	"bytes"
	"context"
	"slices"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// addPrefix writes a text before the first message of a role, or adds a message with it.
func addPrefix() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.addPrefix", Phases: inputPhase(), Transformer: true, Params: []param.Param{
			param.Required("prefix", param.Text(16_384)), param.Optional("applyToRole", param.OneOf("user", "system", "assistant")),
			param.Optional("addToExisting", param.Boolean), param.Optional("onlyIfEmpty", param.Boolean),
		}},
		New: func(p Params, _ *Deps) (Runner, error) {
			return &prefixRunner{
				prefix: p.Text("prefix", ""), role: p.Text("applyToRole", "user"),
				addToExisting: p.Bool("addToExisting", true), onlyIfEmpty: p.Bool("onlyIfEmpty", false),
			}, nil
		},
	}
}

type prefixRunner struct {
	prefix        string
	role          string
	addToExisting bool // otherwise a message is added before the first one of the role
	onlyIfEmpty   bool // a message of the role that has a text stays as it is
}

// Rewrites implements Rewriter.
func (r *prefixRunner) Rewrites() bool { return true }

// Run writes the prefix. A request without messages and prompt stays as it is.
func (r *prefixRunner) Run(_ context.Context, in *Input) Result {
	data := report{"verdict": true, "prefix": r.prefix, "applyToRole": r.role}
	body, err := r.rewrite(in)
	if err != nil {
		return errorResult("the messages of the request cannot be read", data)
	}
	data["explanation"] = choose(body != nil, "the prefix was added", "the request needs no prefix")
	return Result{Verdict: true, Data: data, Body: body}
}

// rewrite returns the new body, nil if it does not change.
func (r *prefixRunner) rewrite(in *Input) ([]byte, error) {
	body, err := passage.Request(in.Endpoint, in.Body)
	if err != nil {
		return nil, err
	}
	list := body.Passages()
	first := slices.IndexFunc(list, func(p passage.Passage) bool {
		return (string(p.Role) == r.role || in.Endpoint == llm.Complete) && p.Kind == passage.Text && !p.Signed
	})
	switch {
	case first < 0:
		return r.insert(in, 0, true)
	case r.onlyIfEmpty && list[first].Text != "":
		return nil, nil
	case r.addToExisting || in.Endpoint == llm.Complete: // a prompt has no messages
		body.Replace(first, r.prefix+list[first].Text)
		return body.Bytes(), nil
	}
	return r.insert(in, max(list[first].Message, 0), false)
}

// insert adds a message. Its position is that of the message before which it stands; a role that no
// message has comes first (system) or last (others). A body without a list of messages stays.
func (r *prefixRunner) insert(in *Input, before int, missing bool) ([]byte, error) {
	doc := jsonedit.GetDoc()
	defer jsonedit.PutDoc(doc)
	if err := jsonedit.Scan(in.Body, doc); err != nil {
		return nil, err
	}
	if name := instructionsField(in.Endpoint); r.role == "system" && name != "" {
		return doc.Apply([]jsonedit.Edit{jsonedit.Set(name, r.instructions(doc, name))}), nil
	}
	name, list := messageList(in.Endpoint, doc)
	if !bytes.HasPrefix(list, []byte("[")) {
		return nil, nil
	}
	if missing && r.role != "system" {
		before = -1
	}
	message := []byte(`{"role":"` + r.role + `","content":` + string(jsonedit.Quote(r.prefix)) + `}`)
	return doc.Apply([]jsonedit.Edit{jsonedit.Set(name, withElement(list, message, before))}), nil
}

// instructionsField returns the member for instructions of the system, "" for endpoints that have
// messages for them.
func instructionsField(e llm.Endpoint) string {
	switch e {
	case llm.Messages, llm.MessagesCountTokens:
		return "system"
	case llm.CreateModelResponse, llm.CountResponseInputTokens:
		return "instructions"
	default:
		return ""
	}
}

// instructions returns the prefix and the present instructions of a request: a string, or the blocks of
// Messages.
func (r *prefixRunner) instructions(doc *jsonedit.Doc, name string) []byte {
	raw, _ := doc.Raw(name)
	if bytes.HasPrefix(raw, []byte("[")) {
		return withElement(raw, []byte(`{"type":"text","text":`+string(jsonedit.Quote(r.prefix))+`}`), 0)
	}
	present, _ := doc.String(name)
	return jsonedit.Quote(r.prefix + present)
}

// messageList returns the list of messages or items of a request and its name. A string as the input
// of Responses becomes an item.
func messageList(e llm.Endpoint, doc *jsonedit.Doc) (name string, list []byte) {
	if instructionsField(e) != "instructions" {
		list, _ = doc.Raw("messages")
		return "messages", list
	}
	list, _ = doc.Raw("input")
	if bytes.HasPrefix(list, []byte(`"`)) {
		list = []byte(`[{"role":"user","content":` + string(list) + `}]`)
	}
	return "input", list
}

// withElement returns a list with an element before the one at a position; -1 is the end.
func withElement(list, element []byte, before int) []byte {
	out, i := []byte("["), 0
	add := func(raw []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	for raw := range jsonedit.Elements(list) {
		if i == before {
			add(element)
		}
		add(raw)
		i++
	}
	if before < 0 || before >= i {
		add(element)
	}
	return append(out, ']')
}

package gateway

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"sluice/internal/domain/prompt"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// invocation is one run of a saved prompt: the caller's input and the prompt whose request is
// currently in the exchange. Targets of a config may name their own prompts, so the prompt can
// change between attempts.
type invocation struct {
	call  *prompt.Call
	named string       // from the path; empty when only targets name prompts
	plain attemptInput // the caller's own body

	current  string // the prompt of the current request; empty for the caller's own body
	saved    *prompt.Saved
	entry    *prompt.Entry
	compiled *prompt.Compiled
}

// attemptInput is a request as the steps of an attempt read it.
type attemptInput struct {
	match llm.Match
	path  string
	spool *wire.Spool
	doc   *jsonedit.Doc
}

// promptDirectory finds saved prompts and the partials that they include.
type promptDirectory interface {
	FindPrompt(workspace, name string) *prompt.Saved // by slug or id; nil if not found
	Partials(workspace string) prompt.Source
}

// promptRenderer replaces a request by the request that a saved prompt creates.
type promptRenderer struct {
	spoolDir string
	bodies   *bodyReader
}

// openPrompt replaces the caller's call with the request that a saved prompt creates. The later
// steps treat it like any other request.
// Source: contract/content-and-observability.md 1.5.
func (p *promptRenderer) openPrompt(x *exchange) error {
	name, err := url.PathUnescape(x.match.ID)
	if err != nil {
		return noPrompt(x.match.ID)
	}
	inv, err := x.invoke()
	if err != nil {
		return err
	}
	if err := inv.call.NeedVariables(); err != nil {
		return err
	}
	inv.named = name
	x.prompt = inv
	return p.usePrompt(x, name)
}

func (x *exchange) invoke() (*invocation, error) {
	if x.doc == nil {
		return nil, fault.New(fault.InvalidRequest, "the body is required; send a JSON object with variables").WithParam("variables")
	}
	call, err := prompt.ReadCall(x.doc.Source())
	return &invocation{call: call, plain: attemptInput{x.match, x.path, x.spool, x.doc}}, err
}

func noPrompt(name string) error {
	return fault.Newf(fault.NotFound, "unknown prompt %q in this workspace", clip(name)).WithParam("prompt")
}

// expand creates the request of the target's prompt, or of the prompt in the path when the target
// names none. A target's prompt also applies to chats and completions that do not run a prompt.
// Other endpoints ignore it.
func (p *promptRenderer) expand(_ context.Context, a *attempt) error {
	x, configured := a.x, a.target.PromptID
	if x.prompt == nil {
		if configured == "" || x.doc == nil || x.match.Endpoint != llm.ChatComplete && x.match.Endpoint != llm.Complete {
			return nil
		}
		inv, err := x.invoke()
		if err != nil {
			return err
		}
		x.prompt = inv
	}
	promptID := cmp.Or(configured, x.prompt.named)
	switch promptID {
	case x.prompt.current:
		return nil
	case "":
		return p.useOriginalBody(x)
	}
	return p.usePrompt(x, promptID)
}

// usePrompt renders a prompt and sets the result as the body of the exchange.
func (p *promptRenderer) usePrompt(x *exchange, name string) error {
	inv, workspaceID := x.prompt, x.key.Principal.WorkspaceID
	slug, suffix := prompt.Split(name)
	saved := x.dir.FindPrompt(workspaceID, slug)
	if saved == nil {
		return noPrompt(slug)
	}
	entry := saved.Find(suffix)
	if entry == nil {
		return fault.Newf(fault.NotFound, "the prompt %s has no version %q", saved.Slug, clip(suffix)).WithParam("prompt")
	}
	compiled, err := entry.Compiled()
	if err != nil {
		return err
	}
	body, err := compiled.Body(inv.call, x.dir.Partials(workspaceID))
	if err != nil {
		return err
	}
	made := attemptInput{llm.Match{Endpoint: llm.Complete, Body: llm.JSON}, "/completions", wire.NewSpool(p.spoolDir), jsonedit.GetDoc()}
	if body.Chat {
		made.match.Endpoint, made.path = llm.ChatComplete, "/chat/completions"
	}
	if _, err := made.spool.Write(body.JSON); err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	raw, err := made.spool.Bytes()
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	if err := jsonedit.Scan(raw, made.doc); err != nil {
		return err
	}
	inv.current, inv.saved, inv.entry, inv.compiled = name, saved, entry, compiled
	return p.have(x, made)
}

// useOriginalBody restores the caller's body.
func (p *promptRenderer) useOriginalBody(x *exchange) error {
	inv := x.prompt
	inv.current, inv.saved, inv.entry, inv.compiled = "", nil, nil, nil
	return p.have(x, inv.plain)
}

// have replaces the request of the exchange. Earlier bodies are retained until the exchange is
// closed, because an earlier attempt or the call may still reference them.
func (p *promptRenderer) have(x *exchange, body attemptInput) error {
	if x.spool != body.spool {
		x.made = append(x.made, x.spool)
	}
	x.match, x.path, x.spool, x.doc = body.match, body.path, body.spool, body.doc
	x.account, x.model = "", ""
	return p.bodies.readFields(x)
}

// provider returns the saved provider of the prompt, or "". A nil invocation returns "".
func (i *invocation) provider() string {
	if i == nil || i.compiled == nil {
		return ""
	}
	return strings.TrimPrefix(i.compiled.VirtualKey, "@")
}

// describe records the prompt.
func (i *invocation) describe(r *record.Attempt) {
	if i != nil && i.saved != nil {
		r.PromptID, r.PromptVersionID, r.PromptSlug = i.saved.ID, i.entry.ID, i.saved.Slug
	}
}

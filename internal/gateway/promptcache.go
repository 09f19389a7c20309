package gateway

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/metering"
	"sluice/internal/gateway/promptcache"
	"sluice/internal/gateway/promptcache/pins"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// promptCacher makes use of the prompt caches of providers: it prepares upstream bodies for them, and
// pins conversations to the targets whose caches are warm.
type promptCacher struct {
	pins *pins.Pins
}

// maxPins limits the conversations of a node that are pinned, to about 40 MB. (ours)
const maxPins = 100_000

// promptCached is how an attempt uses the prompt cache of its provider. promptCacher writes it.
type promptCached struct {
	support    promptcache.Support
	hourMark   bool // a mark of the body lasts an hour
	placed     []string
	unaccepted int // marks that the target does not accept
}

// cachesPrompt reports whether the config of the attempt's target uses prompt caches.
func (a *attempt) cachesPrompt() bool { return a.target.ProviderCache == routing.ProviderCacheAuto }

// isConversation reports whether the calls of an endpoint contain conversations.
func isConversation(ep llm.Endpoint) bool {
	return ep == llm.ChatComplete || ep == llm.Messages || ep == llm.CreateModelResponse
}

// prepare changes the shaped body of an attempt for the prompt cache of its target. Without
// "provider_cache": "auto" it only removes what the target does not accept, or what would change the
// cached prefix with every call. It names the removed marks.
func (p *promptCacher) prepare(a *attempt) error {
	a.promptCached = promptCached{}
	if !a.unified() || !isConversation(a.x.match.Endpoint) || a.x.form != nil || a.x.direct != nil {
		return nil
	}
	auto := a.cachesPrompt()
	if !auto && !a.mayHaveMarks() {
		return nil
	}
	a.support = promptcache.Find(promptcache.Target{
		Provider: a.spec.ID, Dialect: string(a.plan.Endpoint.Dialect), Endpoint: a.plan.Requested, Model: a.revealingModel(),
	})
	if a.support.Kind == promptcache.Automatic && a.customHost() != "" {
		return nil // the host may be that of another service, which accepts marks
	}
	body, err := inMemory(a.body)
	if err != nil {
		return err
	}
	ready := a.support.Prepare(body, promptcache.Options{Auto: auto})
	a.hourMark, a.placed, a.unaccepted = ready.Hour, ready.Placed, len(ready.Dropped)
	a.body = wire.Bytes(ready.Body)
	for i, more := range a.more {
		a.more[i] = a.support.Prepare(more, promptcache.Options{Auto: auto}).Body
	}
	if len(ready.Dropped) == 0 {
		return nil
	}
	return a.recordDropped(slices.Concat(a.unsupported, ready.Dropped))
}

// mayHaveMarks reports whether the caller's body may contain marks, or the line of coding agents. It is
// false for most bodies.
func (a *attempt) mayHaveMarks() bool {
	return a.x.doc != nil && promptcache.MayApply(a.x.doc.Source())
}

// revealingModel returns the name of the attempt's model that reveals its family best.
func (a *attempt) revealingModel() string {
	switch {
	case a.plan.Underlying != "":
		return a.plan.Underlying
	case a.plan.Model != "":
		return a.plan.Model
	}
	return a.model
}

// inMemory returns the bytes of a body. A large one is read from its file.
func inMemory(p wire.Payload) ([]byte, error) {
	if b, ok := p.Memory(); ok {
		return b, nil
	}
	b, err := io.ReadAll(p.Open())
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err)
	}
	return b, nil
}

// warmConversation is the conversation of a request, for the pins. promptCacher writes it.
type warmConversation struct {
	conversation pins.Key
	identified   bool   // the conversation is known
	destination  string // the preferred target; empty without one
}

// Prefer implements routing.Preference: it returns the target whose prompt cache is warm for the
// conversation.
func (f conditionInputs) Prefer(targets []*routing.Target) int {
	x := f.x
	if !x.identify() {
		return -1
	}
	destinations := make([]string, len(targets))
	for i, t := range targets {
		destinations[i] = t.Destination()
	}
	preferred, ok := x.walker.promptCache.pins.Prefer(x.conversation, destinations)
	if !ok {
		return -1
	}
	x.destination = preferred
	return slices.Index(destinations, preferred)
}

// identify determines the conversation of a request. It reports false if it has none. Models have
// separate caches, so that a conversation is pinned for each model.
func (x *exchange) identify() bool {
	if x.identified || x.doc == nil || !isConversation(x.match.Endpoint) {
		return x.identified
	}
	name := promptcache.Conversation(x.req.Header.Get, x.doc.Source())
	if name == "" {
		return false
	}
	p := &x.key.Principal
	x.conversation, x.identified = pins.NewKey(p.WorkspaceID, p.ID, x.model+"\x00"+name), true
	return true
}

// finish pins the conversation of an attempt that is being recorded to its target, or removes the pin
// if the target failed.
func (p *promptCacher) finish(a *attempt, r *record.Attempt) {
	x := a.x
	if !x.identified || !a.cachesPrompt() || a.auxiliary || a.estimated || a.hit != nil {
		return
	}
	switch destination := a.target.Destination(); {
	case a.targetFailed(r):
		p.pins.Drop(x.conversation, destination)
	case a.upstream >= 200 && a.upstream < 300:
		p.pins.Warm(x.conversation, destination, a.support.Lifetime(r.Usage, a.hourMark))
	}
}

// callersFault are the statuses of errors that a conversation would get from every target.
var callersFault = map[int]bool{400: true, 413: true, 422: true}

// targetFailed reports whether an attempt failed because of its target: an error, an overload, or a
// response that broke off.
func (a *attempt) targetFailed(r *record.Attempt) bool {
	if a.denied || a.fault != nil && metering.IsCallerRefusal(a.fault) {
		return false
	}
	switch r.Outcome {
	case record.OK, record.ClientGone, record.Interrupted:
		return a.failing != 0
	case record.Timeout, record.Unreachable, record.Invalid:
		return true
	default:
		return !callersFault[a.status]
	}
}

// recordedPromptCache is the recorded form of promptCached. (ours)
type recordedPromptCache struct {
	Placed  []string `json:"placed,omitempty"`     // blocks that got a mark
	Dropped int      `json:"dropped,omitempty"`    // marks that the target does not accept
	Pinned  bool     `json:"pinned,omitempty"`     // the target was preferred, because its cache was warm
	Saved   *int64   `json:"saved_nano,omitempty"` // nano-dollars; nil if they are not known
}

// recordPromptCache adds the use of the provider's prompt cache to the record of an attempt, once its
// ledger entry is closed.
func (a *attempt) recordPromptCache(r *record.Attempt) {
	if !a.cachesPrompt() && a.unaccepted == 0 || a.hit != nil || a.plan == nil {
		return
	}
	out := recordedPromptCache{Placed: a.placed, Dropped: a.unaccepted}
	out.Pinned = a.x.destination != "" && a.x.destination == a.target.Destination()
	if saved, known := a.savedByPromptCache(); known {
		out.Saved = &saved
	}
	if text, err := json.Marshal(&out); err == nil && !bytes.Equal(text, []byte("{}")) {
		r.PromptCache = string(text)
	}
}

// savedByPromptCache returns what the provider's prompt cache saved, in nano-dollars. It reports false
// if the provider reported no usage, or if a price is missing.
func (a *attempt) savedByPromptCache() (nano int64, known bool) {
	if a.money == nil {
		return 0, false
	}
	charge := a.money.Charge()
	if charge.Card == nil || !charge.Usage.Reported {
		return 0, false
	}
	u := charge.Basis.Units(a.x.match.Endpoint, &charge.Usage)
	u.StartedAt = a.started
	return promptcache.Saved(charge.Card, &u)
}

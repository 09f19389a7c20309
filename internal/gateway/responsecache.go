package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/flight"
	"sluice/internal/gateway/cache/replay"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/gateway/call"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// The values of x-gateway-cache-status.
// Source: contract/dataplane.md 2.
const (
	cacheHit      = "HIT"
	cacheMiss     = "MISS"
	cacheRefresh  = "REFRESH"
	cacheDisabled = "DISABLED"
)

// cached is what the response cache decided about an attempt. responseCache writes it.
type cached struct {
	cacheStatus string // of the response header and the record; empty is DISABLED
	cacheLookup time.Duration
	cacheKey    cachekey.Key
	hit         *entry.Entry // the stored response; nil to call the provider
	turn        *flight.Turn // of the call, which others may wait for; nil without one
	leave       context.CancelFunc
	stored      []byte            // the response to store; nil if it may not be stored
	assembler   *replay.Assembler // of a stream to store
	semantic    semanticLookup
}

// callContext returns the context of the provider call: it outlives the client while other callers
// wait for the response.
func (c *cached) callContext(client context.Context) context.Context {
	if c.turn == nil {
		return client
	}
	ctx, cancel := c.turn.Context(client)
	c.leave = cancel
	return ctx
}

// endTurn ends the turn of an attempt that stored nothing.
func (c *cached) endTurn() {
	if c.turn != nil {
		c.turn.Fail()
	}
	if c.leave != nil {
		c.leave()
		c.leave = nil
	}
}

// CacheParts are the parts of the response cache.
type CacheParts struct {
	Store    store.Store // nil disables the cache
	MaxBytes int         // limit of a stored response
	Semantic *Semantic   // nil disables the semantic mode
}

// responseCache looks up the responses of calls and stores them.
// Source: contract/dataplane.md 4.7.
type responseCache struct {
	CacheParts
	flight     *flight.Group
	accountant *accountant
	guardrails *guardrailStep
	hasher     *keys.Hasher
	clock      ident.Clock
	inner      *innerCaller
	storing    chan struct{} // one element for each question that is being stored
}

// cacheable are the endpoints whose responses are stored.
var cacheable = map[llm.Endpoint]bool{
	llm.ChatComplete: true, llm.Complete: true, llm.Messages: true, llm.CreateModelResponse: true, llm.Embed: true,
	llm.ImageGenerate: true, llm.Moderate: true, llm.Rerank: true,
}

// applies reports whether the cache is active for an attempt.
func (c *responseCache) applies(a *attempt) bool {
	x := a.x
	switch {
	case c.Store == nil || a.target.Cache == nil || !cacheable[x.match.Endpoint] || x.ctl.Debug == "false" || x.inner != nil:
		return false
	case a.estimated || a.auxiliary || x.doc == nil || x.form != nil || x.direct != nil || !a.unified():
		return false
	}
	return x.match.Endpoint != llm.CreateModelResponse || isStateless(a.params())
}

// isStateless reports whether no one can refer to a response of the Responses API later. The response
// of a hit has a new id, which its provider could not find.
func isStateless(p call.Params) bool {
	if p.Value("store").Type != gjson.False || p.Value("background").Type == gjson.True {
		return false
	}
	return !p.Value("previous_response_id").Exists() && !p.Value("conversation").Exists()
}

// lookup looks the response of an attempt up. Without one, it enters the group of equal calls.
func (c *responseCache) lookup(ctx context.Context, a *attempt) error {
	if !c.applies(a) {
		return nil
	}
	started := c.clock.Now()
	defer func() { a.cacheLookup = c.clock.Now().Sub(started) }()
	in, ok := c.input(a)
	if !ok {
		return nil
	}
	a.cacheKey = keyOf(a, &in)
	a.cacheStatus = cacheMiss
	if a.x.ctl.CacheRefresh == "true" {
		a.cacheStatus = cacheRefresh
		c.prepareSemantic(ctx, a, &in)
		return nil
	}
	if e, found := c.Store.Get(ctx, a.cacheKey); found {
		a.hit, a.cacheStatus = e, cacheHit
		return nil
	}
	if c.findSemantic(ctx, a, &in) {
		return nil
	}
	return c.enter(ctx, a)
}

// enter joins the calls that are equal to the attempt's.
func (c *responseCache) enter(ctx context.Context, a *attempt) error {
	turn, e, err := c.flight.Enter(ctx, a.cacheKey)
	switch {
	case err != nil:
		return clientGone(ctx, err)
	case e == nil:
		a.turn = turn
		e, _ = c.Store.Get(ctx, a.cacheKey) // another leader may have ended since the lookup
		if e == nil {
			return nil
		}
		turn.Share(e)
	}
	a.hit, a.cacheStatus = e, cacheHit
	return nil
}

// input returns what the response of an attempt depends on. It returns false for a body that is not in
// memory.
func (c *responseCache) input(a *attempt) (cachekey.Input, bool) {
	body, ok := a.body.Memory()
	if !ok {
		return cachekey.Input{}, false
	}
	x, p := a.x, &a.x.key.Principal
	return cachekey.Input{
		Organisation: p.OrgID, Workspace: p.WorkspaceID, Provider: a.spec.ID, Host: a.plan.Scheme + "://" + a.plan.Host + formlessPath.Replace(a.plan.Target),
		Scope: c.credentialScope(a) + "|" + a.responseForm(), Endpoint: x.match.Endpoint, Model: a.model, Body: body,
		Metadata: x.metadata, Header: a.header, Namespace: x.ctl.CacheNamespace, Guardrails: a.hooks.Versions(), Vary: a.target.Cache.Vary,
	}, true
}

// formlessPath removes from the address of a call what selects the form of the response: a stream and
// a complete response have one key.
var formlessPath = strings.NewReplacer(
	":streamGenerateContent", ":generateContent", ":streamRawPredict", ":rawPredict", "/converse-stream", "/converse",
	"/invoke-with-response-stream", "/invoke", "?alt=sse&", "?", "?alt=sse", "", "&alt=sse", "",
)

// keyOf returns the cache key of an attempt. The body of a translated call counts in both formats,
// because the response has names from the caller's.
func keyOf(a *attempt, in *cachekey.Input) cachekey.Key {
	key := cachekey.Compute(in)
	if !a.speech.translates() {
		return key
	}
	client := *in
	client.Body = a.x.doc.Source()
	other := cachekey.Compute(&client)
	return sha256.Sum256(append(append(make([]byte, 0, 2*sha256.Size), key[:]...), other[:]...))
}

// credentialScope identifies the credentials of an attempt without containing them.
func (c *responseCache) credentialScope(a *attempt) string {
	if a.account != nil {
		return "saved:" + a.account.RecordID + "/" + a.account.IntegrationID
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(a.values)) {
		b.WriteString(name)
		b.WriteByte(0)
		b.WriteString(a.values[name])
		b.WriteByte(0)
	}
	return "inline:" + fmt.Sprint(c.hasher.Sum(b.String()))
}

// responseForm identifies what converts a response after the provider sent it.
func (a *attempt) responseForm() string {
	form := "strict"
	if !a.strict {
		form = "plain"
	}
	if a.x.wantsBase64() {
		form += ",base64"
	}
	return form
}

// serve makes a stored response the response of the attempt. Output hooks do not run again: the key
// contains the versions of those that judged it.
func (c *responseCache) serve(ctx context.Context, a *attempt) error {
	if err := c.accountant.takeHit(ctx, a); err != nil {
		return err
	}
	e, x := a.hit, a.x
	a.status = e.Status
	if a.failed {
		a.status = statusHooksFailed
	}
	o := replay.Options{Now: c.clock.Now(), IncludeUsage: requestsUsage(x.doc)}
	a.log().Spend.Saved, a.log().ResponseModel = e.CostNano, e.Model
	a.response.header = append(wire.Header{{Name: "content-type", Value: e.ContentType}}, e.Header...)
	if !a.wantsStream() || !replay.CanStream(x.match.Endpoint) {
		a.response.body = replay.JSON(x.match.Endpoint, e.Body, o)
		a.log().Response = record.NewBody(e.ContentType, a.response.body, int64(len(a.response.body)), c.guardrails.bodyLogBytes)
		return c.guardrails.addResults(ctx, a)
	}
	a.response.header[0].Value = "text/event-stream"
	stream := replay.Stream(nil, x.match.Endpoint, e.Body, o)
	stream = newHookEvents(a, stream).insert(stream)
	a.resp = &transport.Response{Status: 200, Body: io.NopCloser(bytes.NewReader(stream)), Length: int64(len(stream))}
	a.first = wire.GetSmallBuffer()[:0]
	return nil
}

// requestsUsage reports whether a caller requests the usage of a stream.
func requestsUsage(d *jsonedit.Doc) bool {
	options, ok := d.Raw("stream_options")
	if !ok {
		return false
	}
	value, _ := jsonedit.Find(options, "include_usage")
	return string(value) == "true"
}

// capture notes the response of an attempt, to be stored once it is complete.
func (c *responseCache) capture(_ context.Context, a *attempt) error {
	if a.cacheStatus == "" || a.status != 200 && !(a.status == statusHooksFailed && a.failedInput && !a.failedAfter) {
		return nil
	}
	ep := a.x.match.Endpoint
	if a.first != nil {
		if s, ok := replay.NewAssembler(ep, c.MaxBytes); ok {
			s.Feed(a.first)
			a.assembler = s
			a.resp.Body = &assembledBody{a.resp.Body, s}
		}
		return nil
	}
	if a.response.live || entry.Storable(&entry.Candidate{Endpoint: ep, Status: 200, Body: a.response.body}, c.MaxBytes) != "" {
		return nil
	}
	a.stored = bytes.Clone(a.response.body)
	return nil
}

// assembledBody is a stream whose bytes are assembled to a complete response while it is relayed.
type assembledBody struct {
	io.ReadCloser
	assembler *replay.Assembler
}

// Read implements io.Reader.
func (b *assembledBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.assembler.Feed(p[:n])
	return n, err
}

// finish stores the response of an attempt that is being recorded, and lets equal calls go on.
func (c *responseCache) finish(a *attempt, r *record.Attempt) {
	if a.cacheStatus == "" || a.hit != nil {
		return
	}
	defer a.endTurn()
	body := c.complete(a, r)
	if body == nil {
		if a.turn != nil && r.Outcome == record.OK {
			a.turn.Release()
		}
		return
	}
	e := c.entry(a, r, body)
	c.Store.Put(context.Background(), a.cacheKey, e)
	c.storeSemantic(a, e)
	if a.turn != nil {
		a.turn.Share(e)
	}
}

// complete returns the complete response to store; nil if it may not be stored: an output hook failed, also
// one that only reports on a stream.
func (c *responseCache) complete(a *attempt, r *record.Attempt) []byte {
	if r.Outcome != record.OK && !a.drained || a.denied || a.failedAfter {
		return nil
	}
	if a.assembler == nil {
		return a.stored
	}
	s := a.assembler.Result()
	a.assembler = nil
	body := withoutResults(s.Body)
	if entry.Storable(&entry.Candidate{Endpoint: a.x.match.Endpoint, Status: 200, Body: body, Cut: s.Cut, Failed: s.Failed}, c.MaxBytes) != "" {
		return nil
	}
	return body
}

// withoutResults returns a response without the results of hooks, which belong to one call.
func withoutResults(body []byte) []byte {
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if len(body) == 0 || jsonedit.Scan(body, d) != nil || !d.Has("hook_results") {
		return body
	}
	return d.Apply([]jsonedit.Edit{jsonedit.Drop("hook_results")})
}

// entry returns the cache entry of an attempt.
func (c *responseCache) entry(a *attempt, r *record.Attempt, body []byte) *entry.Entry {
	now, x, p := c.clock.Now(), a.x, &a.x.key.Principal
	return &entry.Entry{
		Endpoint: x.match.Endpoint, Status: 200, ContentType: "application/json", Body: body, Usage: r.Usage, CostNano: r.Spend.Cost,
		Latency: now.Sub(a.started), Provider: a.spec.ID, Model: strings.Clone(r.ResponseModel), Created: now, Expires: now.Add(c.maxAge(a)),
		Tags: entry.Tags{
			Organisation: p.OrgID, Workspace: p.WorkspaceID, APIKey: p.ID, Namespace: strings.Clone(x.ctl.CacheNamespace), Config: strings.Clone(x.configID), Model: strings.Clone(a.model),
		},
		Guardrails: a.hooks.Versions(), Matched: a.semantic.text,
	}
}

// maxAge returns how long a response is stored: as the config requests, at most as the organisation
// permits.
// Source: contract/dataplane.md 4.7 (TTL).
func (c *responseCache) maxAge(a *attempt) time.Duration {
	requested := a.target.Cache.MaxAge
	var limit time.Duration
	if a.x.scope != nil {
		limit = a.x.scope.CacheTTL
	}
	switch {
	case requested == 0 && limit > 0:
		return limit
	case requested == 0:
		return store.DefaultMaxAge
	case limit > 0:
		return min(requested, limit)
	}
	return requested
}

// mode returns the cache mode of the attempt's target; empty without a cache.
func (a *attempt) cacheMode() routing.CacheMode {
	if a.target.Cache == nil {
		return ""
	}
	return a.target.Cache.Mode
}

// recordedLookup is the recorded form of a lookup.
// Source: contract/dataplane.md 9 (log entry); matched, cosine and guard are ours.
type recordedLookup struct {
	Key     string  `json:"key"` // hexadecimal
	Mode    string  `json:"mode"`
	MaxAge  int64   `json:"max_age"`           // seconds
	Matched string  `json:"matched,omitempty"` // the stored question that the semantic mode found
	Cosine  float32 `json:"cosine,omitempty"`
	Guard   string  `json:"guard,omitempty"`       // result of the guard on words
	Error   string  `json:"error,omitempty"`       // why the semantic mode did not apply
	Saved   int64   `json:"saved_nano,omitempty"`  // nano-dollars
	Lookup  int64   `json:"lookup_nano,omitempty"` // cost of the embedding in nano-dollars
}

// recordCache adds the lookup to the record of an attempt. Without recorded bodies it leaves out the
// stored question.
func (a *attempt) recordCache(r *record.Attempt) {
	if a.cacheStatus == "" {
		return
	}
	s := &a.semantic
	out := recordedLookup{
		Key: a.cacheKey.String(), Mode: string(a.cacheMode()), MaxAge: int64(a.target.Cache.MaxAge / time.Second),
		Cosine: s.best.Cosine, Guard: string(s.best.Guard), Saved: r.Spend.Saved, Lookup: s.costNano,
	}
	if s.err != nil {
		out.Error = s.err.Error()
	}
	if a.x.capturesBodies() {
		out.Matched = s.best.Text
	}
	if text, err := json.Marshal(&out); err == nil {
		r.Lookup = string(text)
	}
}

package gateway

import (
	"context"
	"sync"

	"sluice/internal/domain/routing"
	"sluice/internal/gateway/metering"
	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
)

// scratch is pooled per-request memory. Allocating it per request would cost more than the
// gateway's own work. One exchange uses it at a time, and its attempts use it one after another.
type scratch struct {
	exchange       exchange
	attempt        attempt
	visit          routing.Try                           // of the exchange, created once
	detach         func(context.Context) context.Context // of the attempt's call, created once
	body           wire.Spool                            // of the client
	responseSpool  wire.Spool                            // of the upstream
	values         provider.Values
	plan           provider.Plan
	sent           wire.Header // to the upstream, without the credential
	signed         wire.Header // to the upstream, with the credential
	clientHeader   wire.Header // to the client
	signing        sign.Request
	request        transport.Request
	responseBuffer transport.ResponseBuffer
	opened         opened // the response body, if its beginning was read

	caller  metering.Caller  // limits of the caller
	account metering.Account // money of the attempt
	subject metering.Subject // whom it is charged to
	bounds  bound.Call       // the call, as its charge depends on it
	heads   []byte           // of the record: headers with masked secrets
}

var scratchPool = sync.Pool{New: func() any {
	r := &scratch{values: make(provider.Values, 4)}
	r.visit = func(ctx context.Context, t *routing.Target) routing.Outcome {
		return r.exchange.walker.attemptTarget(ctx, &r.exchange, t)
	}
	r.detach = func(ctx context.Context) context.Context { return r.exchange.caller.detach(ctx, &r.attempt) }
	return r
}}

// acquireScratch returns a scratch from the pool.
func acquireScratch() *scratch { return scratchPool.Get().(*scratch) }

// release clears the scratch and returns it to the pool. Nothing may reference the exchange any
// more. After a panic that is uncertain, so the scratch is left to the garbage collector.
func (r *scratch) release() {
	r.exchange = exchange{} // one by one: a combined literal would be built on the stack first
	r.attempt.reset()
	r.plan = provider.Plan{}
	r.signing = sign.Request{}
	r.request = transport.Request{}
	r.responseBuffer.Clear()
	r.opened = opened{}
	clear(r.values)
	r.caller.Reset()
	r.account.Reset()
	r.subject = metering.Subject{}
	r.bounds = bound.Call{}
	for _, h := range [...]*wire.Header{&r.sent, &r.signed, &r.clientHeader} {
		*h = resetHeader(*h)
	}
	scratchPool.Put(r)
}

// resetHeader empties a header, keeps its capacity and clears its references.
func resetHeader(h wire.Header) wire.Header {
	clear(h[:cap(h)])
	return h[:0]
}

// fresh returns the empty map for an attempt's values.
func (r *scratch) fresh() provider.Values {
	clear(r.values)
	return r.values
}

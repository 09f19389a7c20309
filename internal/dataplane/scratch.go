package dataplane

import (
	"context"
	"sync"

	"sluice/internal/catalog"
	"sluice/internal/ledger"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
	"sluice/internal/quota"
	"sluice/internal/routing"
	"sluice/internal/wire"
)

// scratch is what a request is served in. Making it anew for each would cost more than the
// gateway's own work, so that it is lent from one request to the next. An exchange has it
// to itself; of its attempts, which follow one another, the one at hand has it.
type scratch struct {
	exchange       exchange
	attempt        attempt
	visit          routing.Try                           // of the exchange, made once
	detach         func(context.Context) context.Context // of the attempt's call, made once
	body           wire.Spool                            // the client's
	responseSpool  wire.Spool                            // the upstream's
	values         provider.Values
	plan           provider.Plan
	sent           wire.Header // to the upstream, without the credential
	signed         wire.Header // and with it
	clientHeader   wire.Header // to the client
	signing        sign.Request
	request        transport.Request
	responseBuffer transport.ResponseBuffer
	opened         opened // the body of answer, where its beginning was looked at

	caller      []quota.Hold    // taken from the limits of the caller
	holds       []quota.Hold    // taken by the attempt
	rateHolds   []quota.Hold    // those of them that are rates, while they are gathered
	both        []quota.Hold    // of the caller and the attempt, asked in one
	call        quota.Call      // as policies look at it
	reservation *reservation    // of the attempt; made for the first call that is metered
	used        []int64         // of either
	charges     []ledger.Charge // of its line
	closing     []byte          // that line
	terms       []catalog.Term  // of its bill
	termText    []byte
	heads       []byte // of the record: header lines, secrets masked
}

var scratchPool = sync.Pool{New: func() any {
	r := &scratch{values: make(provider.Values, 4)}
	r.visit = func(ctx context.Context, t *routing.Target) routing.Outcome {
		return r.exchange.g.attemptTarget(ctx, &r.exchange, t)
	}
	r.detach = func(ctx context.Context) context.Context { return r.exchange.g.detach(ctx, &r.attempt) }
	return r
}}

// acquireScratch takes a room for a request.
func acquireScratch() *scratch { return scratchPool.Get().(*scratch) }

// release gives the room back without a trace of the request. Nothing of the exchange may
// be in anybody's hands any more: after a panic, where that is not known, the room is
// left to the collector.
func (r *scratch) release() {
	r.exchange = exchange{} // one by one: together they would be made on the stack first
	r.attempt.reset()
	r.plan = provider.Plan{}
	r.signing = sign.Request{}
	r.request = transport.Request{}
	r.responseBuffer.Clear()
	r.opened = opened{}
	clear(r.values)
	clear(r.caller[:cap(r.caller)])
	clear(r.holds[:cap(r.holds)])
	clear(r.rateHolds[:cap(r.rateHolds)])
	clear(r.both[:cap(r.both)])
	clear(r.charges[:cap(r.charges)])
	r.call = quota.Call{}
	if r.reservation != nil {
		*r.reservation = reservation{}
	}
	r.caller, r.holds, r.both, r.charges = r.caller[:0], r.holds[:0], r.both[:0], r.charges[:0]
	for _, h := range [...]*wire.Header{&r.sent, &r.signed, &r.clientHeader} {
		*h = resetHeader(*h)
	}
	scratchPool.Put(r)
}

// resetHeader is a header's space, with nothing in it to hold on to.
func resetHeader(h wire.Header) wire.Header {
	clear(h[:cap(h)])
	return h[:0]
}

// fresh is the map for an attempt's values, empty.
func (r *scratch) fresh() provider.Values {
	clear(r.values)
	return r.values
}

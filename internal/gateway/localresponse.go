package gateway

import (
	"context"

	"sluice/internal/kernel/wire"
)

// respondLocally sends a JSON body that the gateway created, with status 200.
func (r *responder) respondLocally(x *exchange, body []byte) error {
	x.status, x.headSent = 200, true
	h := append(r.clientHeaders.addGatewayHeaders(make(wire.Header, 0, 4), x), wire.Field{Name: "content-type", Value: "application/json"})
	if err := x.out.Head(200, h, int64(len(body))); err != nil {
		return err
	}
	_, err := x.out.Write(body)
	return err
}

// serveStoredResponse responds to a call for a response that the gateway stores.
func (r *responder) serveStoredResponse(ctx context.Context, x *exchange) error {
	body, err := r.states.Respond(ctx, x.key.Principal.WorkspaceID, x.match, x.req.RawQuery)
	if err != nil {
		return err
	}
	return r.respondLocally(x, body)
}

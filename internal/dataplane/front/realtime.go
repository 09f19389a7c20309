package front

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"

	"sluice/internal/dataplane"
	"sluice/internal/fault"
	"sluice/internal/wire"
)

// frameMax is the largest WebSocket message: realtime audio comes in pieces well
// below it.
const frameMax = 16 << 20

func (h *Handler) realtime(w http.ResponseWriter, r *http.Request, in *wire.Request) {
	c := &client{responder: responder{w: w, patience: h.patience}, r: r}
	if err := h.gateway.Realtime(r.Context(), in, c); err != nil && !c.accepted {
		panic(http.ErrAbortHandler)
	}
}

// client is a caller whose request asks for a WebSocket.
type client struct {
	responder
	r        *http.Request
	accepted bool
}

// Accept completes the handshake. The subprotocol that the caller offers first is
// agreed to: OpenAI's browser clients send one.
func (c *client) Accept(h wire.Header) (dataplane.Socket, error) {
	for _, f := range h {
		c.w.Header().Set(f.Name, f.Value)
	}
	conn, err := websocket.Accept(c.w, c.r, &websocket.AcceptOptions{
		Subprotocols:       subprotocols(c.r.Header),
		InsecureSkipVerify: true, // the key in the request decides, not the page's origin
	})
	if err != nil {
		return nil, err
	}
	c.accepted = true
	conn.SetReadLimit(frameMax)
	return socket{conn}, nil
}

func subprotocols(h http.Header) []string {
	var list []string
	for _, line := range h.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(line, ",") {
			list = append(list, strings.TrimSpace(p))
		}
	}
	return list
}

// Dialer opens WebSockets with a client that guards the addresses.
type Dialer struct{ HTTP *http.Client }

// Dial opens an address, an http or https one. A refused handshake is fault.UpstreamFailed
// with the status of the refusal.
func (d Dialer) Dial(ctx context.Context, address string, h wire.Header) (dataplane.Socket, error) {
	opts := &websocket.DialOptions{HTTPClient: d.HTTP, HTTPHeader: http.Header{}}
	for _, f := range h {
		switch {
		case f.Name == "sec-websocket-protocol":
			opts.Subprotocols = append(opts.Subprotocols, f.Value)
		case strings.HasPrefix(f.Name, "sec-websocket-"), f.Name == "content-type":
		default:
			opts.HTTPHeader.Add(f.Name, f.Value)
		}
	}
	conn, resp, err := websocket.Dial(ctx, address, opts)
	if err != nil {
		if e := (*url.Error)(nil); errors.As(err, &e) {
			err = e.Err // without the URL: a key may stand in its query
		}
		f := fault.From(err)
		if f.Code == fault.Internal {
			f = fault.New(fault.UpstreamFailed, "the provider did not open the realtime connection").Because(err)
		}
		if resp != nil && resp.StatusCode >= 400 {
			f.Status = resp.StatusCode
		}
		return nil, f
	}
	conn.SetReadLimit(frameMax)
	return socket{conn}, nil
}

// socket carries a conversation over a websocket.Conn.
type socket struct{ c *websocket.Conn }

// Read returns the next message.
func (s socket) Read(ctx context.Context) (bool, []byte, error) {
	typ, data, err := s.c.Read(ctx)
	var ce websocket.CloseError
	if errors.As(err, &ce) {
		err = &dataplane.Closed{Code: int(ce.Code), Reason: ce.Reason}
	}
	return typ == websocket.MessageText, data, err
}

// Write sends one message.
func (s socket) Write(ctx context.Context, text bool, data []byte) error {
	typ := websocket.MessageBinary
	if text {
		typ = websocket.MessageText
	}
	return s.c.Write(ctx, typ, data)
}

// Close ends the conversation.
func (s socket) Close(code int, reason string) error {
	return s.c.Close(websocket.StatusCode(code), reason)
}

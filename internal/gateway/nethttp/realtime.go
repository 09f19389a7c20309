package nethttp

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"

	gatewaycall "sluice/internal/gateway/call"
	"sluice/internal/gateway/realtime"
	"sluice/internal/http1/syntax"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// frameMax is the maximum size of a WebSocket message in bytes. Chunks of realtime audio are much
// smaller.
const frameMax = 16 << 20

func (h *Handler) realtime(w http.ResponseWriter, r *http.Request, req *wire.Request) {
	c := &client{responder: responder{w: w, patience: h.patience}, r: r}
	if f := handshake(r); f != nil {
		refuse(w, f)
		return
	}
	if err := h.gateway.Realtime(r.Context(), req, c); err != nil && !c.accepted {
		panic(http.ErrAbortHandler)
	}
	if !c.accepted {
		c.release()
	}
}

// websocketVersion is the only supported version. Source: RFC 6455 section 4.1.
const websocketVersion = "13"

// handshake validates a request for a WebSocket before any connection is opened for it. It
// returns nil for a valid request. Source: RFC 6455 section 4.2.1.
func handshake(r *http.Request) *fault.Error {
	var what string
	keys := r.Header.Values("Sec-Websocket-Key")
	switch versions := r.Header.Values("Sec-Websocket-Version"); {
	case r.Method != http.MethodGet || !r.ProtoAtLeast(1, 1):
		what = "the request must be an HTTP/1.1 GET"
	case !hasToken(r.Header, "Upgrade", "websocket"):
		what = "Upgrade must contain websocket"
	case !hasToken(r.Header, "Connection", "upgrade"):
		what = "Connection must contain upgrade"
	case len(versions) != 1 || versions[0] != websocketVersion:
		f := fault.New(fault.InvalidRequest, "the WebSocket handshake requires Sec-WebSocket-Version: "+websocketVersion)
		f.Status = http.StatusUpgradeRequired
		return f
	case len(keys) != 1 || !validKey(keys[0]):
		what = "Sec-WebSocket-Key must be 16 bytes in base64"
	default:
		return nil
	}
	return fault.New(fault.InvalidRequest, "the WebSocket handshake is not valid: "+what)
}

// hasToken reports whether the lists of a header contain a token, ignoring case. token is in
// lower case.
func hasToken(h http.Header, name, token string) bool {
	for _, list := range h.Values(name) {
		if syntax.HasToken(list, token) {
			return true
		}
	}
	return false
}

func validKey(key string) bool {
	b, err := base64.StdEncoding.DecodeString(key)
	return err == nil && len(b) == 16
}

// refuse rejects a handshake that does not reach the gateway.
func refuse(w http.ResponseWriter, f *fault.Error) {
	h, body := wire.Refusal(f)
	for _, line := range h {
		w.Header().Set(line.Name, line.Value)
	}
	if f.Status == http.StatusUpgradeRequired { // Source: RFC 6455 section 4.2.2, RFC 9110 section 15.5.22
		w.Header().Set("Sec-Websocket-Version", websocketVersion)
		w.Header().Set("Upgrade", "websocket")
		w.Header().Add("Connection", "upgrade") // in addition to close, if that is set
	}
	w.WriteHeader(f.HTTPStatus())
	_, _ = w.Write(body) // the client may have disconnected
}

// client is a caller whose request opens a WebSocket.
type client struct {
	responder
	r        *http.Request
	accepted bool
}

// Accept completes the handshake. It accepts the first subprotocol that the caller offers and
// that is not a key: OpenAI's browser clients send both.
func (c *client) Accept(h wire.Header) (realtime.Socket, error) {
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
			if p = strings.TrimSpace(p); !strings.HasPrefix(p, gatewaycall.KeyProtocol) {
				list = append(list, p)
			}
		}
	}
	return list
}

// Dialer opens WebSockets with an HTTP client that checks the addresses.
type Dialer struct{ HTTP *http.Client }

// Dial opens a WebSocket to an http or https address. A rejected handshake returns
// fault.UpstreamFailed with the status of the response.
func (d Dialer) Dial(ctx context.Context, address string, h wire.Header) (realtime.Socket, error) {
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
			err = e.Err // without the URL: its query may contain a key
		}
		f := fault.From(err)
		if f.Code == fault.Internal {
			f = fault.New(fault.UpstreamFailed, "the provider did not open the realtime connection").WithCause(err)
		}
		if resp != nil && resp.StatusCode >= 400 {
			f.Status = resp.StatusCode
		}
		return nil, f
	}
	conn.SetReadLimit(frameMax)
	return socket{conn}, nil
}

// socket is a realtime conversation over a websocket.Conn.
type socket struct{ c *websocket.Conn }

// Read returns the next message.
func (s socket) Read(ctx context.Context) (bool, []byte, error) {
	typ, data, err := s.c.Read(ctx)
	var ce websocket.CloseError
	if errors.As(err, &ce) {
		err = &realtime.Closed{Code: int(ce.Code), Reason: ce.Reason}
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

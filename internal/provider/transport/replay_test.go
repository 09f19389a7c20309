package transport_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// When a request whose pooled connection failed is sent again.
func TestRepeatable(t *testing.T) {
	t.Parallel()
	const now, soon, late, tooLate = 0, 200 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second
	for _, tc := range []struct {
		name, method string
		phase        int
		after        time.Duration
		want         bool
	}{
		{"dead at once", "POST", transport.NoResponse, now, true},
		{"dead after a while", "POST", transport.NoResponse, soon, false},
		{"dead after a while", "PATCH", transport.NoResponse, soon, false},
		{"dead after a while", "PURGE", transport.NoResponse, soon, false},
		{"dead after a while", "GET", transport.NoResponse, late, true},
		{"dead after a while", "HEAD", transport.NoResponse, late, true},
		{"dead after a while", "OPTIONS", transport.NoResponse, late, true},
		{"dead after a while", "PUT", transport.NoResponse, late, true},
		{"dead after a while", "DELETE", transport.NoResponse, late, true},
		{"dead after a while", "TRACE", transport.NoResponse, late, true},
		{"dead after long", "GET", transport.NoResponse, tooLate, false},
		{"not sent whole", "POST", transport.NotActed, late, true},
		{"not sent whole", "POST", transport.NotActed, tooLate, false},
		{"answered", "GET", transport.PerhapsActed, now, false},
		{"answered", "POST", transport.PerhapsActed, now, false},
	} {
		for _, waited := range []time.Duration{0, time.Minute} { // for another's connection
			if got := transport.Repeatable(tc.method, tc.phase, tc.after, waited); got != tc.want {
				t.Errorf("%s %s, waited %v: %v", tc.method, tc.name, waited, got)
			}
		}
	}
}

// longer is more than it takes a connection that was dead already to show it, and than the
// first wait for an answer lasts.
const longer = 250 * time.Millisecond

// failedCall is what becomes of the second call on a connection that fails under it.
type failedCall struct {
	name, method string
	sent         int32 // how often it is sent
}

// try makes two calls of which the second is lost, on r's peer that counts in sent how
// often that one came.
func (l failedCall) try(t *testing.T, c *transport.Client, r transport.Request, sent *atomic.Int32) {
	t.Helper()
	r = post(r, wire.Bytes([]byte("{}")))
	r.Method = l.method
	if _, _, err := call(c, r); err != nil {
		t.Fatal(err)
	}
	_, _, err := call(c, r)
	if l.sent > 1 && err != nil || l.sent == 1 && !fault.Has(err, fault.UpstreamFailed) {
		t.Error(err)
	}
	if n := sent.Load(); n != l.sent {
		t.Errorf("the peer saw it %d times, not %d", n, l.sent)
	}
}

// What the peer may have acted on is not sent again: a call that it has answered to, be
// it by an interim answer, and one that it had for long enough, if acting twice does harm.
func TestLostCalls(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		failedCall
		sentBytes string
	}{
		{failedCall{"at work", "POST", 1}, ""},
		{failedCall{"at work", "PUT", 2}, ""},
		{failedCall{"interim answer", "PUT", 1}, "HTTP/1.1 102 Processing\r\n\r\n"},
		{failedCall{"part of an interim answer", "PUT", 1}, "HTTP/1.1 102 Proc"},
	} {
		t.Run(tc.method+" "+tc.name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int32
			r := newPeer(t, func(_ testing.TB, c *peerConn) {
				_, _, _ = c.request()
				c.write(hello)
				_, _, _ = c.request()
				sent.Add(1)
				c.write(tc.sentBytes)
				time.Sleep(longer) // and no answer
			}, counting(&sent, once(hello)))
			tc.try(t, newClient(t, transport.Options{}), r, &sent)
		})
	}
}

// The same over HTTP/2, where the peer can also refuse a call without acting on it.
func TestLostCallsOverHTTP2(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		failedCall
		fail func(c framed, stream uint32)
	}{
		{failedCall{"at work", "POST", 1}, func(framed, uint32) { time.Sleep(longer) }},
		{failedCall{"at work", "PUT", 2}, func(framed, uint32) { time.Sleep(longer) }},
		{failedCall{"interim answer", "PUT", 1}, func(c framed, stream uint32) { c.status(stream, "103", false) }},
		{failedCall{"refused", "POST", 2}, func(c framed, stream uint32) {
			time.Sleep(longer)
			_ = c.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
		}},
		{failedCall{"broken off", "PUT", 1}, func(c framed, stream uint32) { _ = c.WriteRSTStream(stream, http2.ErrCodeInternal) }},
	} {
		t.Run(tc.method+" "+tc.name, func(t *testing.T) {
			t.Parallel()
			cfg, o := certificate(t)
			cfg.NextProtos = []string{"h2"}
			var sent atomic.Int32
			r := newPeer(t, frames(cfg, func(c framed, stream uint32) bool {
				if stream == 1 {
					c.status(stream, "200", true)
					return true
				}
				sent.Add(1)
				tc.fail(c, stream)
				return false
			}), frames(cfg, func(c framed, stream uint32) bool {
				sent.Add(1)
				c.status(stream, "200", true)
				return true
			}))
			r.Scheme = "https"
			tc.try(t, newClient(t, o), r, &sent)
		})
	}
}

// framed is a peer's side of a connection that speaks HTTP/2.
type framed struct{ *http2.Framer }

// status sends the head of an answer.
func (c framed) status(stream uint32, status string, end bool) {
	var b bytes.Buffer
	_ = hpack.NewEncoder(&b).WriteField(hpack.HeaderField{Name: ":status", Value: status})
	_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: b.Bytes(), EndHeaders: true, EndStream: end})
}

// frames is a script that hands each request to serve when it has come whole, until that
// says that the connection is to end.
func frames(cfg *tls.Config, serve func(c framed, stream uint32) (goOn bool)) script {
	return func(_ testing.TB, pc *peerConn) {
		tc := tls.Server(pc.Conn, cfg)
		if _, err := io.ReadFull(tc, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		c := framed{http2.NewFramer(tc, tc)}
		_ = c.WriteSettings()
		for {
			f, err := c.ReadFrame()
			if err != nil {
				return
			}
			ended := false
			switch f := f.(type) {
			case *http2.SettingsFrame:
				if !f.IsAck() {
					_ = c.WriteSettingsAck()
				}
			case *http2.HeadersFrame:
				ended = f.StreamEnded()
			case *http2.DataFrame:
				ended = f.StreamEnded()
			}
			if ended && !serve(c, f.Header().StreamID) {
				return
			}
		}
	}
}

package gateway_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/gateway"
	"sluice/internal/kernel/wire"
)

// listener keeps what it is answered, and says when the first piece of it came.
type listener struct {
	status   int
	text     bytes.Buffer
	received chan struct{}
}

func (l *listener) Head(status int, _ wire.Header, _ int64) error { l.status = status; return nil }
func (l *listener) Write(p []byte) (int, error)                   { return l.text.Write(p) }
func (l *listener) Flush() error {
	select {
	case l.received <- struct{}{}:
	default:
	}
	return nil
}

// A stream that the gateway ends because it stops ends with an error event behind what was
// relayed, whatever it was at, and no other target goes on with it.
func TestStopEndsStreams(t *testing.T) {
	t.Parallel()
	const event = `data: {"error":{"code":null,"message":"the gateway is shutting down; send the request again","param":null,"type":"overloaded_error"}}` + "\n\n"
	partialEvent := strings.TrimSuffix(firstChunk, "}]}\n\n")
	for _, c := range []struct {
		name, sent, ends string
		onward           bool // the config has another target go on
		change           func(*gateway.Settings)
	}{
		{name: "between events", sent: firstChunk, ends: firstChunk + event},
		{name: "inside an event", sent: firstChunk + partialEvent, ends: partialEvent + "\n\n" + event},
		{name: "behind an error", sent: firstChunk + `data: {"error":{"message":"no more"}}` + "\n\n", ends: `{"message":"no more"}}` + "\n\n"},
		{name: "with a target that could go on", sent: firstChunk, ends: firstChunk + event, onward: true},
		{name: "where those whose callers leave are read on", sent: firstChunk, ends: firstChunk + event, change: drains},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.change == nil {
				c.change = func(*gateway.Settings) {}
			}
			r, up := newRig(t, c.change), newGated(t, c.sent, "")
			ctx, cut := context.WithCancel(t.Context())
			req := chatRequest(up.URL+"/v1", strings.Replace(streamed, "{", `{"stream_options":{"include_usage":true},`, 1)) // nothing of it is held back
			if c.onward {
				target := `{"provider":"openai","api_key":"k","custom_host":"` + up.URL + `/v1"}`
				req.Header.Del("x-gateway-provider")
				req.Header.Del("x-gateway-custom-host")
				req.Header.Set("x-gateway-config", `{"continue_stream":true,"strategy":{"mode":"fallback"},"targets":[`+target+","+target+`]}`)
			}
			l, done := &listener{received: make(chan struct{}, 1)}, make(chan error, 1)
			go func() { done <- r.gateway.Serve(ctx, req, l) }()
			<-l.received
			r.gateway.Abandoned().Cancel()
			r.gateway.Stop()
			cut()
			if err := <-done; err != nil || !strings.HasSuffix(l.text.String(), c.ends) {
				t.Errorf("%q, %v", l.text.String(), err)
			}
			want := record.Interrupted
			if c.name == "behind an error" {
				want = record.Failed
			}
			if row := r.journal.one(t); row.Outcome != want {
				t.Errorf("on record as %s: %s", row.Outcome, row.Error)
			}
		})
	}
}

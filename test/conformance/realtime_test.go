package conformance

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/wire"
	"sluice/internal/test/upstream/testcert"
)

// socketServer is a provider of realtime conversations: it hears a client's frames
// out, says its own and closes.
type socketServer struct {
	frames   int
	send     []string
	received chan message // the handshake, with the frames as its body
}

// ServeHTTP has one conversation.
func (s *socketServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m := message{first: r.Method + " https://" + r.Host + r.RequestURI}
	for name, values := range r.Header {
		low := strings.ToLower(name)
		if low == "upgrade" || low == "connection" || low == "cdn-loop" || strings.HasPrefix(low, "sec-websocket-") {
			continue
		}
		m.header = append(m.header, wire.Field{Name: low, Value: strings.Join(values, ", ")})
	}
	var frames []string
	defer func() { m.body = strings.Join(frames, "\n"); s.received <- m.sorted() }()
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	for range s.frames {
		_, data, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		frames = append(frames, string(data))
	}
	for _, f := range s.send {
		if conn.Write(r.Context(), websocket.MessageText, []byte(f)) != nil {
			return
		}
	}
	_ = conn.Close(websocket.StatusNormalClosure, "") // the client may have closed first
}

// TestRealtime plays the transcripts that have frames.
func TestRealtime(t *testing.T) {
	t.Parallel()
	cert, err := testcert.New(testcert.Options{Names: hostNames()})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range transcripts(t) {
		for _, tr := range list {
			if tr.frames == "" {
				continue
			}
			t.Run(tr.provider, func(t *testing.T) {
				t.Parallel()
				s := &socketServer{frames: len(lines(tr.frames)), send: lines(tr.exchanges[0].response.body), received: make(chan message, 1)}
				srv := httptest.NewUnstartedServer(s)
				srv.TLS = cert.Config("http/1.1")
				srv.StartTLS()
				t.Cleanup(srv.Close)
				r := newRigOver(t, srv.Listener.Addr().String(), &tls.Config{RootCAs: cert.Pool(), MinVersion: tls.VersionTLS12})
				r.prove(t, tr, func(t *testing.T, tr *transcript) *transcript { return r.converse(t, tr, s) })
			})
		}
	}
}

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

// converse is play for a conversation.
func (r *rig) converse(t *testing.T, recorded *transcript, s *socketServer) *transcript {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	_, target, _ := strings.Cut(recorded.request.first, " ")
	head := http.Header{}
	for _, f := range recorded.request.header {
		head.Add(f.Name, f.Value)
	}
	conn, resp, err := websocket.Dial(ctx, r.server.URL+target, &websocket.DialOptions{HTTPHeader: head})
	if err != nil {
		t.Fatalf("the gateway refused: %v", err)
	}
	for _, f := range lines(recorded.frames) {
		if err := conn.Write(ctx, websocket.MessageText, []byte(f)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			if code := websocket.CloseStatus(err); code != websocket.StatusNormalClosure {
				t.Errorf("the conversation ended with %v", err)
			}
			break
		}
		got = append(got, string(data))
	}
	out := *recorded
	out.response = message{first: "101", header: wire.Header{{Name: "x-gateway-provider", Value: resp.Header.Get("x-gateway-provider")}}, body: strings.Join(got, "\n")}
	out.exchanges = []exchange{{request: <-s.received, response: recorded.exchanges[0].response}}
	if strings.Contains(out.exchanges[0].request.String(), gatewayKey) {
		t.Error("the gateway's own key went to the provider")
	}
	out.usage = r.conversation(t)
	return &out
}

// conversation waits for the record, which is written when both sides have closed.
func (r *rig) conversation(t *testing.T) string {
	t.Helper()
	row := r.journal.await(t)
	if row.Outcome != record.OK || row.Status != 101 {
		t.Errorf("outcome %s, status %d", row.Outcome, row.Status)
	}
	b, err := json.Marshal(row.Usage)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

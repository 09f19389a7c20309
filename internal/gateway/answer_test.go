package gateway_test

import (
	"bytes"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// chunkRecorder keeps what it is answered and how long the longest piece of it was.
type chunkRecorder struct {
	listener
	longest int
}

func (p *chunkRecorder) Write(b []byte) (int, error) {
	p.longest = max(p.longest, len(b))
	return p.listener.Write(b)
}

// A large answer goes out in pieces, each of which a client has its time for: in one it
// would be cut off who takes it slowly, but all the time.
func TestLargeAnswersGoOutInPieces(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	content := strings.Repeat("0123456789abcdef", 100_000)
	r.up.Script(upstream.Always(upstream.Text(200, "application/json", `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"`+content+`"},"finish_reason":"stop"}]}`)))
	var out chunkRecorder
	if err := r.gateway.Serve(t.Context(), chatRequest(r.up.URL()+"/v1", hello), &out); err != nil {
		t.Fatal(err)
	}
	if got := out.text.Bytes(); out.status != 200 || !bytes.Contains(got, []byte(content)) || !bytes.HasSuffix(got, []byte(`"finish_reason":"stop"}]}`)) {
		t.Errorf("answered %d with %d bytes", out.status, len(got))
	}
	if out.longest > 256<<10 {
		t.Errorf("%d bytes in one piece", out.longest)
	}
}

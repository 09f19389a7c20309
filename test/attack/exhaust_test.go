package attack

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// What is large, deep or many is answered in a moment, and the gateway goes on.
func TestLargeInput(t *testing.T) {
	t.Parallel()
	g := start(t)
	nested := strings.Repeat(`{"a":`, 1<<20) + "1" + strings.Repeat("}", 1<<20)
	var pairs, targets strings.Builder
	for i := range 10_000 {
		pairs.WriteString(`"k` + strconv.Itoa(i) + `":"v",`)
	}
	for range 1000 {
		targets.WriteString(`{"provider":"openai","api_key":"k"},`)
	}
	cases := []struct {
		name, body string
		headers    []string
		status     int
	}{
		{"deep object", `{"model":"m","messages":` + nested + `}`, nil, 400},
		{"deep array", `{"model":"m","messages":` + strings.Repeat("[", 1<<20), nil, 400},
		{"two million members", `{"model":"m","messages":[{"role":"user","content":"x"}]` + strings.Repeat(`,"a":1`, 2<<20) + "}", nil, 400},
		{"a million items", `{"model":"m","messages":[{"role":"user","content":"x"}],"stop":[1` + strings.Repeat(`,1`, 1<<20) + "]}", nil, 200},
		{"model twice, in another spelling", `{"model":"m","mod\u0065l":"n","messages":[{"role":"user","content":"x"}]}`, nil, 400},
		{"model twice, in capitals", `{"model":"m","MODEL":"n","messages":[{"role":"user","content":"x"}]}`, nil, 400},
		{"long number", `{"model":"m","seed":1` + strings.Repeat("0", 1<<20) + `,"messages":[{"role":"user","content":"x"}]}`, nil, 200},
		{"metadata of ten thousand pairs", hello, []string{`x-gateway-metadata: {` + pairs.String()[:40_000] + `"z":"z"}`}, 200},
		{"config of a thousand targets", hello, []string{`x-gateway-config: {"strategy":{"mode":"fallback"},"targets":[` + targets.String()[:36*1000] + `{"provider":"openai","api_key":"k"}]}`}, 400},
		{"regular expression", hello, []string{`x-gateway-metadata: {"a":"` + strings.Repeat("a", 120) + `!"}`, `x-gateway-config: {"strategy":{"mode":"conditional","conditions":[{"query":{"metadata.a":{"$regex":"^(a+)+$"}},"then":"t"}]},"targets":[{"name":"t","provider":"openai","api_key":"k"}]}`}, 400},
		{"not what it says", "\x1f\x8b\x08\x00\x00\x00\x00\x00", []string{"content-encoding: gzip"}, 400},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status, text := g.call("POST", "/v1/chat/completions", c.body, c.headers...)
			if status != c.status {
				t.Errorf("%d %.200s", status, text)
			}
		})
	}
	g.alive()
}

// Clients that hang up in the middle of whatever they do leave nothing behind: no
// open file, no file in the spool, no request.
func TestHangUps(t *testing.T) {
	t.Parallel()
	g := start(t)
	g.call("POST", "/v1/chat/completions", hello) // what is opened once is open now
	before := openFiles(t, g)
	const clients = 60
	const idleConns = clients / 5 * 2 // connections for the next call: of clients whose call can be answered
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			c := g.dial()
			defer c.Close()
			head := "POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\n" + g.to() + "content-type: application/json\r\n"
			switch i % 5 {
			case 0: // in the head
				_, _ = io.WriteString(c, head[:60])
			case 1: // in the body
				_, _ = io.WriteString(c, head+"content-length: 5000000\r\n\r\n"+strings.Repeat(" ", 3<<20))
			case 2: // in a stream
				body := strings.Replace(hello, "{", `{"stream":true,`, 1)
				_, _ = io.WriteString(c, head+"x-fault: stall-stream\r\ncontent-length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
				_, _ = c.Read(make([]byte, 64))
			case 3: // in a relayed upload
				_, _ = io.WriteString(c, strings.Replace(head, "chat/completions", "uploads/x", 1)+"transfer-encoding: chunked\r\n\r\n10000\r\n"+strings.Repeat("a", 1<<15))
			case 4: // while waiting
				_, _ = io.WriteString(c, head+"content-length: "+strconv.Itoa(len(hello))+"\r\n\r\n"+hello)
			}
		})
	}
	all.Wait()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); {
		_, metrics := g.call("GET", "/metrics", "")
		if now := openFiles(t, g); now <= before+idleConns && strings.Contains(metrics, "sluice_open_requests 0\n") {
			break
		}
		time.Sleep(50 * time.Millisecond) // the other side of a hang-up is seen a moment later
	}
	if now := openFiles(t, g); now > before+idleConns {
		t.Errorf("%d files are open, %d were", now, before)
	}
	if left, _ := filepath.Glob(filepath.Join(g.dir, "spool", "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, metrics := g.call("GET", "/metrics", ""); !strings.Contains(metrics, "sluice_open_requests 0\n") {
		t.Error("requests are still open")
	}
	g.alive()
}

// openFiles counts the open files of the gateway.
func openFiles(t *testing.T, g *gateway) int {
	t.Helper()
	list, err := os.ReadDir("/proc/" + strconv.Itoa(g.cmd.Process.Pid) + "/fd")
	if err != nil {
		t.Skipf("open files cannot be counted here: %v", err)
	}
	return len(list)
}

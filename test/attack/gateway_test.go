package attack

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/internal/test/upstream"
)

// The secrets of every test. None may turn up where it does not belong.
const (
	adminKey     = "sk-attack-admin-key-0123456789abcdef"
	workspaceKey = "sk-attack-workspace-key-0123456789ab"
	upstreamKey  = "sk-attack-upstream-key-0123456789abc"
	sealingKey   = "attack sealing key 0123456789"
)

// gateway is a running binary and the provider behind it.
type gateway struct {
	t      testing.TB
	dir    string // DATA_DIR
	addr   string // "127.0.0.1:41234"
	up     *upstream.Server
	cmd    *exec.Cmd
	done   chan struct{} // closed when the program has ended
	output *output
}

// start starts the binary with settings, each "NAME=value", and waits until it listens.
func start(t testing.TB, settings ...string) *gateway {
	t.Helper()
	return startIn(t, filepath.Join(t.TempDir(), "data"), upstream.Start(t), settings...)
}

func startIn(t testing.TB, dir string, up *upstream.Server, settings ...string) *gateway {
	t.Helper()
	g := &gateway{t: t, dir: dir, up: up, output: &output{}, done: make(chan struct{})}
	g.cmd = program(g.dir, settings, "serve", "--listen", "127.0.0.1:0", "--data-dir", g.dir)
	g.cmd.Stdout, g.cmd.Stderr = g.output, g.output
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = g.cmd.Wait() // how it ended is in ProcessState
		close(g.done)
	}()
	t.Cleanup(func() {
		g.kill()
		for _, sign := range []string{"DATA RACE", "panic while serving request", "panic in handler", "http: panic serving"} {
			if strings.Contains(g.output.String(), sign) { // GOFLAGS=-race makes a binary that tells of races
				t.Errorf("the gateway said %q", sign)
			}
		}
		if t.Failed() {
			t.Logf("the gateway said:\n%s", g.output.tail())
		}
	})
	for range 1200 {
		if m := listens.FindStringSubmatch(g.output.String()); m != nil {
			g.addr = m[1]
			return g
		}
		select {
		case <-g.done:
			t.Fatalf("it did not start:\n%s", g.output)
		case <-time.After(25 * time.Millisecond):
		}
	}
	t.Fatalf("it does not listen:\n%s", g.output)
	return nil
}

var listens = regexp.MustCompile(` listens on http://(\S+)/v1\n`)

// program is a command of the binary. The proxies lead to a closed port, so that
// nothing can leave the machine.
func program(dir string, settings []string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir = filepath.Dir(dir)
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "ENCRYPTION_KEY=" + sealingKey,
		"BOOTSTRAP_ADMIN_KEY=" + adminKey, "BOOTSTRAP_WORKSPACE_KEY=" + workspaceKey, "TRUSTED_CUSTOM_HOSTS=127.0.0.1",
		"HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1", "LOG_LEVEL=debug", "ADMIN_REQUESTS_PER_MINUTE=0",
	}, settings...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// kill ends the program without a warning.
func (g *gateway) kill() {
	_ = g.cmd.Process.Kill() // it may have ended
	<-g.done
}

// stop ends the program in order.
func (g *gateway) stop() {
	g.t.Helper()
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		g.t.Fatal(err)
	}
	select {
	case <-g.done:
	case <-time.After(30 * time.Second):
		g.t.Fatal("it does not stop")
	}
}

// alive fails the test when the program has ended.
func (g *gateway) alive() {
	g.t.Helper()
	select {
	case <-g.done:
		g.t.Fatalf("the gateway is gone: %s", g.cmd.ProcessState)
	default:
	}
}

// dial opens a raw connection with a deadline.
func (g *gateway) dial() net.Conn {
	g.t.Helper()
	c, err := net.Dial("tcp", g.addr)
	if err != nil {
		g.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	g.t.Cleanup(func() { _ = c.Close() })
	return c
}

// raw sends bytes and returns everything that comes back until the other side
// closes or, with the first answers read, says nothing for a moment.
func (g *gateway) raw(text string) string {
	g.t.Helper()
	c := g.dial()
	defer c.Close() // a conversation that it began would go on
	if _, err := io.WriteString(c, text); err != nil {
		return "" // refused while it was sent
	}
	var all bytes.Buffer
	buf := make([]byte, 64<<10)
	for wait := 10 * time.Second; ; wait = 150 * time.Millisecond {
		_ = c.SetReadDeadline(time.Now().Add(wait))
		n, err := c.Read(buf)
		all.Write(buf[:n])
		if err != nil {
			return all.String()
		}
	}
}

// statuses are the status codes of the answers in a raw reply, in order.
func statuses(raw string) []string {
	var out []string
	for _, m := range statusLine.FindAllStringSubmatch(raw, -1) {
		out = append(out, m[1])
	}
	return out
}

var statusLine = regexp.MustCompile(`(?:^|\n|\})HTTP/1\.[01] (\d{3})`)

// to are the header lines that send a call to the upstream of the test.
func (g *gateway) to() string {
	return "x-gateway-api-key: " + workspaceKey + "\r\nx-gateway-provider: openai\r\nauthorization: Bearer " + upstreamKey +
		"\r\nx-gateway-custom-host: " + g.up.URL() + "/v1\r\n"
}

const hello = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello there"}]}`

// call sends a well-formed request; headers are "name: value"; one without
// a value takes the name away.
func (g *gateway) call(method, path, body string, headers ...string) (int, string) {
	g.t.Helper()
	req, err := http.NewRequest(method, "http://"+g.addr+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	for _, h := range append(strings.Split(strings.TrimSpace(g.to()), "\r\n"), headers...) {
		if name, value, ok := strings.Cut(h, ": "); ok {
			req.Header.Set(name, value)
		} else {
			req.Header.Del(h)
		}
	}
	if body != "" && req.Header.Get("content-type") == "" {
		req.Header.Set("content-type", "application/json")
	}
	resp, err := plain.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body) // a cut answer is one to look at, too
	return resp.StatusCode, string(b)
}

var plain = &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}, Timeout: 30 * time.Second}

// logged waits for a text in the list of the request log.
func (g *gateway) logged(want string) bool {
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); {
		if _, text := g.call("GET", "/v1/logs?page_size=100", "", "x-gateway-provider", "x-gateway-custom-host"); strings.Contains(text, want) {
			return true
		}
		time.Sleep(50 * time.Millisecond) // the log takes a record within two seconds
	}
	return false
}

// output collects what a program prints. It is safe for concurrent use.
type output struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) tail() string {
	s := o.String()
	return s[max(0, len(s)-8192):]
}

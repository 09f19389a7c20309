package e2e

import (
	"crypto/tls"
	"io"
	"net"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

// startLimited starts a gateway under limits of open files, as ulimit takes them: "-n 512".
func startLimited(t *testing.T, ulimit string, opts ...option) *gateway {
	t.Helper()
	l := newLaunch(t, opts...)
	args := append([]string{"-c", "ulimit " + ulimit + ` && exec "$0" "$@"`, binary, l.command, "--listen", "127.0.0.1:0", "--data-dir", l.dir}, l.args...)
	return l.await(t, spawn(t, l.dir[:strings.LastIndex(l.dir, "/")], "bash", l.env, args...))
}

// address is the host and port of a gateway.
func (g *gateway) address() string {
	u, err := url.Parse(g.base)
	if err != nil {
		g.t.Fatal(err)
	}
	return u.Host
}

// silentConnections opens n connections that never send a complete request.
func (g *gateway) silentConnections(n int, begin func(net.Conn) error) {
	g.t.Helper()
	for range n {
		nc, err := net.DialTimeout("tcp", g.address(), 10*time.Second)
		if err != nil {
			g.t.Fatal(err)
		}
		g.t.Cleanup(func() { _ = nc.Close() })
		_ = nc.SetDeadline(time.Now().Add(time.Minute))
		if err := begin(nc); err != nil && !closedByPeer(err) {
			g.t.Fatal(err)
		}
	}
}

// closedByPeer reports whether an error is that of a connection that the gateway closed.
func closedByPeer(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "reset") || strings.Contains(err.Error(), "broken pipe") || strings.Contains(err.Error(), "EOF"))
}

func sendNothing(net.Conn) error { return nil }

func sendText(text string) func(net.Conn) error {
	return func(nc net.Conn) error {
		_, err := io.WriteString(nc, text)
		return err
	}
}

// openHTTP2 finishes the handshake of TLS and that of HTTP/2, and opens no stream.
func openHTTP2(nc net.Conn) error {
	secure := tls.Client(nc, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}) //nolint:gosec // whom it trusts is not tested here
	if err := secure.Handshake(); err != nil {
		return err
	}
	if _, err := io.WriteString(secure, http2.ClientPreface); err != nil {
		return err
	}
	return http2.NewFramer(secure, secure).WriteSettings()
}

// A client that holds more silent connections than there may be open ones does not keep
// others out: it loses the oldest of its own.
func TestSilentConnections_ValidCallIsServed(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	up := upstream.Start(t)
	ca := storetest.NewCA(t)
	for name, c := range map[string]struct {
		tls   bool
		begin func(net.Conn) error
	}{
		"nothing is sent":                 {false, sendNothing},
		"half a request line":             {false, sendText("POST /v1/chat/comp")},
		"a head without its end":          {false, sendText("POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\nX-A: b\r\n")},
		"a handshake that never begins":   {true, sendNothing},
		"a handshake that never finishes": {true, sendText("\x16\x03\x01\x02\x00\x01")},
		"HTTP/2 without a stream":         {true, openHTTP2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var opts []option
			if c.tls {
				opts = append(opts, secure(t, ca))
			}
			g := startLimited(t, "-n 384", opts...) // 128 connections
			g.silentConnections(300, c.begin)
			g.chat(custom(up)...)
			if n := g.evicted(); n == 0 {
				t.Error("no evicted connection is counted")
			}
		})
	}
}

// evicted is how many connections were evicted, whatever the reason.
func (g *gateway) evicted() (n float64) {
	g.t.Helper()
	for _, line := range strings.Split(g.call("GET", "/metrics", "").want(g.t, 200).Body, "\n") {
		if strings.HasPrefix(line, "sluice_connections_evicted_total{") {
			v, err := strconv.ParseFloat(line[strings.LastIndex(line, " ")+1:], 64)
			if err != nil {
				g.t.Fatal(err)
			}
			n += v
		}
	}
	return n
}

// The soft limit of open files is raised to the hard one, so that a shell's default does not
// decide how many connections there may be.
func TestSoftLimitOfOpenFiles_IsRaised(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	g := startLimited(t, "-Sn 256 && ulimit -Hn 1024")
	if soft := g.soft(t); soft < 1023 {
		t.Errorf("the soft limit is %d", soft)
	}
}

// soft is the limit of open files that a gateway reports.
func (g *gateway) soft(t *testing.T) int {
	t.Helper()
	for _, line := range strings.Split(g.call("GET", "/metrics", "").want(t, 200).Body, "\n") {
		if text, ok := strings.CutPrefix(line, "process_max_fds "); ok {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return int(n)
		}
	}
	t.Fatal("no process_max_fds")
	return 0
}

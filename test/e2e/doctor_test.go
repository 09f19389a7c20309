package e2e

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/limits/redistest"
	"sluice/internal/test/upstream"
)

// The doctor finds a sound deployment sound, and names each thing that is not,
// with its cure. It reaches providers through the proxy that the settings name.
func TestDoctor(t *testing.T) {
	t.Parallel()
	provider := upstream.StartTLS(t, upstream.CertNames("api.openai.com"))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	write(t, ca, string(provider.CAPEM()))
	env := []string{"HTTPS_PROXY=" + tunnel(t, provider.Addr()), "SSL_CERT_FILE=" + ca}
	data := filepath.Join(t.TempDir(), "data")
	well := cli(t, env, "doctor", "--listen", "127.0.0.1:0", "--data-dir", data)
	if well.code != 0 || strings.Contains(well.out, "FAIL") {
		t.Errorf("it ended with %d:\n%s%s", well.code, well.out, well.err)
	}
	for _, subject := range []string{"settings", "disk", "sealing", "database", "redis", "tls", "listener", "clock", "upstream", "mail"} {
		if !strings.Contains(well.out, "ok    "+subject) {
			t.Errorf("it says nothing of %s:\n%s", subject, well.out)
		}
	}
	post, mails := openPost(t)
	mailed := launch{}
	mails(&mailed)
	if out := cli(t, append(mailed.env, env...), "doctor", "--listen", "127.0.0.1:0", "--data-dir", data).out; !strings.Contains(out, "accepts emails") || post.about("") > 0 {
		t.Errorf("the mail server:\n%s%s", out, post.mail)
	}
	forgets := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	if out := cli(t, append([]string{"REDIS_URL=redis://" + forgets.Address}, env...), "doctor", "--listen", "127.0.0.1:0", "--data-dir", data).out; !strings.Contains(out, "FAIL  redis") || !strings.Contains(out, "noeviction") {
		t.Errorf("a Redis that forgets counters:\n%s", out)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	write(t, filepath.Join(data, "..", "plain"), "a file where a directory should be")
	ill := cli(t, []string{"HTTPS_PROXY=" + upstream.Refused(t), "DB_TYPE=mysql", "DB_HOST=127.0.0.1", "DB_PORT=1", "DB_USER=u",
		"REDIS_URL=redis://127.0.0.1:1", "SMTP_MAIL=ON", "SMTP_HOST=127.0.0.1", "SMTP_PORT=1", "SMTP_FROM=gateway@acme.example"},
		"doctor", "--listen", taken.Addr().String(), "--data-dir", filepath.Join(data, "..", "plain", "data"))
	if ill.code == 0 {
		t.Errorf("it finds nothing wrong:\n%s", ill.out)
	}
	for _, mark := range []string{"FAIL  disk", "FAIL  database", "FAIL  redis", "check that Redis runs", "FAIL  listener", "warn  upstream", "set DATA_DIR", "check that the server runs", "LISTEN and PORT", "HTTPS_PROXY", "FAIL  mail", "SMTP_HOST, SMTP_PORT"} {
		if !strings.Contains(ill.out, mark) {
			t.Errorf("it does not say %q:\n%s", mark, ill.out)
		}
	}
}

// tunnel is an HTTP proxy that leads every CONNECT to one address, so that a
// program believes that it talks to the world. It returns the proxy's URL.
func tunnel(t testing.TB, to string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		far, err := net.Dial("tcp", to)
		if r.Method != http.MethodConnect || err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer far.Close()
		near, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer near.Close()
		_, _ = io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n") // the caller may have left
		go func() {
			_, _ = io.Copy(far, near)
			_ = far.Close()
		}()
		_, _ = io.Copy(near, far)
	})}
	go func() { _ = srv.Serve(l) }() // ends with Close
	t.Cleanup(func() { _ = srv.Close() })
	return "http://" + l.Addr().String()
}

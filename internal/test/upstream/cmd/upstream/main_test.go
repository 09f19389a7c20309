package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/test/upstream/responder"
)

// The command prints its URL, answers there with and without TLS, and ends with
// its context.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		f := flags{listen: "127.0.0.1:0", tls: secure, caOut: filepath.Join(t.TempDir(), "ca.pem"), opts: responder.Options{Chunks: 1}}
		out, writer := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, f, writer) }()
		url, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		if secure {
			ca, err := os.ReadFile(f.caOut)
			if err != nil || !roots.AppendCertsFromPEM(ca) {
				t.Fatalf("authority: %v", err)
			}
		}
		tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
		res, err := (&http.Client{Transport: tr}).Get(strings.TrimSpace(url) + "/__stats")
		if err != nil {
			t.Fatal(err)
		}
		var s responder.Stats
		if err := json.NewDecoder(res.Body).Decode(&s); err != nil || s.Connections != 1 || (res.ProtoMajor == 2) != secure {
			t.Errorf("tls %v: %s %+v %v", secure, res.Proto, s, err)
		}
		_ = res.Body.Close()
		tr.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("tls %v: %v", secure, err)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	if err := run(context.Background(), flags{listen: "127.0.0.1:http-x"}, io.Discard); err == nil {
		t.Error("an impossible address was taken")
	}
	if err := run(context.Background(), flags{listen: "127.0.0.1:0", tls: true, caOut: t.TempDir()}, io.Discard); err == nil {
		t.Error("a folder was taken as file for the authority")
	}
}

// Further hosts have the port of the first, and what comes by any of them is counted
// together.
func TestRunOnHosts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, flags{listen: "127.0.0.1:0,127.0.0.2,127.0.0.3"}, writer) }()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	for i, host := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"} {
		res, err := (&http.Client{Transport: tr}).Get(strings.Replace(strings.TrimSpace(url), "127.0.0.1", host, 1) + "/__stats")
		if err != nil {
			t.Fatal(err)
		}
		var s responder.Stats
		if err := json.NewDecoder(res.Body).Decode(&s); err != nil || s.Connections != int64(i)+1 {
			t.Errorf("%s: %+v %v", host, s, err)
		}
		_ = res.Body.Close()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

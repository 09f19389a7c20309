// Package target runs what the benchmark compares: the bare upstream, nginx before
// it, and Sluice before it, each as a program of its own in a folder of its own.
package target

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sluice/internal/test/upstream/responder"
	"sluice/test/bench/proc"
)

// Answers says what an upstream answers; see responder.Options for zero values.
type Answers struct {
	responder.Options
	TLS bool // speak TLS, with HTTP/2 to those who want it
}

// Upstream is the provider that all targets lead to. Without TLS each gets to it by an
// address of its own: all connections from one address to another have some 28,000 ports
// to share, those included that were closed a minute ago, and who comes last to them pays
// for looking for a free one.
type Upstream struct {
	*proc.Process
	Addr   string // "127.0.0.1:40001"
	CAFile string // the authority of its certificate, PEM; empty without TLS
	secure *tls.Config
	http   http.Client
}

// BuildUpstream compiles the upstream's program into dir.
func BuildUpstream(ctx context.Context, dir string) (path string, err error) {
	return build(ctx, filepath.Join(dir, "upstream"), "sluice/internal/test/upstream/cmd/upstream")
}

// BuildWithout compiles Sluice into dir without what the tags, separated by commas, leave out:
// "ungated", whose calls are neither held against limits nor put on the ledger, and
// "unlogged", whose records stay in the journal and are not taken over into the request log.
func BuildWithout(ctx context.Context, dir, tags string) (path string, err error) {
	return build(ctx, filepath.Join(dir, "sluice-"+tags), "sluice/cmd/sluice", "-trimpath", "-tags", tags)
}

// build compiles the program of a package to path, in the module of the program: the tests'
// module does not require all that the program needs.
func build(ctx context.Context, path, pkg string, flags ...string) (string, error) {
	program, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "sluice").Output()
	if err != nil {
		return "", fmt.Errorf("find the module of the program: %w", err)
	}
	args := append(append([]string{"build", "-C", strings.TrimSpace(string(program)), "-o", path}, flags...), pkg)
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w: %s", pkg, err, out)
	}
	return path, nil
}

var upstreamReady = regexp.MustCompile(`(?m)^https?://(\S+)\n`)

// StartUpstream starts the program at path.
func StartUpstream(ctx context.Context, path, dir string, a Answers) (*Upstream, error) {
	u := &Upstream{}
	args := []string{
		"--delay", a.Delay.String(), "--chunks", strconv.Itoa(a.Chunks),
		"--chunk-interval", a.Interval.String(), "--chat-bytes", strconv.Itoa(a.ChatBytes), "--listen",
	}
	if !a.TLS {
		args = append(args, "127.0.0.1:0,"+nginxHost+","+sluiceHost)
	} else {
		args = append(args, "127.0.0.1:0")
		u.CAFile = filepath.Join(dir, "ca.pem")
		args = append(args, "--tls", "--ca-out", u.CAFile)
	}
	var err error
	u.Process, err = proc.Start(ctx, proc.Command{Name: "upstream", Path: path, Args: args, Dir: dir, Ready: upstreamReady})
	if err != nil {
		return nil, err
	}
	u.Addr = u.ReadyMatch[1]
	if err := u.trust(); err != nil {
		return nil, errors.Join(err, u.Stop())
	}
	return u, nil
}

// trust makes the client that knows the upstream's authority.
func (u *Upstream) trust() error {
	tr := &http.Transport{DisableKeepAlives: true}
	u.http = http.Client{Transport: tr, Timeout: 10 * time.Second}
	if u.CAFile == "" {
		return nil
	}
	pem, err := os.ReadFile(u.CAFile)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return errors.New("the CA file of the upstream has no certificate")
	}
	u.secure = &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}
	tr.TLSClientConfig = u.secure
	return nil
}

// TLS is how to speak to it; nil: plain.
func (u *Upstream) TLS() *tls.Config { return u.secure }

// Hosts of the upstream besides 127.0.0.1.
const (
	nginxHost  = "127.0.0.2"
	sluiceHost = "127.0.0.3"
)

// URL is its address with the scheme.
func (u *Upstream) URL() string {
	if u.secure != nil {
		return "https://" + u.Addr
	}
	return "http://" + u.Addr
}

// by is the way to it that the contender at a host has for itself.
func (u *Upstream) by(host string) (addr, url string) {
	if u.secure != nil { // its certificate names one host
		return u.Addr, u.URL()
	}
	addr = strings.Replace(u.Addr, "127.0.0.1", host, 1)
	return addr, "http://" + addr
}

// Stats tells what came through to it.
func (u *Upstream) Stats(ctx context.Context) (s responder.Stats, err error) {
	body, err := get(ctx, &u.http, u.URL()+"/__stats")
	if err != nil {
		return s, err
	}
	return s, json.NewDecoder(strings.NewReader(body)).Decode(&s)
}

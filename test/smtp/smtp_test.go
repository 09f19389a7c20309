// Package smtp_test delivers emails to a real SMTP server, with and without TLS and a login.
package smtp_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	server "github.com/emersion/go-smtp"

	ours "sluice/internal/domain/mail"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/smtp"
)

// post is a mail server that keeps what it gets.
type post struct {
	mu    sync.Mutex // guards what follows
	got   []received
	users int
}

type received struct{ from, to, data string }

// NewSession begins a conversation.
func (p *post) NewSession(*server.Conn) (server.Session, error) { return &session{post: p}, nil }

type session struct {
	post *post
	mail received
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "gateway" || password != "s3cr3t" {
			return server.ErrAuthFailed
		}
		s.post.mu.Lock()
		defer s.post.mu.Unlock()
		s.post.users++
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *server.MailOptions) error {
	if from == "stranger@acme.example" {
		return &server.SMTPError{Code: 530, EnhancedCode: server.EnhancedCode{5, 7, 0}, Message: "log in first"}
	}
	s.mail.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *server.RcptOptions) error {
	switch to {
	case "gone@acme.example":
		return &server.SMTPError{Code: 550, EnhancedCode: server.EnhancedCode{5, 1, 1}, Message: "no such user"}
	case "full@acme.example":
		return &server.SMTPError{Code: 452, EnhancedCode: server.EnhancedCode{4, 2, 2}, Message: "mailbox full"}
	}
	s.mail.to = to
	return nil
}

func (s *session) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mail.data = string(b)
	s.post.mu.Lock()
	defer s.post.mu.Unlock()
	s.post.got = append(s.post.got, s.mail)
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

func (p *post) last(t *testing.T, n int) *mail.Message {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.got) != n {
		t.Fatalf("%d letters arrived, want %d", len(p.got), n)
	}
	m, err := mail.ReadMessage(strings.NewReader(p.got[n-1].data))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// listen starts the server; with a certificate it can TLS, by STARTTLS or at once.
func listen(t *testing.T, p *post, cert *tls.Certificate, atOnce bool) int {
	t.Helper()
	s := server.NewServer(p)
	s.Domain, s.AllowInsecureAuth, s.ErrorLog = "localhost", true, quiet{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if cert != nil {
		s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*cert}}
	}
	if atOnce {
		l = tls.NewListener(l, s.TLSConfig)
	}
	var done sync.WaitGroup
	done.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() { _ = s.Close(); done.Wait() })
	return port
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

func certificate(t *testing.T) (*tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

const id = "0191a7f0-0000-7000-8000-000000000001"

var (
	email = ours.Email{Subject: "Grüße: come in", Text: "Hello\n\n.a line with a dot\n", HTML: "<p>Hello</p>"}
	noon  = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

// Every way to protect the connection, and to be refused for it.
func TestModes(t *testing.T) {
	t.Parallel()
	cert, ca := certificate(t)
	for _, c := range []struct {
		name, mode  string
		cert        *tls.Certificate
		ca          string
		atOnce, bad bool
		user        bool
	}{
		{name: "starttls", mode: smtp.StartTLS, cert: cert, ca: ca, user: true},
		{name: "auto is starttls", mode: smtp.Auto, cert: cert, ca: ca, user: true},
		{name: "tls", mode: smtp.TLS, cert: cert, ca: ca, atOnce: true, user: true},
		{name: "opportunistic, with", mode: smtp.Opportunistic, cert: cert, ca: ca, user: true},
		{name: "opportunistic, without", mode: smtp.Opportunistic},
		{name: "none", mode: smtp.None},
		{name: "a password in the clear", mode: smtp.None, bad: true, user: true},
		{name: "a server that cannot", mode: smtp.StartTLS, bad: true, user: true},
		{name: "a server that nobody vouches for", mode: smtp.StartTLS, cert: cert, bad: true, user: true},
		{name: "tls against plain", mode: smtp.TLS, ca: ca, bad: true, user: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &post{}
			set := smtp.Settings{Host: "127.0.0.1", Port: listen(t, p, c.cert, c.atOnce), From: "gw@acme.example", Security: c.mode, CA: c.ca}
			if c.user {
				set.User, set.Password = "gateway", sealed.New("s3cr3t")
			}
			s, err := smtp.New(set)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Try(t.Context()); (err != nil) != c.bad {
				t.Errorf("trying: %v", err)
			}
			err = s.Send(t.Context(), id, "ada@acme.example", noon, email)
			if (err != nil) != c.bad {
				t.Fatalf("%v", err)
			}
			if c.bad {
				p.mu.Lock()
				defer p.mu.Unlock()
				if len(p.got) > 0 || p.users > 0 {
					t.Error("something was sent in the clear")
				}
				return
			}
			p.last(t, 1)
			if c.user != (p.users == 2) { // in both
				t.Error("nobody logged in")
			}
		})
	}
}

func TestLetterArrives(t *testing.T) {
	t.Parallel()
	p := &post{}
	s, err := smtp.New(smtp.Settings{Host: "127.0.0.1", Port: listen(t, p, nil, false), From: "Gateway <gw@acme.example>", Security: smtp.None})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 { // sent again it has the same id
		if err := s.Send(t.Context(), id, "ada@acme.example", noon, email); err != nil {
			t.Fatal(err)
		}
		m := p.last(t, n+1)
		if got := m.Header.Get("Message-ID"); got != "<"+id+"@acme.example>" {
			t.Errorf("Message-ID %q", got)
		}
	}
	m := p.last(t, 2)
	var parser mail.AddressParser
	from, err := parser.Parse(m.Header.Get("From"))
	if err != nil || from.Name != "Gateway" || m.Header.Get("To") != "<ada@acme.example>" || m.Header.Get("Auto-Submitted") != "auto-generated" {
		t.Errorf("%v %v", m.Header, err)
	}
	if date, err := m.Header.Date(); err != nil || !date.Equal(noon) {
		t.Errorf("date %v %v", date, err)
	}
	body, err := io.ReadAll(m.Body)
	if err != nil || !strings.Contains(string(body), "\n.a line with a dot") || !strings.Contains(string(body), "<p>Hello</p>") || !strings.HasPrefix(m.Header.Get("Content-Type"), "multipart/alternative") {
		t.Errorf("%s %v", body, err)
	}
}

// What the server says decides whether another try follows.
func TestRefusals(t *testing.T) {
	t.Parallel()
	port := listen(t, &post{}, nil, false)
	for _, c := range []struct {
		name, to, user string
		port           int
		final          bool
	}{
		{"an address that there is not", "gone@acme.example", "", port, true},
		{"a full mailbox", "full@acme.example", "", port, false},
		{"no address", "not an address", "", port, true},
		{"a wrong password", "ada@acme.example", "somebody", port, false},
		{"nobody there", "ada@acme.example", "", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := smtp.New(smtp.Settings{Host: "127.0.0.1", Port: c.port, From: "gw@acme.example", Security: smtp.None, User: c.user, Password: sealed.New("s3cr3t-wrong")})
			if err != nil {
				t.Fatal(err)
			}
			err = s.Send(t.Context(), id, c.to, noon, email)
			var f interface{ Final() bool }
			if err == nil || errors.As(err, &f) != c.final || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%v", err)
			}
		})
	}
	s, err := smtp.New(smtp.Settings{Host: "127.0.0.1", Port: port, From: "gw@acme.example", Security: smtp.None})
	if err != nil {
		t.Fatal(err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if s.Send(ended, id, "ada@acme.example", noon, email) == nil {
		t.Error("sent after the end")
	}
}

// That the server does not take the sender is a matter of the settings: mails wait for their cure.
func TestSenderRefused(t *testing.T) {
	t.Parallel()
	s, err := smtp.New(smtp.Settings{Host: "127.0.0.1", Port: listen(t, &post{}, nil, false), From: "stranger@acme.example", Security: smtp.None})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Send(t.Context(), id, "ada@acme.example", noon, email)
	var f interface{ Final() bool }
	if err == nil || errors.As(err, &f) {
		t.Errorf("%v, which no other try changes", err)
	}
}

// A server that has a letter and hangs up is not sent it again.
func TestHangsUpBehindTheLetter(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); done.Wait() })
	done.Go(func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		write := func(text string) { _, _ = io.WriteString(c, text+"\r\n") }
		write("220 here")
		for lines, data := bufio.NewScanner(c), false; lines.Scan(); {
			switch line := lines.Text(); {
			case data && line == ".":
				write("250 taken")
				return
			case data:
			case line == "DATA":
				data = true
				write("354 go on")
			default:
				write("250 yes")
			}
		}
	})
	s, err := smtp.New(smtp.Settings{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, From: "gw@acme.example", Security: smtp.None})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), id, "ada@acme.example", noon, email); err != nil {
		t.Errorf("the server has the letter: %v", err)
	}
}

// Trying a server sends nothing, and says which settings may be wrong.
func TestTry(t *testing.T) {
	t.Parallel()
	cert, ca := certificate(t)
	p := &post{}
	plain, able, first := listen(t, p, nil, false), listen(t, p, cert, false), listen(t, p, cert, true)
	for _, c := range []struct {
		name, host     string
		port           int
		mode, ca, pass string
		hint           string
	}{
		{"well", "127.0.0.1", able, smtp.StartTLS, ca, "s3cr3t", ""},
		{"nobody there", "127.0.0.1", 1, smtp.StartTLS, ca, "s3cr3t", "SMTP_HOST, SMTP_PORT"},
		{"an unknown authority", "127.0.0.1", able, smtp.StartTLS, "", "s3cr3t", "SMTP_CA"},
		{"another name", "localhost", able, smtp.StartTLS, ca, "s3cr3t", "SMTP_CA"},
		{"a wrong password", "127.0.0.1", able, smtp.StartTLS, ca, "s3cr3t-wrong", "SMTP_USER and SMTP_PASSWORD"},
		{"TLS against plain", "127.0.0.1", plain, smtp.TLS, ca, "s3cr3t", "SMTP_TLS"},
		{"no STARTTLS", "127.0.0.1", plain, smtp.StartTLS, ca, "s3cr3t", "SMTP_TLS"},
		{"TLS from the first byte", "127.0.0.1", first, smtp.TLS, ca, "s3cr3t", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := smtp.New(smtp.Settings{Host: c.host, Port: c.port, From: "gw@acme.example", Security: c.mode, CA: c.ca, User: "gateway", Password: sealed.New(c.pass)})
			if err != nil {
				t.Fatal(err)
			}
			err = s.Try(t.Context())
			if (err == nil) != (c.hint == "") {
				t.Fatalf("%v", err)
			}
			if err != nil && (!strings.Contains(smtp.Hint(err), c.hint) || strings.Contains(err.Error(), "s3cr3t")) {
				t.Errorf("%v: %s", err, smtp.Hint(err))
			}
		})
	}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.got) > 0 {
			t.Error("something was sent")
		}
	})
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for want, set := range map[string]smtp.Settings{
		"SMTP_FROM": {Host: "mail.example", Port: 25, From: "nobody"},
		"SMTP_CA":   {Host: "mail.example", Port: 25, From: "gw@acme.example", CA: "no PEM"},
		"SMTP_TLS":  {Host: "mail.example", Port: 25, From: "gw@acme.example", Security: "SOME"},
		"SMTP_HOST": {Port: 25, From: "gw@acme.example"},
	} {
		if _, err := smtp.New(set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

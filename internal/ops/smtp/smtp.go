// Package smtp hands letters to a mail server.
package smtp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	gosmtp "github.com/wneessen/go-mail/smtp"

	"sluice/internal/domain/mail"
	"sluice/internal/kernel/sealed"
)

// How the connection to the server is protected.
const (
	Auto          = "AUTO"          // TLS on port 465, else StartTLS
	StartTLS      = "STARTTLS"      // required: nothing is sent to a server that cannot
	TLS           = "TLS"           // from the first byte
	Opportunistic = "OPPORTUNISTIC" // StartTLS when the server can
	None          = "NONE"
)

const portTLS = 465

// Settings say which server takes the mail.
type Settings struct {
	Host     string
	Port     int
	User     string // empty for a server that asks for no name; never sent in the clear
	Password sealed.String
	From     string // "gateway@example.com", or "Gateway <gateway@example.com>"
	Security string // one of the modes; empty for Auto
	CA       string // certificate authorities, PEM; empty for those of the system
}

// Sender hands letters to one server, with a connection for each. Safe for concurrent
// use.
type Sender struct {
	set    Settings
	tls    *tls.Config
	domain string // of From, for the ids of messages
}

// New checks the settings; it does not connect. A From that is not an address is an error.
func New(set Settings) (*Sender, error) {
	s := &Sender{set: set, tls: &tls.Config{ServerName: set.Host, MinVersion: tls.VersionTLS12}}
	m := gomail.NewMsg()
	if err := m.From(set.From); err != nil {
		return nil, fmt.Errorf("sender of emails (SMTP_FROM): %w", err)
	}
	address := m.GetFrom()[0].Address
	s.domain = address[strings.LastIndex(address, "@")+1:]
	if set.CA != "" {
		s.tls.RootCAs = x509.NewCertPool()
		if !s.tls.RootCAs.AppendCertsFromPEM([]byte(set.CA)) {
			return nil, errors.New("CA of the mail server (SMTP_CA): no certificate in PEM form")
		}
	}
	_, err := s.client()
	return s, err
}

// refusal is an answer of the server that another try does not change.
type refusal struct{ cause error }

// Error returns the response of the server.
func (r refusal) Error() string { return r.cause.Error() }

// Final reports that no retry follows.
func (r refusal) Final() bool { return true }

// Unwrap gives the cause.
func (r refusal) Unwrap() error { return r.cause }

// Send hands a letter to the server, within mail.Limit. The id of the message, a UUID,
// makes its Message-ID: the same one whenever it is sent again. An error that no other
// try changes, such as an address that the server refuses for good, has a method Final
// that returns true. No error means that the server has the letter.
func (s *Sender) Send(ctx context.Context, id, to string, date time.Time, l mail.Email) error {
	m := gomail.NewMsg()
	if err := m.From(s.set.From); err != nil {
		return refusal{err}
	}
	if err := m.To(to); err != nil {
		return refusal{err}
	}
	m.SetMessageIDWithValue(id + "@" + s.domain)
	m.SetDateWithValue(date)
	m.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no answers by machines
	m.Subject(l.Subject)
	m.SetBodyString(gomail.TypeTextPlain, l.Text)
	m.AddAlternativeString(gomail.TypeTextHTML, l.HTML)
	return s.hand(ctx, m)
}

// hand makes one connection for one message. What goes wrong after the server took the
// message is not a failure: a retry would send it twice.
func (s *Sender) hand(ctx context.Context, m *gomail.Msg) error {
	ctx, stop := context.WithTimeout(ctx, mail.Limit)
	defer stop()
	client, conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = client.CloseWithSMTPClient(conn) }()
	err = client.SendWithSMTPClient(conn, m)
	if m.IsDelivered() { // what may have failed is the parting
		return nil
	}
	var sent *gomail.SendError
	if !errors.As(err, &sent) || sent.ErrorCode() < 500 || sent.IsTemp() {
		return err
	}
	if sent.Reason == gomail.ErrSMTPMailFrom || isLogin(sent.ErrorCode()) {
		return err // of the sender, or that nobody logged in: once the settings are mended it goes out
	}
	return refusal{err}
}

// connect opens a connection that is protected and logged in as the settings say.
func (s *Sender) connect(ctx context.Context) (*gomail.Client, *gosmtp.Client, error) {
	client, err := s.client()
	if err != nil {
		return nil, nil, err
	}
	conn, err := client.DialToSMTPClientWithContext(ctx)
	return client, conn, err
}

func (s *Sender) client() (*gomail.Client, error) {
	options := []gomail.Option{gomail.WithTLSConfig(s.tls.Clone()), gomail.WithTimeout(mail.Limit / 2), gomail.WithPort(s.set.Port)}
	switch mode := s.mode(); mode {
	case TLS:
		options = append(options, gomail.WithSSL())
	case StartTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case Opportunistic:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	case None:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		return nil, fmt.Errorf("encryption of the mail server (SMTP_TLS): unknown mode %q", mode)
	}
	if s.set.User != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.set.User), gomail.WithPassword(s.set.Password.Reveal()))
	}
	client, err := gomail.NewClient(s.set.Host, options...)
	if err != nil {
		return nil, fmt.Errorf("mail server (SMTP_HOST, SMTP_PORT): %w", err)
	}
	return client, nil
}

func (s *Sender) mode() string {
	switch {
	case s.set.Security != "" && s.set.Security != Auto:
		return s.set.Security
	case s.set.Port == portTLS:
		return TLS
	}
	return StartTLS
}

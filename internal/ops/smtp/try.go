package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/textproto"

	"sluice/internal/domain/mail"
)

// Try goes as far as a mail would: it connects, greets, protects the connection and
// logs in, each as the settings say, and takes its leave. It sends nothing. Cure says
// what to do about its error.
func (s *Sender) Try(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, mail.Limit)
	defer stop()
	client, conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	return client.CloseWithSMTPClient(conn)
}

// Hint names the settings that may mend an error of Try.
func Hint(err error) string {
	var (
		unknown *tls.CertificateVerificationError
		smtpErr *textproto.Error
		plain   tls.RecordHeaderError
		lookup  *net.DNSError
		dial    *net.OpError
	)
	switch {
	case errors.As(err, &unknown):
		return "set SMTP_CA to the CA of the mail server, and SMTP_HOST to the name in its certificate"
	case errors.As(err, &smtpErr) && isLogin(smtpErr.Code):
		return "check SMTP_USER and SMTP_PASSWORD"
	case errors.As(err, &plain):
		return "set SMTP_TLS to the mode of the mail server on SMTP_PORT: STARTTLS, or TLS from the first byte"
	case errors.As(err, &lookup), errors.As(err, &dial) && dial.Op == "dial":
		return "check SMTP_HOST, SMTP_PORT and the firewall"
	}
	return "check SMTP_PORT and SMTP_TLS; set SMTP_USER only if the server supports logins"
}

// isLogin reports whether a reply of a server is about the login. Source: RFC 4954
// section 6.
func isLogin(code int) bool { return code == 432 || code == 454 || code >= 530 && code <= 538 }

package config

import "sluice/internal/kernel/sealed"

// Mail configures emails about invitations, API keys that rotate or expire, and limits.
// Without a mail server, emails wait in the outbox, which `GET /v1/outbox` lists.
type Mail struct {
	// Enabled sends the emails of the outbox.
	Enabled bool `env:"SMTP_MAIL" envDefault:"OFF"`

	// Host is the host name or IP address of the mail server.
	Host string `env:"SMTP_HOST" check:"host"`

	// Port is the port of the mail server: 587 for submission, 465 for implicit TLS, 25 for
	// a relay.
	Port int `env:"SMTP_PORT" envDefault:"587" range:"1..65535"`

	// User is the user name for the mail server. Leave it empty if the server does not
	// require a login.
	User string `env:"SMTP_USER"`

	// Password is the password of `SMTP_USER`. The gateway sends it only over TLS.
	Password sealed.String `env:"SMTP_PASSWORD"`

	// From is the sender: `gateway@example.com`, or `Gateway <gateway@example.com>`.
	From string `env:"SMTP_FROM" check:"mailbox"`

	// TLS sets how the connection is protected. `AUTO` means `TLS` on port 465 and
	// `STARTTLS` on other ports. `STARTTLS` sends nothing to a server that does not support
	// it. `TLS` encrypts from the first byte. `OPPORTUNISTIC` uses STARTTLS if the server
	// supports it. `NONE` is for a relay on the same machine.
	TLS string `env:"SMTP_TLS" envDefault:"AUTO" oneof:"AUTO,STARTTLS,TLS,OPPORTUNISTIC,NONE"`

	// CA contains the certificate authorities that verify the mail server, in PEM form. If
	// it is empty, the gateway uses those of the operating system.
	CA string `env:"SMTP_CA" check:"certificates"`

	// Templates is a folder with templates that replace the built-in ones, for example
	// `user-invite.html`. If a file is missing, the gateway uses the built-in template.
	Templates string `env:"EMAIL_TEMPLATES_PATH"`

	// Company is the company name in emails.
	Company string `env:"EMAIL_COMPANY_NAME"`

	// Logo is the address of the image at the top of emails.
	Logo string `env:"EMAIL_LOGO_URL" check:"web-url"`

	// Support is the address for questions at the bottom of emails.
	Support string `env:"EMAIL_SUPPORT_EMAIL" check:"mailbox"`

	// Docs is the address of the documentation at the bottom of emails.
	Docs string `env:"EMAIL_DOCS_URL" check:"web-url"`
}

func (m Mail) validate(report reporter) {
	if m.Enabled && m.Host == "" {
		report("SMTP_HOST", "is required with SMTP_MAIL=ON", "the host of the mail server")
	}
	if m.Enabled && m.From == "" {
		report("SMTP_FROM", "is required with SMTP_MAIL=ON", "the sender, such as gateway@example.com")
	}
	if m.User == "" && !m.Password.Empty() {
		report("SMTP_USER", "is required with SMTP_PASSWORD", "the user name for the password")
	}
	if m.User != "" && m.TLS == "NONE" {
		report("SMTP_TLS", "is NONE, but a password requires TLS", "STARTTLS or TLS together with SMTP_USER")
	}
}

package config

import "sluice/internal/sealed"

// Mail says how people are written to: about invitations, keys that are rotated or
// expire, and limits. Without a mail server the mails wait in the outbox, which
// `GET /v1/outbox` shows.
type Mail struct {
	// Enabled set to `ON` sends the mails of the outbox.
	Enabled bool `env:"SMTP_MAIL" envDefault:"OFF"`

	// Host is the mail server that takes them.
	Host string `env:"SMTP_HOST" check:"host"`

	// Port is the port of the mail server: 587 for submission, 465 for TLS from the
	// first byte, 25 for a relay.
	Port int `env:"SMTP_PORT" envDefault:"587" range:"1..65535"`

	// User is the name to log in with. Empty means that the server asks for none.
	User string `env:"SMTP_USER"`

	// Password is the password of `SMTP_USER`. It is only sent over TLS.
	Password sealed.String `env:"SMTP_PASSWORD"`

	// From is the sender: `gateway@example.com`, or `Gateway <gateway@example.com>`.
	From string `env:"SMTP_FROM" check:"mailbox"`

	// TLS is how the connection is protected. `AUTO` is `TLS` on port 465, else
	// `STARTTLS`, which sends nothing to a server that cannot do it. `TLS` is TLS from
	// the first byte, `OPPORTUNISTIC` uses STARTTLS when the server can, and `NONE` is
	// for a relay on the same machine.
	TLS string `env:"SMTP_TLS" envDefault:"AUTO" oneof:"AUTO,STARTTLS,TLS,OPPORTUNISTIC,NONE"`

	// CA holds the certificate authorities to check the mail server against, PEM. Empty
	// means those of the operating system.
	CA string `env:"SMTP_CA" check:"certificates"`

	// Templates is a folder with templates in the place of the built-in ones, for
	// example `user-invite.html`. Each that is not there falls back to the built-in one.
	Templates string `env:"EMAIL_TEMPLATES_PATH"`

	// Company is the name under which the mails speak.
	Company string `env:"EMAIL_COMPANY_NAME"`

	// Logo is the address of the picture at the head of the mails.
	Logo string `env:"EMAIL_LOGO_URL" check:"web-url"`

	// Support is the address for questions, at the foot of the mails.
	Support string `env:"EMAIL_SUPPORT_EMAIL" check:"mailbox"`

	// Docs is the address of the documentation, at the foot of the mails.
	Docs string `env:"EMAIL_DOCS_URL" check:"web-url"`
}

func (m Mail) validate(report reporter) {
	if m.Enabled && m.Host == "" {
		report("SMTP_HOST", "is missing beside SMTP_MAIL=ON", "the host of the mail server")
	}
	if m.Enabled && m.From == "" {
		report("SMTP_FROM", "is missing beside SMTP_MAIL=ON", "the sender, such as gateway@example.com")
	}
	if m.User == "" && !m.Password.Empty() {
		report("SMTP_USER", "is missing beside SMTP_PASSWORD", "the name that the password is for")
	}
	if m.User != "" && m.TLS == "NONE" {
		report("SMTP_TLS", "is NONE, but a password is only sent over TLS", "STARTTLS or TLS together with SMTP_USER")
	}
}

package doctor

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"sluice/internal/ops/smtp"
)

// Mail logs in to the mail server. It sends nothing.
type Mail struct {
	Enabled bool // SMTP_MAIL
	Server  smtp.Settings
}

// Run implements Check.
func (c Mail) Run(ctx context.Context) []Finding { return []Finding{c.check(ctx)} }

func (c Mail) check(ctx context.Context) Finding {
	f := Finding{Subject: "mail"}
	if !c.Enabled {
		f.Detail = "SMTP_MAIL is off; emails stay in the outbox"
		return f
	}
	at := net.JoinHostPort(c.Server.Host, strconv.Itoa(c.Server.Port))
	sender, err := smtp.New(c.Server)
	if err == nil {
		err = sender.Try(ctx)
	}
	if err != nil {
		f.Err, f.Hint = fmt.Errorf("%s: %w", at, err), smtp.Hint(err)
		return f
	}
	f.Detail = at + " accepts emails"
	if c.Server.User != "" {
		f.Detail += " of " + c.Server.User
	}
	return f
}

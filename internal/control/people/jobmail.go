package people

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/mail"
)

// Mailer sends an email to a mail server: *smtp.Sender. A nil error means that the server
// accepted it. An error with a method Final that returns true is permanent: a retry cannot
// succeed. The id becomes part of the Message-ID.
type Mailer interface {
	Send(ctx context.Context, id, to string, date time.Time, l mail.Email) error
}

const (
	// mailTime is the maximum time that one run sends mails, because other jobs wait for it.
	mailTime = 20 * time.Second
	// mailMisses is the number of consecutive failures that ends a run, because the server is
	// unavailable.
	mailMisses = 3
	// markLimit is the maximum time to store the outcome of a mail, also during shutdown.
	markLimit = 5 * time.Second
	// maxMailError is the maximum stored length of a server's error, in bytes.
	maxMailError = 500
)

var errEnough = errors.New("enough for now")

// sendMails sends the mails in the outbox, oldest first. Each mail is claimed before it is sent
// to the server and marked afterwards, so that two nodes never send the same one. If the gateway
// dies between the two steps, the mail is sent once more after mail.Doubt, with the same
// Message-ID, and then given up.
func (k scheduledJobs) sendMails(ctx context.Context, now time.Time) error {
	began, misses := time.Now(), 0
	err := k.Sweeper.Sweep(ctx, resource.Query{Kind: mail.Kind, Statuses: []string{mail.Pending, mail.Sending}}, func(rec resource.Record) error {
		if ctx.Err() != nil || misses == mailMisses || time.Since(began) > mailTime {
			return errEnough
		}
		sent, err := k.sendMail(ctx, rec, now)
		switch {
		case err != nil:
			return err
		case sent:
			misses = 0
		default:
			misses++
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// sendMail sends one mail if it is due. It reports false if the server did not accept it but may
// accept it later.
func (k scheduledJobs) sendMail(ctx context.Context, rec resource.Record, now time.Time) (bool, error) {
	m, err := resource.Decode[mail.Message](rec)
	if err != nil || !m.Value.Due(rec.Status, rec.Updated, now) {
		return true, err
	}
	rec.Status = m.Value.StartDelivery(rec.Status, rec.Created, now)
	if err := k.putMail(ctx, &rec, &m.Value, now); err != nil || rec.Status != mail.Sending {
		return true, err
	}
	missed := k.send(ctx, rec.ID, &m.Value, now)
	var last interface{ Final() bool }
	final := errors.As(missed, &last) && last.Final()
	if missed == nil {
		rec.Status = m.Value.Done(now)
	} else {
		rec.Status = m.Value.DeliveryFailed(jsonfield.Clip(missed.Error(), maxMailError), final, now)
		k.Log.Warn("cannot send email; retrying", "mail", rec.ID, "template", m.Value.Template, "again", rec.Status == mail.Pending, "error", missed.Error())
	}
	mark, stop := context.WithTimeout(context.WithoutCancel(ctx), markLimit)
	defer stop()
	return missed == nil || final, k.putMail(mark, &rec, &m.Value, now)
}

// putMail writes a message as its next version. It returns fault.Conflict if another node
// already has.
func (k scheduledJobs) putMail(ctx context.Context, rec *resource.Record, m *mail.Message, now time.Time) error {
	next := *rec
	next.Updated, next.Body = now, jsonfield.Encode(m)
	if err := k.Store.InTx(ctx, func(tx resource.Tx) error { return tx.Update(ctx, next) }); err != nil {
		return err
	}
	next.Version++
	*rec = next
	return nil
}

// send renders the email of a message and sends it.
func (k scheduledJobs) send(ctx context.Context, id string, m *mail.Message, now time.Time) error {
	vars := maps.Clone(m.Vars)
	if len(m.Sealed) > 0 {
		plain, err := k.Box.Open(m.Sealed, mail.Context(id))
		if err != nil {
			return fmt.Errorf("open sealed email variables: %w", err)
		}
		if err := json.Unmarshal(plain, &vars); err != nil {
			return fmt.Errorf("decode sealed email variables: %w", err)
		}
	}
	l, err := k.Templates.Write(m.Template, vars)
	if err != nil {
		return err
	}
	return k.Mail.Send(ctx, id, m.To[0], now, l)
}

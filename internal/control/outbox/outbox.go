package outbox

import (
	"context"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/mail"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// TemplateEntry is the index entry of the messages of a template.
const TemplateEntry = "template"

// Post adds a message to the outbox, in the transaction of the event that it reports. Each
// recipient gets a separate mail, so that an unreachable recipient does not affect the others.
func Post(ctx context.Context, tx resource.Tx, orgID string, now time.Time, m mail.Message) error {
	return enqueue(ctx, tx, orgID, now, m, func(string) ([]byte, error) { return nil, nil })
}

// PostSecret does the same as Post for a message with secret variables. They are sealed until
// the message has been sent.
func PostSecret(ctx context.Context, tx resource.Tx, box *sealed.Sealer, orgID string, now time.Time, m mail.Message, secret map[string]string) error {
	return enqueue(ctx, tx, orgID, now, m, func(id string) ([]byte, error) {
		return box.Seal(jsonfield.Encode(secret), mail.Context(id))
	})
}

func enqueue(ctx context.Context, tx resource.Tx, orgID string, now time.Time, m mail.Message, seal func(id string) ([]byte, error)) (err error) {
	for _, to := range eachOnce(m.To) {
		id, one := ident.NewID(), m
		one.To = []string{to}
		if one.Sealed, err = seal(id); err != nil {
			return err
		}
		if err := tx.Insert(ctx, resource.Record{
			Kind: mail.Kind, ID: id, OrgID: orgID, Name: m.Template, Status: mail.Pending, Version: 1, Created: now, Updated: now,
			Body: jsonfield.Encode(one), Index: []resource.IndexEntry{{Name: TemplateEntry, Value: m.Template}},
		}); err != nil {
			return err
		}
	}
	return nil
}

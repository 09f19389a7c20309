package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sluice/internal/audit"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/resource"
	"sluice/internal/sealed"
)

const (
	deploymentKind = "deployment"
	pepperSlug     = "key-pepper"
	auditKeySlug   = "audit-signing-key"

	active = "active"
)

// deploymentSecret is a secret of the whole deployment: made at the first start,
// sealed, kept in a record and shared by all nodes.
type deploymentSecret struct {
	slug, name string
	make       func() []byte
}

// The secrets of a deployment: the pepper of the key hashes, and the seed of the key
// that signs the audit trail.
var (
	pepperSecret = deploymentSecret{pepperSlug, "pepper of the key hashes", func() []byte { return []byte(ident.NewSecret(48)) }}
	auditSecret  = deploymentSecret{auditKeySlug, "signing key of the audit trail", audit.NewSeed}
)

// secretBody is the body of such a record.
type secretBody struct {
	Sealed []byte `json:"sealed"`
}

// secretContext is what the secret of a record is sealed for.
func secretContext(slug string) string { return deploymentKind + "/" + slug }

// read reads the secret, making it at the first start. Two nodes that make it at once
// agree on the one that was first.
func (d deploymentSecret) read(ctx context.Context, s resource.Store, box *sealed.Box, clock ident.Clock) ([]byte, error) {
	var r resource.Record
	find := func(from resource.Reader) (err error) {
		r, err = from.FindSlug(ctx, deploymentKind, "", d.slug)
		return err
	}
	err := fresh(ctx, s, find)
	if fault.Has(err, fault.NotFound) {
		if err := d.found(ctx, s, box, clock.Now()); err != nil && !fault.Has(err, fault.Conflict) {
			return nil, err
		}
		err = fresh(ctx, s, find)
	}
	if err != nil {
		return nil, fmt.Errorf("read the %s: %w", d.name, err)
	}
	var b secretBody
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return nil, fmt.Errorf("read the %s: %w", d.name, err)
	}
	p, err := box.Open(b.Sealed, secretContext(d.slug))
	if errors.Is(err, sealed.ErrUnknownKey) {
		return nil, fmt.Errorf("the database was sealed under another key: give the old key too, as ENCRYPTION_KEY=new,old or in %s: %w", KeyFile, err)
	}
	return p, err
}

func (d deploymentSecret) found(ctx context.Context, s resource.Store, box *sealed.Box, now time.Time) error {
	shut, err := box.Seal(d.make(), secretContext(d.slug))
	if err != nil {
		return err
	}
	body, err := json.Marshal(secretBody{shut})
	if err != nil {
		return err
	}
	r := resource.Record{
		Kind: deploymentKind, ID: ident.NewID(), Slug: d.slug, Name: d.name,
		Status: active, Version: 1, Created: now, Updated: now, Body: body,
	}
	return s.InTx(ctx, func(tx resource.Tx) error { return tx.Insert(ctx, r) })
}

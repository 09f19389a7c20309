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

// deploymentSecret is a secret of the complete deployment. The first start creates and seals it;
// it is stored in a record and shared by all nodes.
type deploymentSecret struct {
	slug, name string
	make       func() []byte
}

// The secrets of a deployment: the pepper of the key hashes, and the seed of the key
// that signs the audit trail.
var (
	pepperSecret = deploymentSecret{pepperSlug, "key hash pepper", func() []byte { return []byte(ident.NewSecret(48)) }}
	auditSecret  = deploymentSecret{auditKeySlug, "signing key of the audit trail", audit.NewSeed}
)

// secretBody is the body of a record that contains a deployment secret.
type secretBody struct {
	Sealed []byte `json:"sealed"`
}

// secretContext returns the context with which the secret of a record is sealed.
func secretContext(slug string) string { return deploymentKind + "/" + slug }

// read reads the secret; the first start creates it. If two nodes create it at once, both use the
// one that was stored first.
func (d deploymentSecret) read(ctx context.Context, s resource.Store, box *sealed.Sealer, clock ident.Clock) ([]byte, error) {
	var shut []byte
	find := func(from resource.Reader) (err error) {
		shut, err = d.stored(ctx, from)
		return err
	}
	err := readFromWriter(ctx, s, find)
	if fault.Has(err, fault.NotFound) {
		if err := d.found(ctx, s, box, clock.Now()); err != nil && !fault.Has(err, fault.Conflict) {
			return nil, err
		}
		err = readFromWriter(ctx, s, find)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", d.name, err)
	}
	return d.open(box, shut)
}

// stored returns the secret as stored, sealed. It returns NotFound before the first start.
func (d deploymentSecret) stored(ctx context.Context, from resource.Reader) ([]byte, error) {
	r, err := from.FindSlug(ctx, deploymentKind, "", d.slug)
	if err != nil {
		return nil, err
	}
	var b secretBody
	err = json.Unmarshal(r.Body, &b)
	return b.Sealed, err
}

// open unseals the secret. If the sealer lacks the key that sealed it, the error includes a hint.
func (d deploymentSecret) open(box *sealed.Sealer, shut []byte) ([]byte, error) {
	p, err := box.Open(shut, secretContext(d.slug))
	if errors.Is(err, sealed.ErrUnknownKey) {
		return nil, fmt.Errorf("the database was sealed with another key; add the old key, as ENCRYPTION_KEY=new,old or in %s: %w", KeyFile, err)
	}
	return p, err
}

func (d deploymentSecret) found(ctx context.Context, s resource.Store, box *sealed.Sealer, now time.Time) error {
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

// Package bootstrap creates what a deployment needs at its first start: its secrets, its
// organisation with a default workspace, and the first keys. Start reading at Deployment.
package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/audit"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/keyfile"
)

// SecretKind is the kind of the records that contain the secrets of a deployment.
const SecretKind = "deployment"

const (
	pepperSlug   = "key-pepper"
	auditKeySlug = "audit-signing-key"
)

// Secret is a secret of the complete deployment. The first start creates and seals it; it is
// stored in a record and shared by all nodes.
type Secret struct {
	slug, name string
	generate   func() []byte
}

// KeyPepper returns the secret with which API keys are hashed.
func KeyPepper() Secret {
	return Secret{pepperSlug, "key hash pepper", func() []byte { return []byte(ident.NewSecret(48)) }}
}

// AuditKey returns the seed of the key that signs the audit trail.
func AuditKey() Secret { return Secret{auditKeySlug, "signing key of the audit trail", audit.NewSeed} }

// secretBody is the body of a record that contains a secret.
type secretBody struct {
	Sealed []byte `json:"sealed"`
}

// secretContext returns the context with which the secret of a record is sealed.
func secretContext(slug string) string { return SecretKind + "/" + slug }

// Read returns the secret, opened with box; the first start creates it. If two nodes create it at once, both use the
// one that was stored first.
func (d Secret) Read(ctx context.Context, s resource.Store, box *sealed.Sealer, clock ident.Clock) ([]byte, error) {
	var shut []byte
	find := func(from resource.Reader) (err error) {
		shut, err = d.Sealed(ctx, from)
		return err
	}
	err := resource.ReadLatest(ctx, s, find)
	if fault.Has(err, fault.NotFound) {
		if err := d.create(ctx, s, box, clock.Now()); err != nil && !fault.Has(err, fault.Conflict) {
			return nil, err
		}
		err = resource.ReadLatest(ctx, s, find)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", d.name, err)
	}
	return d.Open(box, shut)
}

// Sealed returns the secret as stored, sealed. It returns fault.NotFound before the first start.
func (d Secret) Sealed(ctx context.Context, from resource.Reader) ([]byte, error) {
	r, err := from.FindSlug(ctx, SecretKind, "", d.slug)
	if err != nil {
		return nil, err
	}
	var b secretBody
	err = json.Unmarshal(r.Body, &b)
	return b.Sealed, err
}

// Open unseals the secret. If the sealer lacks the key that sealed it, the error includes a hint.
func (d Secret) Open(box *sealed.Sealer, shut []byte) ([]byte, error) {
	p, err := box.Open(shut, secretContext(d.slug))
	if errors.Is(err, sealed.ErrUnknownKey) {
		return nil, fmt.Errorf("the database was sealed with another key; add the old key, as ENCRYPTION_KEY=new,old or in %s: %w", keyfile.Name, err)
	}
	return p, err
}

func (d Secret) create(ctx context.Context, s resource.Store, box *sealed.Sealer, now time.Time) error {
	shut, err := box.Seal(d.generate(), secretContext(d.slug))
	if err != nil {
		return err
	}
	body, err := json.Marshal(secretBody{shut})
	if err != nil {
		return err
	}
	r := resource.Record{
		Kind: SecretKind, ID: ident.NewID(), Slug: d.slug, Name: d.name,
		Status: resource.Active, Version: 1, Created: now, Updated: now, Body: body,
	}
	return s.InTx(ctx, func(tx resource.Tx) error { return tx.Insert(ctx, r) })
}

// ResealSecret applies renew to the sealed value of a record of SecretKind, and writes the new
// value to the body of r. It leaves other records of that kind unchanged.
func ResealSecret(r *resource.Record, renew func(data *[]byte, context string) error) error {
	if r.Slug != pepperSlug && r.Slug != auditKeySlug {
		return nil
	}
	var b secretBody
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return err
	}
	if err := renew(&b.Sealed, secretContext(r.Slug)); err != nil {
		return err
	}
	body, err := json.Marshal(b)
	r.Body = body
	return err
}

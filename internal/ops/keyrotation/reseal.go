package keyrotation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"sluice/internal/control/resource"
	"sluice/internal/domain/agent"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/mail"
	"sluice/internal/domain/mcp"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/bootstrap"
)

// sealedParts contains, for each kind of record with sealed values, the function that seals
// them again. A new kind with secrets needs an entry here.
var sealedParts = map[string]func(r *resource.Record, renew renewer) error{
	bootstrap.SecretKind:           resealSecret,
	keys.Kind:                      resealKey,
	credential.IntegrationKind:     resealIntegration,
	credential.VirtualKeyKind:      resealVirtualKey,
	routing.SavedKind:              resealConfig,
	guardrail.Kind:                 resealGuardrail,
	credential.SecretReferenceKind: resealReference,
	mail.Kind:                      resealMail,
	tenant.AuthKind:                resealAuth,
	mcp.IntegrationKind:            resealMCPIntegration,
	mcp.ConnectionKind:             resealConnection,
	agent.IntegrationKind:          resealAgentIntegration,
}

// renewer replaces a value that an old key sealed by one that the current key seals. It leaves
// other values unchanged.
type renewer func(data *[]byte, context string) error

// resealer seals all stored values with the current key of its box, including those in past
// versions of records.
type resealer struct {
	store resource.Store
	box   *sealed.Sealer
	log   *slog.Logger
}

// all seals the records of all kinds and returns how many records it has written, also with an
// error. It can run again after an interruption.
func (s resealer) all(ctx context.Context) (int, error) {
	total := 0
	for kind := range sealedParts {
		n, err := s.kind(ctx, kind)
		total += n
		if err != nil {
			return total, fmt.Errorf("re-seal %s records: %w", kind, err)
		}
	}
	return total, nil
}

func (s resealer) kind(ctx context.Context, kind string) (int, error) {
	n := 0
	q := resource.Query{Kind: kind, Limit: 200}
	for {
		var rows []resource.Record
		err := resource.ReadLatest(ctx, s.store, func(from resource.Reader) (err error) {
			rows, err = from.List(ctx, q)
			return err
		})
		if err != nil {
			return n, err
		}
		for _, r := range rows {
			written, err := s.record(ctx, r)
			if err != nil {
				return n, fmt.Errorf("record %s: %w", r.ID, err)
			}
			if written {
				n++
			}
		}
		if len(rows) < q.Limit {
			return n, nil
		}
		q.After = rows[len(rows)-1].ID
	}
}

// record seals a record and its past versions again, and reports whether that changed
// anything. A past version whose key is missing is lost already: record leaves it unchanged
// and logs a warning.
func (s resealer) record(ctx context.Context, r resource.Record) (bool, error) {
	var undecryptable []int64
	var written int
	err := s.store.InTx(ctx, func(tx resource.Tx) (err error) {
		undecryptable = nil
		written, err = tx.Rewrite(ctx, r.Kind, r.ID, func(v resource.Record) ([]byte, error) {
			body, err := s.body(v)
			if errors.Is(err, sealed.ErrUnknownKey) && v.Version < r.Version {
				undecryptable = append(undecryptable, v.Version)
				return v.Body, nil
			}
			return body, err
		})
		return err
	})
	if err == nil && len(undecryptable) > 0 {
		s.log.Warn("cannot decrypt old versions; their key is missing", "kind", r.Kind, "id", r.ID, "versions", undecryptable)
	}
	return written > 0, err
}

// body returns the body of a record with its sealed values sealed again. It returns the same
// body if no value uses an old key.
func (s resealer) body(r resource.Record) ([]byte, error) {
	old, changed := r.Body, false
	err := sealedParts[r.Kind](&r, func(data *[]byte, context string) error {
		if len(*data) == 0 || !s.box.UsesOldKey(*data) {
			return nil
		}
		plain, err := s.box.Open(*data, context)
		if err != nil {
			return err
		}
		changed = true
		*data, err = s.box.Seal(plain, context)
		return err
	})
	if err != nil || !changed {
		return old, err
	}
	return r.Body, nil
}

func resealSecret(r *resource.Record, renew renewer) error { return bootstrap.ResealSecret(r, renew) }

func resealAuth(r *resource.Record, renew renewer) error {
	var a tenant.Auth
	return inBody(r, &a, func() error {
		if a.OIDC == nil {
			return nil
		}
		return errors.Join(renew(&a.OIDC.ClientSecret, tenant.AuthContext(r.ID)), renew(&a.OIDC.JWKS, tenant.AuthContext(r.ID)))
	})
}

func resealKey(r *resource.Record, renew renewer) error {
	var k keys.Key
	return inBody(r, &k, func() error {
		if k.Previous != nil {
			if err := renew(&k.Previous.Sealed, keys.Context(r.ID)); err != nil {
				return err
			}
		}
		return renew(&k.Secret.Sealed, keys.Context(r.ID))
	})
}

func resealIntegration(r *resource.Record, renew renewer) error {
	var integration credential.Integration
	return inBody(r, &integration, func() error {
		if err := renew(&integration.Key, credential.IntegrationKind+"/"+r.ID); err != nil {
			return err
		}
		for i := range integration.Models {
			if len(integration.Models[i].Sealed) == 0 {
				continue
			}
			if err := renew(&integration.Models[i].Sealed, credential.IntegrationKind+"/"+r.ID); err != nil {
				return err
			}
		}
		return renew(&integration.Configurations, credential.IntegrationKind+"/"+r.ID)
	})
}

func resealVirtualKey(r *resource.Record, renew renewer) error {
	var vk credential.VirtualKey
	return inBody(r, &vk, func() error {
		if err := renew(&vk.Key, credential.VirtualKeyKind+"/"+r.ID); err != nil {
			return err
		}
		return renew(&vk.Sealed, credential.VirtualKeyKind+"/"+r.ID)
	})
}

func resealConfig(r *resource.Record, renew renewer) error {
	var c routing.Saved
	return inBody(r, &c, func() error { return renew(&c.Sealed, routing.SavedContext(r.ID)) })
}

func resealGuardrail(r *resource.Record, renew renewer) error {
	var g guardrail.Guardrail
	return inBody(r, &g, func() error { return renew(&g.Sealed, guardrail.Context(r.ID)) })
}

func resealReference(r *resource.Record, renew renewer) error {
	var s credential.SecretReference
	return inBody(r, &s, func() error { return renew(&s.Auth, credential.ReferenceContext(r.ID)) })
}

func resealMail(r *resource.Record, renew renewer) error {
	var m mail.Message
	return inBody(r, &m, func() error { return renew(&m.Sealed, mail.Context(r.ID)) })
}

func resealMCPIntegration(r *resource.Record, renew renewer) error {
	var integration mcp.Integration
	return inBody(r, &integration, func() error { return renew(&integration.Configurations, mcp.IntegrationContext(r.ID)) })
}

func resealConnection(r *resource.Record, renew renewer) error {
	var c mcp.Connection
	return inBody(r, &c, func() error { return renew(&c.Tokens, mcp.ConnectionContext(r.ID)) })
}

func resealAgentIntegration(r *resource.Record, renew renewer) error {
	var integration agent.Integration
	return inBody(r, &integration, func() error { return renew(&integration.Configurations, agent.IntegrationContext(r.ID)) })
}

// inBody decodes the body of a record into into, calls change and encodes the body again.
func inBody(r *resource.Record, into any, change func() error) error {
	if err := json.Unmarshal(r.Body, into); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	b, err := json.Marshal(into)
	r.Body = b
	return err
}

package app

import (
	"context"
	"encoding/json"
	"fmt"

	"sluice/internal/credential"
	"sluice/internal/keys"
	"sluice/internal/resource"
	"sluice/internal/sealed"
)

// sealedParts says, for each kind of record that holds sealed values, how to seal
// them anew. To add a kind with secrets, add its line.
var sealedParts = map[string]func(r *resource.Record, renew func(data *[]byte, context string) error) error{
	deploymentKind:             resealPepper,
	keys.Kind:                  resealKey,
	credential.IntegrationKind: resealIntegration,
	credential.VirtualKeyKind:  resealVirtualKey,
}

// reseal seals every stored secret under the current key of the box and returns
// how many records were written. It may be run again after an interruption.
func reseal(ctx context.Context, s resource.Store, box *sealed.Box) (int, error) {
	total := 0
	for kind, part := range sealedParts {
		n, err := resealKind(ctx, s, box, kind, part)
		total += n
		if err != nil {
			return total, fmt.Errorf("seal the %s records anew: %w", kind, err)
		}
	}
	return total, nil
}

func resealKind(ctx context.Context, s resource.Store, box *sealed.Box, kind string, part func(*resource.Record, func(*[]byte, string) error) error) (int, error) {
	n := 0
	q := resource.Query{Kind: kind, Limit: 200}
	for {
		rows, err := s.List(ctx, q)
		if err != nil {
			return n, err
		}
		for i := range rows {
			changed := false
			err := part(&rows[i], func(data *[]byte, context string) error {
				if len(*data) == 0 || !box.Stale(*data) {
					return nil
				}
				plain, err := box.Open(*data, context)
				if err != nil {
					return err
				}
				changed = true
				*data, err = box.Seal(plain, context)
				return err
			})
			if err != nil {
				return n, fmt.Errorf("record %s: %w", rows[i].ID, err)
			}
			if !changed {
				continue
			}
			if err := s.InTx(ctx, func(tx resource.Tx) error { return tx.Update(ctx, rows[i]) }); err != nil {
				return n, err
			}
			n++
		}
		if len(rows) < q.Limit {
			return n, nil
		}
		q.After = rows[len(rows)-1].ID
	}
}

func resealPepper(r *resource.Record, renew func(*[]byte, string) error) error {
	if r.Slug != pepperSlug {
		return nil
	}
	var b pepperBody
	return inBody(r, &b, func() error { return renew(&b.Sealed, pepperContext) })
}

func resealKey(r *resource.Record, renew func(*[]byte, string) error) error {
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

func resealIntegration(r *resource.Record, renew func(*[]byte, string) error) error {
	var in credential.Integration
	return inBody(r, &in, func() error {
		if err := renew(&in.Key, credential.IntegrationKind+"/"+r.ID); err != nil {
			return err
		}
		return renew(&in.Configurations, credential.IntegrationKind+"/"+r.ID)
	})
}

func resealVirtualKey(r *resource.Record, renew func(*[]byte, string) error) error {
	var vk credential.VirtualKey
	return inBody(r, &vk, func() error {
		if err := renew(&vk.Key, credential.VirtualKeyKind+"/"+r.ID); err != nil {
			return err
		}
		return renew(&vk.Sealed, credential.VirtualKeyKind+"/"+r.ID)
	})
}

// inBody decodes a record's body, lets change work on it and encodes it again.
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

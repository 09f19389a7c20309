package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/bootstrap"
	"sluice/internal/ops/hint"
	"sluice/internal/ops/keyfile"
)

// errUnmade reports a key file that the first start will create.
var errUnmade = errors.New("the key file will be created on the first start")

// Sealing checks that a key exists, and opens what is sealed, as a start does. It runs after
// Database.
type Sealing struct{ Deployment *Deployment }

// Run implements Check.
func (c Sealing) Run(ctx context.Context) []Finding { return []Finding{c.Deployment.checkSealing(ctx)} }

func (d *Deployment) checkSealing(ctx context.Context) Finding {
	f := Finding{Subject: "sealing"}
	path := filepath.Join(d.Dir, keyfile.Name)
	switch err := d.unseal(ctx); {
	case errors.Is(err, errUnmade):
		d.fresh, f.Detail = d.fresh || d.db != nil, errUnmade.Error()+": "+path
	case err != nil:
		f.Err = err
	case len(d.Keys) == 0:
		f.Detail = "secrets are sealed with the key file " + path + "; back it up separately from the database"
	default:
		f.Detail = "secrets are sealed with ENCRYPTION_KEY"
	}
	return f
}

// unseal creates the sealer of a deployment and tries it on the deployment's pepper, if that is
// known.
func (d *Deployment) unseal(ctx context.Context) error {
	shut, err := d.pepper(ctx)
	if err != nil {
		return fmt.Errorf("check for sealed data: %w", hint.DatabaseError(d.Database, err))
	}
	secrets, err := keyfile.Load(d.Keys, d.Dir, func() error {
		if shut != nil {
			return keyfile.MissingError(d.Dir)
		}
		return errUnmade
	})
	if err != nil {
		return err
	}
	box, err := sealed.NewBox(secrets...)
	if err == nil && shut != nil {
		_, err = bootstrap.KeyPepper().Open(box, shut)
	}
	if err == nil {
		d.box = box
	}
	return err
}

// pepper returns the sealed pepper of the deployment; nil if there is none or it cannot be read.
func (d *Deployment) pepper(ctx context.Context) ([]byte, error) {
	if d.db == nil || d.fresh {
		return nil, nil
	}
	shut, err := bootstrap.KeyPepper().Sealed(ctx, d.db)
	if fault.Has(err, fault.NotFound) {
		return nil, nil
	}
	return shut, err
}

package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"sluice/internal/config"
	"sluice/internal/fault"
	"sluice/internal/sealed"
)

// errUnmade reports a key file that the first start will create.
var errUnmade = errors.New("the key file will be created on the first start")

// checkSealing checks that a key exists, and opens what is sealed, as a start does.
func (d *stored) checkSealing(ctx context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "sealing"}
	path := filepath.Join(s.Data.Dir, KeyFile)
	switch err := d.unseal(ctx, s); {
	case errors.Is(err, errUnmade):
		d.fresh, f.Detail = d.fresh || d.db != nil, errUnmade.Error()+": "+path
	case err != nil:
		f.Err = err
	case s.Security.EncryptionKey.Empty():
		f.Detail = "secrets are sealed with the key file " + path + "; back it up separately from the database"
	default:
		f.Detail = "secrets are sealed with ENCRYPTION_KEY"
	}
	return f
}

// unseal creates the sealer of a deployment and tries it on the deployment's pepper, if that is
// known.
func (d *stored) unseal(ctx context.Context, s config.Settings) error {
	shut, err := d.pepper(ctx)
	if err != nil {
		return fmt.Errorf("check for sealed data: %w", storeError(s, err))
	}
	secrets, err := sealingKeys(s.Security.EncryptionKeys(), s.Data.Dir, func() error {
		if shut != nil {
			return missingKeyFileError(s.Data.Dir)
		}
		return errUnmade
	})
	if err != nil {
		return err
	}
	box, err := sealed.NewBox(secrets...)
	if err == nil && shut != nil {
		_, err = pepperSecret.open(box, shut)
	}
	if err == nil {
		d.box = box
	}
	return err
}

// pepper returns the sealed pepper of the deployment; nil if there is none or it cannot be read.
func (d *stored) pepper(ctx context.Context) ([]byte, error) {
	if d.db == nil || d.fresh {
		return nil, nil
	}
	shut, err := pepperSecret.stored(ctx, d.db)
	if fault.Has(err, fault.NotFound) {
		return nil, nil
	}
	return shut, err
}

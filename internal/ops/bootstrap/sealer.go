package bootstrap

import (
	"context"
	"fmt"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/keyfile"
)

// OpenSealer opens the sealer of a deployment with the keys of setting (ENCRYPTION_KEY), or else
// of the key file in the data directory dir. It creates a missing key file, but only if the
// database does not contain anything that an older key sealed.
func OpenSealer(ctx context.Context, s resource.Store, setting [][]byte, dir string) (*sealed.Sealer, error) {
	secrets, err := keyfile.Load(setting, dir, func() error { return nothingSealed(ctx, s, dir) })
	if err != nil {
		return nil, err
	}
	return sealed.NewBox(secrets...)
}

// nothingSealed fails if the database contains data sealed under a key that is missing here. A
// new key could not open that data, and would be mistaken for the lost key.
func nothingSealed(ctx context.Context, s resource.Store, dir string) error {
	err := resource.ReadLatest(ctx, s, func(from resource.Reader) error {
		_, err := KeyPepper().Sealed(ctx, from)
		return err
	})
	switch {
	case fault.Has(err, fault.NotFound):
		return nil
	case err != nil:
		return fmt.Errorf("check for sealed data: %w", err)
	}
	return keyfile.MissingError(dir)
}

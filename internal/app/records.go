package app

import (
	"context"
	"sluice/internal/control/apikeys"
	"sluice/internal/control/people"

	"sluice/internal/keys"
	"sluice/internal/ops/bootstrap"
)

// FirstKeys are the raw values of the keys that a first start creates.
type FirstKeys = bootstrap.FirstKeys

// openSealer reads the sealing keys. It runs after openStore, because a new key is created only
// if the database does not contain anything that an older key sealed.
func (a *App) openSealer(ctx context.Context) (err error) {
	a.box, err = bootstrap.OpenSealer(ctx, a.store, a.set.Security.EncryptionKeys(), a.set.Data.Dir)
	return err
}

// foundDeployment reads the secrets of the deployment, and creates its organisation and first keys
// if they do not exist.
func (a *App) foundDeployment(ctx context.Context) error {
	p, err := bootstrap.KeyPepper().Read(ctx, a.store, a.box, a.clock)
	if err != nil {
		return err
	}
	a.hasher = keys.NewHasher(p)
	if err := a.openAudit(ctx); err != nil {
		return err
	}
	d := bootstrap.Deployment{Store: a.store, Keys: a.keyMaker(), UserIndex: people.UserIndex}
	first, err := d.Create(ctx, a.set.Bootstrap.AdminKey.Reveal(), a.set.Bootstrap.WorkspaceKey.Reveal())
	if err == nil && first != (FirstKeys{}) && a.founded != nil {
		a.founded(first)
	}
	return err
}

// keyMaker makes the records of API keys that the program creates by itself.
func (a *App) keyMaker() bootstrap.KeyMaker {
	return bootstrap.KeyMaker{Box: a.box, Hasher: a.hasher, Now: a.clock.Now(), Prefix: a.set.Security.APIKeyPrefix, Index: apikeys.KeyIndex}
}

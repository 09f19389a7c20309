package app

import (
	"context"
	"time"

	"sluice/internal/app/options"
	"sluice/internal/control/apikeys"
	"sluice/internal/control/people"
	"sluice/internal/domain/audit"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
	"sluice/internal/ops/bootstrap"
	"sluice/internal/ops/config"
	"sluice/internal/ops/hint"
	"sluice/internal/storage/sqlstore"
)

// database is the store of the records, and the secrets that open them.
type database struct {
	*base
	store   *sqlstore.Store
	box     *sealed.Sealer
	hasher  *keys.Hasher
	hidden  []byte // secret of the placeholders of reversible redaction, equal on all nodes
	signer  *audit.Signer
	proxies wire.Proxies // TRUSTED_PROXIES
}

func (a *database) openStore(ctx context.Context) (err error) {
	a.store, err = sqlstore.Open(ctx, options.Store(a.set), a.log)
	if err != nil {
		return hint.WithDatabase(options.Store(a.set), err)
	}
	a.closers = append(a.closers, a.store)
	if err := a.migrate(ctx); err != nil {
		return err
	}
	return lostDatabase(a.set).Check(ctx, a.store)
}

// migrate updates the tables. If the writer is down in HADR mode the start continues: reads work,
// health reports it, and MigrateLater migrates later.
func (a *database) migrate(ctx context.Context) error {
	err := a.store.Migrate(ctx)
	if err != nil && a.set.Database.HADR && fault.Has(err, fault.ReadOnly) {
		a.log.Warn("database writer unavailable; skipped the schema check", "error", err.Error())
		a.services.Add("late migration", a.store.MigrateLater)
		return nil
	}
	if err == nil {
		err = a.store.CheckRights(ctx)
	}
	if err != nil {
		return hint.WithDatabase(options.Store(a.set), err)
	}
	return nil
}

// FirstKeys are the raw values of the keys that a first start creates.
type FirstKeys = bootstrap.FirstKeys

// openSealer reads the sealing keys. It runs after openStore, because a new key is created only
// if the database does not contain anything that an older key sealed.
func (a *database) openSealer(ctx context.Context) (err error) {
	a.box, err = bootstrap.OpenSealer(ctx, a.store, a.set.Security.EncryptionKeys(), a.set.Data.Dir)
	return err
}

// foundDeployment reads the secrets of the deployment, and creates its organisation and first keys
// if they do not exist.
func (a *database) foundDeployment(ctx context.Context) error {
	p, err := bootstrap.KeyPepper().Read(ctx, a.store, a.box, a.clock)
	if err != nil {
		return err
	}
	a.hasher, a.hidden = keys.NewHasher(p), placeholderSecret(p)
	if err := a.openAudit(ctx); err != nil {
		return err
	}
	d := bootstrap.Deployment{Store: a.store, Keys: a.keyMaker(), UserIndex: people.UserIndex}
	first, err := d.Create(ctx, a.set.Bootstrap.AdminKey.Reveal(), a.set.Bootstrap.WorkspaceKey.Reveal())
	if err == nil && first != (FirstKeys{}) && a.options.OnBootstrap != nil {
		a.options.OnBootstrap(first)
	}
	return err
}

// keyMaker makes the records of API keys that the program creates by itself.
func (a *database) keyMaker() bootstrap.KeyMaker {
	return bootstrap.KeyMaker{Box: a.box, Hasher: a.hasher, Now: a.clock.Now(), Prefix: a.set.Security.APIKeyPrefix, Index: apikeys.KeyIndex}
}

// openAudit reads the key that signs the audit trail. The first start creates it.
func (a *database) openAudit(ctx context.Context) error {
	seed, err := bootstrap.AuditKey().Read(ctx, a.store, a.box, a.clock)
	if err != nil {
		return err
	}
	if a.signer, err = audit.NewSigner(seed); err != nil {
		return err
	}
	a.proxies, err = wire.ParseProxies(a.set.Security.TrustedProxies)
	return err
}

// maintainAudit writes checkpoints and deletes expired rows until ctx ends.
func (a *database) maintainAudit(ctx context.Context) error {
	return audit.NewCheckpointer(a.store, a.signer, auditPolicy(a.set), a.clock, a.log).Run(ctx)
}

func auditPolicy(s config.Settings) audit.Policy {
	return audit.Policy{
		Rows: int64(s.Audit.CheckpointRows), Interval: s.Audit.CheckpointInterval, Retention: time.Duration(s.Audit.RetentionDays) * 24 * time.Hour,
	}
}

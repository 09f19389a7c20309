package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"

	"sluice/internal/app/options"
	"sluice/internal/control/jobs"
	"sluice/internal/control/people"
	"sluice/internal/control/resource"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/redis"
	"sluice/internal/ops/config"
	"sluice/internal/ops/datadir"
	"sluice/internal/ops/health"
	"sluice/internal/ops/hint"
	"sluice/internal/ops/keyrotation"
	"sluice/internal/ops/localadmin"
	"sluice/internal/storage/requestlog/clickhouse"
	"sluice/internal/storage/sqlstore"
)

// offline opens what the commands that do not serve need: the sealer and the store.
func offline(ctx context.Context, s config.Settings, log *slog.Logger, use func(*database) error) (err error) {
	a := &database{base: newBase(s, Options{Log: log})}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.openData(ctx); err != nil {
		return err
	}
	if err := a.openStore(ctx); err != nil {
		return err
	}
	if err := a.openSealer(ctx); err != nil {
		return err
	}
	return use(a)
}

// Migrate updates the tables, including those of a request log on a server. Instances that start
// at the same time wait for each other.
func Migrate(ctx context.Context, s config.Settings, log *slog.Logger) (err error) {
	db, err := sqlstore.Open(ctx, options.Store(s), log)
	if err != nil {
		return hint.WithDatabase(options.Store(s), err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Migrate(ctx); err != nil {
		return hint.WithDatabase(options.Store(s), err)
	}
	if !s.Analytics.Shared() {
		return nil
	}
	return clickhouse.Migrate(ctx, analyticsOptions(s, db, log))
}

// NewKey describes a key to create from the command line.
type NewKey = localadmin.NewKey

// CreateKey creates a key and returns its raw value, which is not stored in clear text. It works
// while the gateway runs; the key is in force within a second. In an empty deployment it first
// creates what a first start creates and calls founded, as described in Options.
func CreateKey(ctx context.Context, s config.Settings, log *slog.Logger, n NewKey, founded func(FirstKeys)) (raw string, err error) {
	if err := n.Check(); err != nil {
		return "", err
	}
	raw = ident.NewKey(s.Security.APIKeyPrefix)
	return raw, offline(ctx, s, log, func(a *database) error {
		a.options.OnBootstrap = founded
		if err := a.foundDeployment(ctx); err != nil {
			return err
		}
		return n.Create(ctx, a.store, a.keyMaker(), raw)
	})
}

// User is a user as the command line lists them.
type User = localadmin.User

// Users lists the users of all organisations, the oldest first, at most 1000.
func Users(ctx context.Context, s config.Settings, log *slog.Logger) (users []User, err error) {
	return users, offline(ctx, s, log, func(a *database) error {
		users, err = localadmin.Users(ctx, a.store)
		return err
	})
}

// SetPassword replaces the password of a user, named by e-mail address or id, ends their
// sessions, and records it in the audit trail. With an empty password it generates one and
// returns it. It returns fault.NotFound if the user does not exist. It works while the gateway
// runs. In an empty deployment it first creates what a first start creates and calls founded, as
// described in Options.
func SetPassword(ctx context.Context, s config.Settings, log *slog.Logger, user string, password sealed.String, founded func(FirstKeys)) (sealed.String, error) {
	password, hash, err := localadmin.HashPassword(ctx, password)
	if err != nil {
		return password, err
	}
	return password, offline(ctx, s, log, func(a *database) error {
		a.options.OnBootstrap = founded
		if err := a.foundDeployment(ctx); err != nil {
			return err
		}
		replace := func(ctx context.Context, tx resource.Tx, u resource.Record, hash string) error {
			return errors.Join(people.SetPassword(ctx, tx, u, hash, a.clock.Now()), people.EndSessions(ctx, tx, u.OrgID, u.ID, ""))
		}
		trail := resource.Trail{Off: !a.set.Features.AuditLogs, Clock: a.clock}
		return localadmin.Passwords{Store: a.store, Trail: trail, Replace: replace}.Set(ctx, user, hash)
	})
}

// RotateSealing seals everything that older keys sealed again under the current key. Without
// ENCRYPTION_KEY it first creates the current key in the key file; with it,
// ENCRYPTION_KEY=new,old contains both. It returns the number of records written. It fails while
// a gateway uses the data directory. It also fails while a gateway uses the database, unless
// withGateways states that those gateways already seal under the current key. After an
// interruption it can run again: until it finishes, the key file contains every key in use.
func RotateSealing(ctx context.Context, s config.Settings, log *slog.Logger, withGateways bool) (n int, err error) {
	if file := options.Store(s).Path; s.Database.Type == config.SQLite {
		if _, err := os.Stat(file); err != nil {
			return 0, fmt.Errorf("find the database: %w; set its folder with --data-dir or DATA_DIR", err)
		}
	}
	lock, err := datadir.Lock(s.Data.Dir)
	if err != nil {
		return 0, err
	}
	a := &database{base: newBase(s, Options{Log: log})}
	a.closers = append(a.closers, lock)
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.openData(ctx); err != nil {
		return 0, err
	}
	if err := a.openStore(ctx); err != nil {
		return 0, err
	}
	r := keyrotation.Rotation{Store: a.store, Dir: s.Data.Dir, Keys: s.Security.EncryptionKeys(), Lease: jobs.Lease, Log: log}
	if withGateways || s.Database.Type == config.SQLite { // a gateway on SQLite would hold the lock
		return r.Run(ctx)
	}
	return r.RunAlone(ctx)
}

// HealthURL returns the URL of the health endpoint of a gateway with these settings.
func HealthURL(s config.Settings) string { return localURL(s) + "/v1/health" }

// localURL returns the URL, without a path, at which this machine reaches a gateway with these
// settings.
func localURL(s config.Settings) string {
	host, port, _ := net.SplitHostPort(s.Server.Address())
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
	if s.TLS.Enabled() {
		u.Scheme = "https"
	}
	return u.String()
}

// Health requests the status of the gateway with these settings: "ok", "degraded" or "draining".
// It fails if nothing responds, or if the response does not come from a gateway.
func Health(ctx context.Context, s config.Settings) (status string, err error) {
	return health.Check(ctx, HealthURL(s))
}

// errUnshared reports that the deployment shares no limits between nodes.
var errUnshared = errors.New("limits are not shared with other nodes: CACHE_STORE is not redis")

// Nodes lists the nodes that share their limits, from Redis. The node with the most recent report
// is the first.
func Nodes(ctx context.Context, s config.Settings) ([]redis.Node, error) {
	if !s.Redis.Enabled() {
		return nil, errUnshared
	}
	return redis.ListNodes(ctx, options.Redis(s.Redis))
}

// ForgetNode returns to budgets the shares of a node that is gone for good, and returns those
// shares. It works while other nodes serve. A node that reported within the last minute is an
// error.
func ForgetNode(ctx context.Context, s config.Settings, node string) ([]quota.NodeShare, error) {
	if !s.Redis.Enabled() {
		return nil, errUnshared
	}
	return redis.Forget(ctx, options.Redis(s.Redis), node)
}

package clickhouse

import (
	"context"
	"errors"
	"fmt"

	"sluice/internal/storage/requestlog/clickhouse/client"
)

// Migrate creates or updates the database and the tables.
func Migrate(ctx context.Context, o Options) error {
	d, err := prepared(o)
	if err != nil {
		return err
	}
	defer d.c.Close()
	if err := d.prepare(ctx); err != nil {
		return fmt.Errorf("migrate log database: %w", err)
	}
	return nil
}

// Check checks a server and changes nothing. It returns a description of what it found.
func Check(ctx context.Context, s client.Server) (found string, err error) {
	d, err := prepared(Options{Server: s})
	if err != nil {
		return "", err
	}
	defer d.c.Close()
	text, err := d.checkVersion(ctx)
	if err != nil {
		return "", err
	}
	done, known, err := d.migrationState(ctx)
	switch {
	case err != nil:
		return "", err
	case done == 0:
		return fmt.Sprintf("ClickHouse %s responds; sluice migrate, or the next start, will create the tables in the database %s", text, s.Database), nil
	case done < len(known):
		return fmt.Sprintf("ClickHouse %s responds; sluice migrate, or the next start, will update the tables", text), nil
	}
	return fmt.Sprintf("ClickHouse %s responds, and the tables in the database %s exist", text, s.Database), nil
}

// Hint returns what to do about an error of Check or Open.
func Hint(err error) string {
	switch {
	case errors.Is(err, errOld):
		return "upgrade ClickHouse"
	case errors.Is(err, errNew):
		return "run the version of sluice that created the tables, or a later one"
	case client.Is(err, client.NoAuthorisation):
		return "check ANALYTICS_STORE_USER and ANALYTICS_STORE_PASSWORD"
	case client.Is(err, client.AccessDenied):
		return "grant ANALYTICS_STORE_USER all privileges on the database ANALYTICS_STORE_DATABASE; create the database manually if that user cannot"
	}
	return "check ANALYTICS_STORE_URL (the HTTP interface: 8123, or 8443 with TLS), ANALYTICS_STORE_CA, and whether the server runs"
}

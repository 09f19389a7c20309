package target

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"

	"sluice/internal/ident"
	"sluice/internal/sealed"
	"sluice/internal/store"
)

// Database is where a Deployment keeps its control plane.
type Database struct {
	server *url.URL // nil: SQLite, in the data directory
	name   string
}

// postgresVariable names the server: "postgres://user:password@host:port/database".
const postgresVariable = "SLUICE_TEST_POSTGRES"

// dropLimit bounds what is done with a server besides the benchmark.
const dropLimit = 20 * time.Second

// SQLite is a file in the data directory.
func SQLite() *Database { return &Database{} }

// Postgres makes a database on the server that SLUICE_TEST_POSTGRES names, else on the
// one of this machine.
func Postgres(ctx context.Context) (*Database, error) {
	candidates := []string{"postgres://postgres@127.0.0.1:5432/postgres", "postgres://root@127.0.0.1:5432/postgres"}
	if v := os.Getenv(postgresVariable); v != "" {
		candidates = []string{v}
	}
	d := &Database{name: "sluice_" + strings.ReplaceAll(ident.NewID(), "-", "")}
	var err error
	for _, c := range candidates {
		if d.server, err = url.Parse(c); err != nil {
			return nil, fmt.Errorf("%s: %w", postgresVariable, err)
		}
		if err = d.run(ctx, "CREATE DATABASE "+d.name); err == nil {
			return d, nil
		}
	}
	return nil, err
}

func (d *Database) run(ctx context.Context, statement string) error {
	ctx, stop := context.WithTimeout(ctx, dropLimit)
	defer stop()
	db, err := sql.Open("pgx", d.server.String())
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // nothing is pending
	_, err = db.ExecContext(ctx, statement)
	return err
}

// Drop removes it, whoever is still connected; a file goes with its directory.
func (d *Database) Drop() error {
	if d.server == nil {
		return nil
	}
	return d.run(context.Background(), "DROP DATABASE "+d.name+" WITH (FORCE)")
}

// settings lead to the database from here.
func (d *Database) settings(dataDir string) store.Settings {
	if d.server == nil {
		return store.Settings{Engine: store.SQLite, Path: filepath.Join(dataDir, "sluice.db")}
	}
	port, _ := strconv.Atoi(cmp.Or(d.server.Port(), "5432")) // Parse saw to it
	pass, _ := d.server.User.Password()
	return store.Settings{Engine: store.Postgres, Writer: store.Endpoint{
		Host: d.server.Hostname(), Port: port, User: d.server.User.Username(), Pass: sealed.New(pass), Name: d.name,
	}}
}

// env are the settings that lead the program to it.
func (d *Database) env() []string {
	if d.server == nil {
		return nil
	}
	w := d.settings("").Writer
	return []string{
		"DB_TYPE=" + store.Postgres, "DB_HOST=" + w.Host, "DB_PORT=" + strconv.Itoa(w.Port), "DB_USER=" + w.User,
		"DB_PASS=" + w.Pass.Reveal(), "DB_NAME=" + w.Name,
	}
}

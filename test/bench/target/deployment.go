package target

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"sluice/internal/control/apikeys"
	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore"
	"sluice/test/bench/proc"
)

// The size of a Deployment.
const (
	Keys       = 10_000
	Workspaces = 1000
	seedBatch  = 500
)

// Deployment is a gateway with many workspaces and keys in its control plane.
type Deployment struct {
	*proc.Process
	Addr         string
	Key          string   // an Admin key
	WorkspaceIDs []string // ids of the workspaces; half of the keys are in the first one
	InTurn       []string // ids of keys
	drop         func() error
}

// StartDeployment founds a deployment in dir on a database, fills it and starts the
// program at path on it. Stop also drops the database.
func StartDeployment(ctx context.Context, path, dir string, db *Database) (_ *Deployment, err error) {
	d := &Deployment{Key: "bench-" + rand.Text(), drop: db.Drop}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Stop())
		}
	}()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	env := append(db.Env(), "HOME="+dir, "LISTEN=127.0.0.1", "PORT=0", "DATA_DIR="+filepath.Join(dir, "data"), "LOG_LEVEL=warn",
		"BOOTSTRAP_ADMIN_KEY="+d.Key, "BOOTSTRAP_WORKSPACE_KEY=bench-"+rand.Text(), "ADMIN_REQUESTS_PER_MINUTE=0", "ENCRYPTION_KEY=a sealing key of the benchmark")
	command := proc.Command{Name: "sluice", Path: path, Args: []string{"serve"}, Env: env, Dir: dir, Ready: sluiceReady}
	if d.Process, err = proc.Start(ctx, command); err != nil {
		return nil, err
	}
	if err := d.Process.Stop(); err != nil {
		return nil, err
	}
	d.Process = nil
	if err := d.fill(ctx, db.settings(filepath.Join(dir, "data"))); err != nil {
		return nil, fmt.Errorf("fill the control plane: %w", err)
	}
	if err := db.finishImport(ctx); err != nil {
		return nil, fmt.Errorf("settle the control plane: %w", err)
	}
	if d.Process, err = proc.Start(ctx, command); err != nil {
		return nil, err
	}
	d.Addr = d.ReadyMatch[1]
	return d, nil
}

// Stop ends the program and drops its database.
func (d *Deployment) Stop() error {
	var err error
	if d.Process != nil {
		err = d.Process.Stop()
	}
	return errors.Join(err, d.drop())
}

// fill stores workspaces and keys as the administration would.
func (d *Deployment) fill(ctx context.Context, set sqlstore.Settings) (err error) {
	s, err := sqlstore.Open(ctx, set, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	orgs, err := s.List(ctx, resource.Query{Kind: tenant.OrganisationKind})
	if err != nil {
		return err
	}
	org := orgs[0].ID
	var all []resource.Record
	for i := range Workspaces {
		r, err := stored(resource.Record{Kind: tenant.WorkspaceKind, OrgID: org, Slug: "ws-bench-" + strconv.Itoa(i)}, tenant.Workspace{Name: "Team " + strconv.Itoa(i)})
		if err != nil {
			return err
		}
		d.WorkspaceIDs, all = append(d.WorkspaceIDs, r.ID), append(all, r)
	}
	hasher := keys.NewHasher([]byte(rand.Text()))
	for i := range Keys {
		key := keys.Key{
			Name: "Service " + strconv.Itoa(i), Type: access.WorkspaceService, Scopes: access.Allowed(access.WorkspaceService), CreationMode: "api",
			Secret: keys.Secret{Hash: hasher.Sum(strconv.Itoa(i)), Masked: "sk*****x4Q"},
		}
		workspaceID := d.WorkspaceIDs[0]
		if i%2 == 1 {
			workspaceID = d.WorkspaceIDs[i%Workspaces]
		}
		r, err := stored(resource.Record{Kind: keys.Kind, OrgID: org, WorkspaceID: workspaceID, Name: key.Name, Index: apikeys.KeyIndex(&key)}, key)
		if err != nil {
			return err
		}
		d.InTurn, all = append(d.InTurn, r.ID), append(all, r)
	}
	return insert(ctx, s, all)
}

func stored(r resource.Record, body any) (resource.Record, error) {
	text, err := json.Marshal(body)
	r.ID, r.Status, r.Version, r.Body = ident.NewID(), resource.Active, 1, text
	return r, err
}

func insert(ctx context.Context, s *sqlstore.Store, all []resource.Record) error {
	for len(all) > 0 {
		some := all[:min(seedBatch, len(all))]
		err := s.InTx(ctx, func(tx resource.Tx) error {
			for _, r := range some {
				if err := tx.Insert(ctx, r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		all = all[len(some):]
	}
	return nil
}

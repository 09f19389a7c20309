package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"sluice/internal/app"
	"sluice/internal/ops/config"
)

type migrate struct{}

// Run brings the tables up to date.
func (migrate) Run(ctx context.Context, s *settings) error {
	l, log, err := s.load()
	if err != nil {
		return err
	}
	if err := app.Migrate(ctx, l.Settings, log); err != nil {
		return err
	}
	fmt.Println("The database is up to date.")
	return nil
}

type doctor struct{}

// Run looks at everything a gateway needs. It fails when something must be cured.
func (doctor) Run(ctx context.Context, s *settings) error {
	l, err := config.LoadLenient(s.sources())
	var broken *config.Error
	if err != nil && !errors.As(err, &broken) {
		return err
	}
	if _, err := logger(l); err != nil {
		return err
	}
	var problems []config.Problem
	if broken != nil {
		problems = broken.Problems
	}
	bad := 0
	for _, f := range app.Doctor(ctx, l.Settings, problems) {
		mark := "ok  "
		switch {
		case f.Err != nil && f.Warning:
			mark = "warn"
		case f.Err != nil:
			mark = "FAIL"
			bad++
		}
		fmt.Printf("%s  %-10s %s\n", mark, f.Subject, f.Message())
	}
	if bad > 0 {
		return fmt.Errorf("%d checks failed", bad)
	}
	return nil
}

type showConfig struct{}

// Run prints the effective settings.
func (showConfig) Run(s *settings) error {
	l, _, err := s.load()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	group := ""
	for _, r := range l.Table() {
		if r.Group != group {
			fmt.Fprintf(w, "\n# %s\n", r.Group)
			group = r.Group
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, r.Value, r.Origin)
	}
	return w.Flush()
}

type keysCommand struct {
	Create createKey        `cmd:"" help:"Create an API key and print it once."`
	Rotate rotateSealingKey `cmd:"" name:"rotate-encryption" help:"Re-encrypt all secrets with a new key. Stop the gateways first."`
}

type createKey struct {
	Name      string   `required:"" help:"Name of the key."`
	Type      string   `enum:"organisation-service,workspace-service" default:"workspace-service" help:"organisation-service (Admin key) or workspace-service."`
	Workspace string   `help:"Slug of the workspace; the default is the default workspace."`
	Scopes    []string `help:"Comma-separated scopes; the default is all scopes that the type allows."`
}

// Run makes the key.
func (c createKey) Run(ctx context.Context, s *settings) error {
	l, log, err := s.load()
	if err != nil {
		return err
	}
	raw, err := app.CreateKey(ctx, l.Settings, log, app.NewKey{Name: c.Name, Type: c.Type, Workspace: c.Workspace, Scopes: c.Scopes}, founded(s, l, false))
	if err != nil {
		return err
	}
	fmt.Println(raw)
	return nil
}

type rotateSealingKey struct {
	WithGateways bool `name:"beside-gateways" help:"Rotate while gateways run; each must have the new key first in ENCRYPTION_KEY, and the old one after it."`
}

// Run rotates the sealing key.
func (c rotateSealingKey) Run(ctx context.Context, s *settings) error {
	l, log, err := s.load()
	if err != nil {
		return err
	}
	n, err := app.RotateSealing(ctx, l.Settings, log, c.WithGateways)
	if err != nil {
		return err
	}
	fmt.Printf("%d records are sealed with the current key. You can remove older keys, unless a gateway that ran meanwhile sealed with one: then start it with the current key and run this command again.\n", n)
	return nil
}

type healthcheck struct{}

// Run asks /v1/health of the gateway that these settings describe.
func (healthcheck) Run(ctx context.Context, s *settings) error {
	l, _, err := s.load()
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	status, err := app.Health(ctx, l.Settings)
	if err == nil && status == "draining" {
		err = errors.New("the gateway is draining")
	}
	return err
}

type showVersion struct{}

// Run prints the version.
func (showVersion) Run() error {
	_, err := fmt.Println(versionLine())
	return err
}

// versionLine is "sluice v1.2.3"; also of the flag --version.
func versionLine() string { return "sluice " + version }

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"text/tabwriter"
	"time"

	"sluice/internal/app"
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
	l, log, err := s.load()
	if err != nil {
		return err
	}
	bad := 0
	for _, f := range app.Doctor(ctx, l.Settings, log) {
		mark := "ok  "
		if f.Err != nil {
			mark = "FAIL"
			bad++
		}
		fmt.Printf("%s  %-10s %s\n", mark, f.Subject, f.Says())
	}
	if bad > 0 {
		return fmt.Errorf("%d of the checks failed", bad)
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
	Create createKey        `cmd:"" help:"Make an API key and print it once."`
	Rotate rotateSealingKey `cmd:"" name:"rotate-encryption" help:"Seal everything under a new key. Stop the gateways first."`
}

type createKey struct {
	Name      string   `required:"" help:"Name of the key."`
	Type      string   `enum:"organisation-service,workspace-service" default:"workspace-service" help:"organisation-service (Admin key) or workspace-service."`
	Workspace string   `help:"Slug of the workspace; the default one when left out."`
	Scopes    []string `help:"Scopes, comma separated; all that the type may hold when left out."`
}

// Run makes the key.
func (c createKey) Run(ctx context.Context, s *settings) error {
	l, log, err := s.load()
	if err != nil {
		return err
	}
	raw, err := app.CreateKey(ctx, l.Settings, log, app.NewKey{Name: c.Name, Type: c.Type, Workspace: c.Workspace, Scopes: c.Scopes})
	if err != nil {
		return err
	}
	fmt.Println(raw)
	return nil
}

type rotateSealingKey struct{}

// Run rotates the sealing key.
func (rotateSealingKey) Run(ctx context.Context, s *settings) error {
	l, log, err := s.load()
	if err != nil {
		return err
	}
	n, err := app.RotateSealing(ctx, l.Settings, log)
	if err != nil {
		return err
	}
	fmt.Printf("%d records are sealed under the current key. Older keys are no longer needed.\n", n)
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
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, app.HealthURL(l.Settings), nil)
	if err != nil {
		return err
	}
	resp, err := app.HealthClient(l.Settings).Do(req)
	if err != nil {
		return fmt.Errorf("the gateway does not answer: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New("the gateway answers " + resp.Status)
	}
	return nil
}

type showVersion struct{}

// Run prints the version.
func (showVersion) Run() error {
	fmt.Println("sluice", version)
	return nil
}

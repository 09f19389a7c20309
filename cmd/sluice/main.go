// Command sluice is the gateway: one binary that serves, demonstrates, migrates
// and looks after itself. Flags and environment go in, app does the rest.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"sluice/internal/config"
	"sluice/internal/telemetry"
)

// version is set by the build.
var version = "dev"

// cli is the command line. Every setting can also be given as --set NAME=VALUE.
type cli struct {
	Settings settings `embed:""`

	Serve       serve         `cmd:"" help:"Serve model traffic and the administration."`
	Demo        demo          `cmd:"" help:"Serve, with a scripted provider to try everything on."`
	Migrate     migrate       `cmd:"" help:"Bring the database up to date and end."`
	Doctor      doctor        `cmd:"" help:"Check settings, database, TLS, clock, disk and upstreams, each with the cure."`
	Config      showConfig    `cmd:"" help:"Show the settings in force and where each came from; secrets are masked."`
	Keys        keysCommand   `cmd:"" help:"Make API keys and rotate the sealing key."`
	Audit       auditCommand  `cmd:"" help:"Export and verify the audit trail."`
	Users       usersCommand  `cmd:"" help:"List people and set their passwords."`
	Limits      limitsCommand `cmd:"" help:"List the nodes that share limits, and forget one that is gone."`
	Healthcheck healthcheck   `cmd:"" help:"Ask the running gateway how it is; for containers."`
	Version     showVersion   `cmd:"" help:"Show the version."`
}

// settings are the flags that every command takes.
type settings struct {
	File     string            `name:"config" help:"Settings file (YAML); also SLUICE_CONFIG." placeholder:"FILE"`
	Listen   string            `help:"Address to listen on, host or host:port; also LISTEN." placeholder:"ADDR"`
	Port     string            `help:"Port to listen on; also PORT." placeholder:"PORT"`
	DataDir  string            `help:"Directory for the database, the journal and the log; also DATA_DIR." placeholder:"DIR"`
	LogLevel string            `help:"debug, info, warn or error; also LOG_LEVEL." placeholder:"LEVEL"`
	Set      map[string]string `help:"Any setting of docs/settings.md." placeholder:"NAME=VALUE"`
}

// load puts settings together from file, environment and flags, and makes the log.
func (s *settings) load() (*config.Loaded, *slog.Logger, error) {
	flags := map[string]string{"listen": s.Listen, "port": s.Port, "data-dir": s.DataDir, "log-level": s.LogLevel}
	for name, v := range s.Set {
		flags[name] = v
	}
	l, err := config.Load(config.Sources{File: s.File, Environ: os.Environ(), Flags: flags})
	if err != nil {
		return nil, nil, err
	}
	t := l.Settings.Telemetry
	log, err := telemetry.NewLogger(os.Stderr, t.Format, t.Level)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range l.Warnings {
		log.Warn(w)
	}
	return l, log, nil
}

func main() {
	syscall.Umask(0o077) // whatever is written, libraries' files too, is the owner's alone
	var c cli
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := kong.Parse(&c, kong.Name("sluice"), kong.Description("Sluice, a self-hosted AI gateway."), kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(&c.Settings))
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "sluice:", err)
		os.Exit(1)
	}
}

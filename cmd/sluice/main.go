// Command sluice is the gateway: one binary that serves, demonstrates, migrates
// and looks after itself. Flags and environment go in, app does the rest.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"

	"github.com/alecthomas/kong"

	"sluice/internal/ops/config"
	"sluice/internal/ops/telemetry"
	"sluice/internal/ops/telemetry/accesslog"
)

// version is set by the build.
var version = "dev"

// cli is the command line. Every setting can also be given as --set NAME=VALUE.
type cli struct {
	Settings settings `embed:""`

	ShowVersion kong.VersionFlag `name:"version" help:"Show the version and exit."`

	Serve       serve         `cmd:"" help:"Serve model traffic and the admin API."`
	Demo        demo          `cmd:"" help:"Serve with a scripted provider for trying out the gateway."`
	Migrate     migrate       `cmd:"" help:"Migrate the database and exit."`
	Doctor      doctor        `cmd:"" help:"Check settings, database, TLS, clock, disk and upstreams, and suggest fixes."`
	Config      showConfig    `cmd:"" help:"Show the effective settings and their sources, with secrets masked."`
	Keys        keysCommand   `cmd:"" help:"Create API keys and rotate the sealing key."`
	Audit       auditCommand  `cmd:"" help:"Export and verify the audit trail."`
	Users       usersCommand  `cmd:"" help:"List users and set their passwords."`
	Limits      limitsCommand `cmd:"" help:"List the nodes that share limits, and remove a node permanently."`
	Healthcheck healthcheck   `cmd:"" help:"Check the health of the running gateway, for containers."`
	Version     showVersion   `cmd:"" help:"Show the version."`
}

// settings are the flags that every command takes.
type settings struct {
	File     string            `name:"config" help:"Settings file (YAML); also SLUICE_CONFIG." placeholder:"FILE"`
	Listen   string            `help:"Address to listen on: host, host:port or :port; also LISTEN." placeholder:"ADDR"`
	Port     string            `help:"Port to listen on; also PORT." placeholder:"PORT"`
	DataDir  string            `help:"Directory for the database, the journal and the log; also DATA_DIR." placeholder:"DIR"`
	LogLevel string            `help:"debug, info, warn or error; also LOG_LEVEL." placeholder:"LEVEL"`
	Set      map[string]string `mapsep:"none" help:"Set any setting of docs/settings.md." placeholder:"NAME=VALUE"`
}

// sources are where settings come from: file, environment and flags.
func (s *settings) sources() config.Sources {
	flags := map[string]string{"listen": s.Listen, "port": s.Port, "data-dir": s.DataDir, "log-level": s.LogLevel}
	for name, v := range s.Set {
		flags[name] = v
	}
	return config.Sources{File: s.File, Environ: os.Environ(), Flags: flags}
}

// load puts the settings together and makes the log.
func (s *settings) load() (*config.Loaded, *slog.Logger, error) {
	l, err := config.Load(s.sources())
	if err != nil {
		return nil, nil, err
	}
	log, err := logger(l)
	return l, log, err
}

// logger makes the log and writes what there is to say of the settings.
func logger(l *config.Loaded) (*slog.Logger, error) {
	t := l.Settings.Telemetry
	log, err := telemetry.NewLogger(logWriter{os.Stderr}, telemetry.Format(t.Format, os.Stderr), t.Level)
	if err != nil {
		return nil, err
	}
	for _, w := range l.Warnings {
		log.Warn(w)
	}
	return log, nil
}

// accessLog makes the access log, nil when the settings want none.
func accessLog(ctx context.Context, s *config.Settings, log *slog.Logger) *accesslog.Log {
	if !s.Telemetry.AccessLog || !log.Enabled(ctx, slog.LevelInfo) {
		return nil
	}
	return accesslog.New(logWriter{os.Stderr}, telemetry.Format(s.Telemetry.Format, os.Stderr), log)
}

func main() {
	syscall.Umask(0o077) // whatever is written, libraries' files too, is the owner's alone
	var c cli
	parser := kong.Must(&c, kong.Name("sluice"), kong.Description("Sluice, a self-hosted AI gateway."),
		kong.BindTo(untilStopped(), (*context.Context)(nil)), kong.Bind(&c.Settings), kong.Vars{"version": versionLine()})
	cmd, err := parser.Parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "sluice:", misused(err))
		os.Exit(misuse)
	}
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "sluice:", config.WithoutLogin(err.Error()))
		os.Exit(1)
	}
}

// misuse is the exit code of a command line that cannot be read, as kong has it.
const misuse = 80

// misused describes an error in a command line, on one line, and names the help of its flags.
func misused(err error) string {
	command := "sluice"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if n := parse.Context.Selected(); n != nil {
			command = n.FullPath()
		}
	}
	return fmt.Sprintf("%s; see %s --help", err, command)
}

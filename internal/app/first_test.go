package app

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/config"
	"sluice/internal/storage/sqlstore/storetest"
)

// freshSettings are a data directory that is not there yet and a free port.
func freshSettings(t *testing.T) config.Settings {
	s := config.Default()
	s.Data.Dir = filepath.Join(t.TempDir(), "data")
	s.Server.Listen, s.Server.Port = "127.0.0.1", 0
	return s
}

// Whoever makes the organisation gets to know its keys, and nobody a second time.
func TestWhoFoundsIsToldTheKeys(t *testing.T) {
	t.Parallel()
	quiet := slog.New(slog.DiscardHandler)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	for name, do := range map[string]func(ctx context.Context, s config.Settings, founded func(FirstKeys)) error{
		"keys create": func(ctx context.Context, s config.Settings, founded func(FirstKeys)) error {
			_, err := CreateKey(ctx, s, quiet, NewKey{Name: "ci", Type: "workspace-service"}, founded)
			return err
		},
		"keys create of a workspace that is not there": func(ctx context.Context, s config.Settings, founded func(FirstKeys)) error {
			if _, err := CreateKey(ctx, s, quiet, NewKey{Name: "ci", Type: "workspace-service", Workspace: "none"}, founded); err == nil {
				t.Error("a key of a workspace that is not there")
			}
			return nil
		},
		"users set-password": func(ctx context.Context, s config.Settings, founded func(FirstKeys)) error {
			_, err := SetPassword(ctx, s, quiet, "owner@localhost", sealed.String{}, founded)
			return err
		},
		"serve on a port that is taken": func(ctx context.Context, s config.Settings, founded func(FirstKeys)) error {
			s.Server.Port = taken.Addr().(*net.TCPAddr).Port
			if _, err := New(ctx, s, Options{Log: quiet, OnBootstrap: founded}); err == nil || !strings.Contains(err.Error(), "--port") || !strings.Contains(err.Error(), "PORT") {
				t.Errorf("a taken port: %v", err)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := freshSettings(t)
			var reported []FirstKeys
			for range 2 {
				if err := do(t.Context(), s, func(k FirstKeys) { reported = append(reported, k) }); err != nil {
					t.Fatal(err)
				}
			}
			if len(reported) != 1 || reported[0].Admin == "" || reported[0].Workspace == "" {
				t.Errorf("told %d times", len(reported))
			}
		})
	}
}

// A replica that lags has not even the tables when the first key is made.
func TestFirstCommandsBesideALaggingReader(t *testing.T) {
	t.Parallel()
	primary := storetest.StartPostgres(t, nil)
	writer := primary.Settings(t).Writer
	standby := primary.Standby(t)
	standby.Admin(t, "SELECT pg_wal_replay_pause()")
	s := freshSettings(t)
	s.Database = config.Database{
		Type: config.Postgres, Host: writer.Host, Port: writer.Port, User: writer.User, Pass: writer.Pass, Name: writer.Name, SSL: "DISABLED",
		ReaderHost: standby.Endpoint.Host, ReaderPort: standby.Endpoint.Port,
	}
	reported := 0
	quiet, founded := slog.New(slog.DiscardHandler), func(FirstKeys) { reported++ }
	if _, err := CreateKey(t.Context(), s, quiet, NewKey{Name: "ci", Type: "workspace-service"}, founded); err != nil {
		t.Errorf("keys create: %v", err)
	}
	if _, err := SetPassword(t.Context(), s, quiet, "owner@localhost", sealed.String{}, founded); err != nil {
		t.Errorf("users set-password: %v", err)
	}
	if reported != 1 {
		t.Errorf("told %d times", reported)
	}
}

// What no key can be is refused before anything is made, and says what can.
func TestKeysThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    NewKey
		want string
	}{
		{NewKey{Name: " ", Type: "workspace-service"}, "name is required"},
		{NewKey{Name: "ci", Type: "workspace-service", Scopes: []string{"nonsense.x"}}, `unknown scope "nonsense.x"; keys of type workspace-service support: `},
		{NewKey{Name: "ci", Type: "workspace-service", Scopes: []string{"logs.view", "workspaces.create"}}, `do not support the scope "workspaces.create"; supported: `},
	} {
		s := freshSettings(t)
		_, err := CreateKey(t.Context(), s, slog.New(slog.DiscardHandler), c.n, func(FirstKeys) { t.Error("an organisation was made") })
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "false") {
			t.Errorf("%+v: %v", c.n, err)
		}
	}
}

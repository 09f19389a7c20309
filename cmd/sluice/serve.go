package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sluice/internal/app"
	"sluice/internal/config"
)

type serve struct{}

// Run serves until it is told to stop.
func (serve) Run(ctx context.Context, s *settings) error { return run(ctx, s, false) }

type demo struct{}

// Run serves with the scripted provider registered.
func (demo) Run(ctx context.Context, s *settings) error { return run(ctx, s, true) }

func run(ctx context.Context, s *settings, demo bool) (err error) {
	l, log, err := s.load()
	if err != nil {
		return err
	}
	if demo && l.Origin("DATA_DIR") == "default" {
		// apart from the data of a real gateway, whose workspace would else have the
		// scripted provider as its default
		l.Settings.Data.Dir = filepath.Join(l.Settings.Data.Dir, "demo")
	}
	a, err := app.New(ctx, l.Settings, app.Options{Version: version, Log: log, Demo: demo, OwnGC: os.Getenv("GOGC") != ""})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	welcome(a, l.Settings, demo)
	return a.Run(ctx)
}

// welcome prints the first keys, once, with a call that works as printed.
func welcome(a *app.App, s config.Settings, demo bool) {
	first := a.FirstKeys()
	scheme := "http"
	if s.TLS.Cert != "" {
		scheme = "https"
	}
	base := scheme + "://" + a.Addr() + "/v1"
	fmt.Printf("Sluice %s listens on %s\n", version, base)
	if first.Admin == "" {
		if demo {
			fmt.Printf("The scripted provider is @%s and the default of the first workspace.\n", app.DemoSlug)
		}
		return
	}
	fmt.Printf("\nThis is the first start. These keys are shown once; keep them:\n\n  Admin key      %s\n  Workspace key  %s\n\nA first call:\n\n", first.Admin, first.Workspace)
	if demo {
		fmt.Printf("  curl %s/chat/completions \\\n    -H 'x-gateway-api-key: %s' \\\n    -H 'content-type: application/json' \\\n    -d '{\"model\":\"demo\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}'\n\n", base, first.Workspace)
		return
	}
	fmt.Printf("  curl %s/models -H 'x-gateway-api-key: %s'\n\nTo reach a provider, add its name and your key for it:\n\n", base, first.Workspace)
	fmt.Printf("  curl %s/chat/completions \\\n    -H 'x-gateway-api-key: %s' \\\n    -H 'x-gateway-provider: openai' -H \"authorization: Bearer $OPENAI_API_KEY\" \\\n    -H 'content-type: application/json' \\\n    -d '{\"model\":\"gpt-4o-mini\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}'\n\n", base, first.Workspace)
}

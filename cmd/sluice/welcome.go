package main

import (
	"fmt"

	"sluice/internal/app"
	"sluice/internal/config"
)

// welcome prints where the gateway listens, and at the first start its keys, once,
// with a call that works as printed. Keys that the operator chose are not repeated:
// what is printed may end up in a log.
func welcome(a *app.App, s config.Settings, demo bool) {
	first := a.FirstKeys()
	scheme := "http"
	if s.TLS.Enabled() {
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
	admin, key := first.Admin, first.Workspace
	if !s.Bootstrap.AdminKey.Empty() {
		admin = "$BOOTSTRAP_ADMIN_KEY"
	}
	if !s.Bootstrap.WorkspaceKey.Empty() {
		key = "$BOOTSTRAP_WORKSPACE_KEY"
	}
	fmt.Printf(firstStart, admin, key)
	if demo {
		fmt.Printf(demoCall, base, key)
		return
	}
	fmt.Printf(serveCalls, base, key, base, key)
}

const (
	firstStart = `
This is the first start. These keys are shown once; keep them:

  Admin key      %s
  Workspace key  %s

To sign in as a person: sluice users set-password owner@localhost

A first call:

`
	demoCall = `  curl %s/chat/completions \
    -H "x-gateway-api-key: %s" \
    -H 'content-type: application/json' \
    -d '{"model":"demo","messages":[{"role":"user","content":"Hello"}]}'

`
	serveCalls = `  curl %s/models -H "x-gateway-api-key: %s"

To reach a provider, add its name and your key for it:

  curl %s/chat/completions \
    -H "x-gateway-api-key: %s" \
    -H 'x-gateway-provider: openai' -H "authorization: Bearer $OPENAI_API_KEY" \
    -H 'content-type: application/json' \
    -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'

`
)

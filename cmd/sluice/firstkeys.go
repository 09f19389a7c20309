package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"sluice/internal/app"
	"sluice/internal/ops/config"
)

// printGreeting prints where the gateway listens, and at the first start its keys.
func printGreeting(a *app.App, s *settings, l *config.Loaded, first app.FirstKeys, demo bool) {
	base := scheme(l) + "://" + a.Addr() + "/v1"
	fmt.Printf("Sluice %s listens on %s\n", version, base)
	switch {
	case first != (app.FirstKeys{}):
		greeting{intro: "This is the first start.", base: base, signIn: s.again(l, demo), demo: demo}.show(os.Stdout, first, l)
	case demo:
		fmt.Printf("The scripted provider is @%s and is the default of the first workspace.\n", app.DemoSlug)
	}
}

// founded shows the first keys where serve did not come to it, or a command other than
// serve was the first to come, which made the organisation: nobody else ever learns them.
// Standard output belongs to what the command was asked for.
func founded(s *settings, l *config.Loaded, demo bool) func(app.FirstKeys) {
	return func(first app.FirstKeys) {
		base := strings.TrimSuffix(app.HealthURL(l.Settings), "/health")
		when := " after `sluice serve` has started"
		if demo {
			when = " after `sluice demo` has started"
		}
		greeting{
			intro: "No organisation existed, so one was created, as on a first start.", when: when, base: base, signIn: s.again(l, demo), demo: demo,
		}.show(os.Stderr, first, l)
	}
}

// again is how a further command is called that is to find the same database.
func (s *settings) again(l *config.Loaded, demo bool) string {
	call := quoted(os.Args[0])
	if s.File != "" {
		call += " --config " + quoted(s.File)
	}
	if origin := l.Origin("DATA_DIR"); origin == "command line" || demo && origin == "default" {
		call += " --data-dir " + quoted(l.Settings.Data.Dir)
	}
	return call
}

func scheme(l *config.Loaded) string {
	if l.Settings.TLS.Enabled() {
		return "https"
	}
	return "http"
}

// greeting shows the keys of a first start, once, with a call that works as printed.
// Keys that the operator chose are not repeated, since what is printed may end up in a
// log: the call reads them where they were given.
type greeting struct {
	intro, when string
	base        string // of the gateway, "http://127.0.0.1:8787/v1"
	signIn      string // how the program is called that gives the owner a password, "bin/sluice --data-dir data/demo"
	demo        bool
}

func (g greeting) show(w io.Writer, first app.FirstKeys, l *config.Loaded) {
	admin := newShellValue(l, "BOOTSTRAP_ADMIN_KEY", l.Settings.Bootstrap.AdminKey)
	key := newShellValue(l, "BOOTSTRAP_WORKSPACE_KEY", l.Settings.Bootstrap.WorkspaceKey)
	if l.Settings.Bootstrap.AdminKey.Empty() {
		admin = shellValue{text: first.Admin}
	}
	if l.Settings.Bootstrap.WorkspaceKey.Empty() {
		key = shellValue{text: first.Workspace}
	}
	fmt.Fprintf(w, firstKeys, g.intro, admin.shown(), key.shown(), g.signIn, g.when+key.where())
	if key.text == "" {
		fmt.Fprintf(w, askForKey, key.origin)
		key.text = "$SLUICE_KEY"
	}
	curl := "curl"
	if strings.HasPrefix(g.base, "https:") {
		curl = "curl -k" // the address need not be what the certificate names
	}
	if g.demo {
		fmt.Fprintf(w, demoCall, curl, g.base, key.text)
		return
	}
	fmt.Fprintf(w, serveCalls, curl, g.base, key.text, curl, g.base, key.text)
}

const (
	firstKeys = `
%s These keys are shown once; store them now:

  Admin key      %s
  Workspace key  %s

To sign in as a user: %s users set-password owner@localhost

A first call%s:

`
	askForKey = `  read -r SLUICE_KEY

waits for the workspace key of the %s; then

`
	demoCall = `  %s %s/chat/completions \
    -H "x-gateway-api-key: %s" \
    -H 'content-type: application/json' \
    -d '{"model":"demo","messages":[{"role":"user","content":"Hello"}]}'

`
	serveCalls = `  %s %s/models -H "x-gateway-api-key: %s"

To reach a provider, add its name and your key for it:

  %s %s/chat/completions \
    -H "x-gateway-api-key: %s" \
    -H 'x-gateway-provider: openai' -H "authorization: Bearer $OPENAI_API_KEY" \
    -H 'content-type: application/json' \
    -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'

`
)

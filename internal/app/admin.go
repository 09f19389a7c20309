package app

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"sluice/internal/app/options"
	"sluice/internal/control"
	"sluice/internal/control/people"
	"sluice/internal/domain/audit"
	"sluice/internal/domain/deployment"
	"sluice/internal/domain/identity"
	"sluice/internal/domain/record/replay"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/intake"
	"sluice/internal/gateway/nethttp"
	"sluice/internal/http1/server"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/rerate"
)

// buildAdmin mounts the administration. It identifies callers in the same way as the data plane.
// A change is in force when its response is sent.
func (a *App) buildAdmin(context.Context) error {
	parts := control.Parts{
		Store:      a.store,
		Box:        a.box,
		Hasher:     a.hasher,
		Identify:   a.identify,
		Wake:       a.changed,
		Clock:      a.clock,
		Log:        a.log,
		Version:    a.version,
		KeyPrefix:  a.set.Security.APIKeyPrefix,
		ConsoleURL: a.consoleURL(),
		MCPURL:     a.mcpURL(),
		Features:   a.features(),
		Specs:      a.specs,
		Guard:      a.guard,
		Outside:    a.client.HTTPClient(),
		Secrets:    a.secrets,
		Models:     a.catalog,
		Checks:     a.checks.Table(),
		Meters:     a.store,
		Deployments: map[deployment.Type]int{
			deployment.Production: a.set.Deployments.MaxProduction, deployment.NonProduction: a.set.Deployments.MaxNonProduction,
		},
		Requests: control.RequestRules{
			PerMinute: a.set.Server.AdminPerMinute, MaxRecords: a.set.Server.RecordsPerKind, Strict: a.set.Server.StrictAdmin,
			Ingest: a.ingested, Proxies: a.proxies,
		},
		SignIn: control.SignIn{
			Local: a.set.People.AuthMode != "SSO", Passwords: identity.NewPasswords(),
			Throttle: identity.NewLoginThrottle(), Invites: identity.NewLoginThrottle(),
		},
		RequestLog: a.administeredLog(),
		Audit:      control.AuditLog{Trail: a.store, Signer: a.signer},
		Configs:    control.ConfigRules{Limits: options.ConfigLimits(a.set), Breakers: a.breakersOf, Trials: a.guardrailTrials(), CachePurger: cachePurger{a.responses}},
	}
	a.admin = control.New(parts)
	return a.buildWorker(parts)
}

// administeredLog returns the request log as the administration uses it.
func (a *App) administeredLog() control.RequestLog {
	return control.RequestLog{
		Logs:    a.logs,
		Journal: a.redactingJournal(),
		Replay:  a.replay,
		Rerate: rerate.New(rerate.Parts{
			Logs: a.logs, Journal: a.journal, Prices: a.prices, Accounts: func() rerate.Accounts { return a.directory.Current() }, Clock: a.clock,
		}),
		Exports:         a.exported,
		ExportRetention: a.exportRetention(),
		Retention:       options.Retention(a.set.Logs),
		RetentionShown:  people.RetentionShown{Bodies: a.set.Logs.RetentionDisplay, Metrics: a.set.Logs.MetricsRetentionDisplay},
		MaxBodyBytes:    a.set.Logs.BodyMaxBytes(),
		Draining:        a.draining.Load,
	}
}

// identify returns the principal that authenticate finds. After it, the caller's body may arrive
// slowly.
func (a *App) identify(r *http.Request) (*access.Principal, error) {
	p, err := a.authenticate(r)
	if err == nil {
		server.MarkAuthenticated(r.Context())
	}
	return p, err
}

// authenticate identifies the caller of the administration: a user by their session, otherwise
// the owner of the API key.
func (a *App) authenticate(r *http.Request) (*access.Principal, error) {
	p, signedIn, err := people.Session(r.Context(), a.store, a.hasher, a.clock, people.Browsers{Console: a.consoleURL(), Proxies: a.proxies}, r)
	if signedIn {
		return p, err
	}
	p, err = a.gateway.Identify(nethttp.Header(r))
	if errors.Is(err, intake.ErrToken) {
		remote, _, _ := net.SplitHostPort(r.RemoteAddr)
		path, _, _ := strings.Cut(r.RequestURI, "?")
		a.tokens.TokenRefused(audit.RefusedToken{
			RefusedAt: a.clock.Now(), Remote: a.proxies.Client(remote, r.Header.Values("X-Forwarded-For")...), Method: r.Method,
			Path: a.admin.ShownPath(r.Method, path), Reason: fault.From(err).Text(),
		})
	}
	return p, err
}

// replay sends a logged request again, with the API key of the caller or with another key that
// the caller names.
func (a *App) replay(r *http.Request, key sealed.String, remote string, call *replay.Call) (*replay.Outcome, error) {
	return a.gateway.Replay(r.Context(), cmp.Or(key.Reveal(), a.gateway.Credential(nethttp.Header(r))), remote, call)
}

// mcpURL returns the URL at which clients reach tool servers: a separate address if one is set.
func (a *App) mcpURL() string {
	if u := a.set.MCP.GatewayURL; u != "" {
		return strings.TrimSuffix(u, "/")
	}
	return a.consoleURL()
}

// consoleURL returns the URL at which people open this gateway in a browser.
func (a *App) consoleURL() string {
	if u := a.set.People.ConsoleURL; u != "" {
		return strings.TrimSuffix(u, "/")
	}
	return localURL(a.set)
}

// changed is called after a commit.
func (a *App) changed() {
	a.applyNow()
	a.exports.Wake() // the change may be a new export
}

// applyLimit is the maximum time for which a response of the administration waits for the live
// copy.
const applyLimit = 500 * time.Millisecond

// applyNow puts a committed change in force on this node before its author receives the response,
// so that a new key works at once. Other nodes follow within a second.
func (a *App) applyNow() {
	ctx, stop := context.WithTimeout(context.Background(), applyLimit)
	defer stop()
	if a.directory.Refresh(ctx) != nil {
		a.directory.Wake() // its loop tries again and logs the error
	}
}

// breakersOf returns the circuit breakers of a workspace's configs. The data plane scopes them by
// workspace and config.
func (a *App) breakersOf(workspaceID string) []routing.BreakerState {
	var states []routing.BreakerState
	for _, s := range a.engine.Breakers("") {
		if scope, ok := strings.CutPrefix(s.Scope, workspaceID+"/"); ok {
			s.Scope = scope
			states = append(states, s)
		}
	}
	return states
}

// features maps the optional features to whether they are on, by the names of their settings.
func (a *App) features() map[string]bool {
	f := a.set.Features
	return map[string]bool{
		"GUARDRAILS_ENABLED": f.Guardrails, "API_ACCESS_ENABLED": f.APIAccess, "DATA_EXPORTS_ENABLED": f.DataExports,
		"USAGE_LIMITS_ENABLED": f.UsageLimits, "AUDIT_LOGS_ENABLED": f.AuditLogs, "SCIM_ENABLED": f.SCIM, "POLICY_ENABLED": f.Policy,
	}
}

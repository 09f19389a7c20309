package logs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/audit"
	"sluice/internal/domain/tenant"
)

// TokensPerMinute is how many rejected tokens a node writes to the audit trail in a minute.
// Every client can send one, so a flood must fill neither the trail nor the store: the rows
// report how many were left out.
const TokensPerMinute = 60

// tokenWriteLimit is the maximum time to write one row, also for rows that remain at shutdown.
const tokenWriteLimit = 5 * time.Second

// TokenTrail adds rejected JWTs to the audit trail, separately from their calls: no call waits
// for the store. Such tokens do not belong to a known organisation, so the rows are added to the
// only organisation; if there are several, the tokens are only logged. TokenTrail is safe for
// concurrent use.
type TokenTrail struct {
	store resource.Store
	trail resource.Trail
	log   *slog.Logger
	queue chan audit.RefusedToken

	mu      sync.Mutex // guards the fields below
	began   time.Time  // start of the present minute
	taken   int        // tokens accepted in that minute
	leftOut int        // tokens since the last row that reported them
}

// NewTokenTrail returns a TokenTrail; Run writes its rows.
func NewTokenTrail(store resource.Store, trail resource.Trail, log *slog.Logger) *TokenTrail {
	return &TokenTrail{store: store, trail: trail, log: log, queue: make(chan audit.RefusedToken, TokensPerMinute)}
}

// TokenRefused accepts a rejected token. It never blocks.
func (t *TokenTrail) TokenRefused(r audit.RefusedToken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if minute := r.RefusedAt.Truncate(time.Minute); minute.After(t.began) {
		t.began, t.taken = minute, 0
	}
	if t.taken == TokensPerMinute {
		t.leftOut++
		return
	}
	select {
	case t.queue <- r:
		t.taken++
	default: // the store is too slow
		t.leftOut++
	}
}

// Run writes rows until ctx ends, and then the remaining ones.
func (t *TokenTrail) Run(ctx context.Context) error {
	for {
		select {
		case r := <-t.queue:
			t.write(ctx, r)
			continue
		default:
		}
		select {
		case r := <-t.queue:
			t.write(ctx, r)
		case <-ctx.Done():
			return nil
		}
	}
}

// write adds the row of a rejected token.
func (t *TokenTrail) write(ctx context.Context, r audit.RefusedToken) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), tokenWriteLimit)
	defer stop()
	leftOut := t.takeDropped()
	orgs, err := t.store.List(ctx, resource.Query{Kind: tenant.OrganisationKind, Limit: 2})
	if err == nil && len(orgs) == 1 {
		err = t.store.InTx(ctx, func(tx resource.Tx) error { return t.trail.Audit(ctx, tx, rowOfToken(orgs[0].ID, r, leftOut)) })
	}
	if err != nil || len(orgs) != 1 {
		t.log.Warn("cannot audit rejected token", "remote", r.Remote, "method", r.Method, "path", r.Path, "organisations", len(orgs), "error", err)
	}
}

func (t *TokenTrail) takeDropped() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.leftOut
	t.leftOut = 0
	return n
}

// rowOfToken returns the row of a rejected token; its user is unknown.
func rowOfToken(orgID string, r audit.RefusedToken, leftOut int) resource.AuditRow {
	notes := map[string]any{"credential": "jwt"}
	if leftOut > 0 {
		notes["left_out_before"] = leftOut
	}
	return resource.AuditRow{
		OrgID: orgID, Kind: "auth", Action: "auth_failure", ActorKind: resource.ActorUser, CreatedAt: r.RefusedAt, Status: 401,
		RemoteIP: r.Remote, Method: r.Method, Path: r.Path, RequestID: r.RequestID,
		Body: jsonfield.Encode(resource.AuditDetails{Notes: notes, Error: r.Reason}),
	}
}

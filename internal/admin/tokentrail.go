package admin

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/audit"
	"sluice/internal/resource"
	"sluice/internal/tenant"
)

// TokensPerMinute is how many refused tokens a node writes to the audit trail in a
// minute. Anybody can send one, so a flood of them must fill neither the trail nor the
// store: the rows say how many were left out.
const TokensPerMinute = 60

// tokenWriteLimit bounds the writing of one row, also of those that are left when the
// gateway stops.
const tokenWriteLimit = 5 * time.Second

// TokenTrail takes refused JWTs into the audit trail, apart from the calls that brought
// them: no call waits for the store. They belong to no organisation that is known, so
// they stand in the trail of the only one; where there are several they are only logged.
// Safe for concurrent use.
type TokenTrail struct {
	store resource.Store
	trail resource.Trail
	log   *slog.Logger
	queue chan audit.RefusedToken

	mu      sync.Mutex // guards what follows
	began   time.Time  // of the minute
	taken   int        // in it
	leftOut int        // since the last row that said so
}

// NewTokenTrail makes one; Run writes.
func NewTokenTrail(store resource.Store, trail resource.Trail, log *slog.Logger) *TokenTrail {
	return &TokenTrail{store: store, trail: trail, log: log, queue: make(chan audit.RefusedToken, TokensPerMinute)}
}

// TokenRefused takes a refusal. It never waits.
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
	default: // the store does not keep up
		t.leftOut++
	}
}

// Run writes until ctx ends, and then what is left.
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

// write adds the row of a refusal.
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

// rowOfToken is the row of a refusal: of a user who is not known.
func rowOfToken(orgID string, r audit.RefusedToken, leftOut int) resource.AuditRow {
	notes := map[string]any{"credential": "jwt"}
	if leftOut > 0 {
		notes["left_out_before"] = leftOut
	}
	return resource.AuditRow{
		OrgID: orgID, Kind: "auth", Action: "auth_failure", ActorKind: resource.ActorUser, CreatedAt: r.RefusedAt, Status: 401,
		RemoteIP: r.Remote, Method: r.Method, Path: r.Path, RequestID: r.RequestID,
		Body: encode(resource.AuditDetails{Notes: notes, Error: r.Reason}),
	}
}

package configs

import (
	"context"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/respcache"
	"sluice/internal/kernel/ident"
)

// recordPurge records a purge for all nodes. Records that select nothing any more are deleted. If the
// organisation has too many, all of them are replaced by one of everything in the organisation: that
// removes too much, but never too little.
func recordPurge(ctx context.Context, tx resource.Tx, f *respcache.Filter, now time.Time) error {
	p := &respcache.Purge{ID: ident.NewID(), Filter: *f, At: now}
	count, err := deleteExpiredPurges(ctx, tx, f.Organisation, now)
	if err != nil {
		return err
	}
	if count >= respcache.MaxPurges {
		if _, err := deletePurges(ctx, tx, f.Organisation, func(resource.Record) bool { return true }); err != nil {
			return err
		}
		p.Filter = respcache.Filter{Organisation: f.Organisation}
	}
	body, err := p.Body()
	if err != nil {
		return err
	}
	return tx.Insert(ctx, resource.Record{
		Kind: respcache.PurgeKind, ID: p.ID, OrgID: p.Filter.Organisation, WorkspaceID: p.Filter.Workspace, Status: resource.Active, Version: 1,
		Created: now, Updated: now, Body: body,
	})
}

// deleteExpiredPurges deletes the records that select nothing any more, and returns how many are left.
func deleteExpiredPurges(ctx context.Context, tx resource.Tx, org string, now time.Time) (left int, err error) {
	return deletePurges(ctx, tx, org, func(r resource.Record) bool { return now.Sub(r.Created) > respcache.MaxAge })
}

// deletePurges deletes records of an organisation, and returns how many are left.
func deletePurges(ctx context.Context, tx resource.Tx, org string, selects func(resource.Record) bool) (left int, err error) {
	list, err := tx.List(ctx, resource.Query{Kind: respcache.PurgeKind, OrgID: org, Limit: respcache.MaxPurges + 1, Bare: true})
	if err != nil {
		return 0, err
	}
	for _, r := range list {
		if !selects(r) {
			left++
		} else if err := tx.Delete(ctx, r.Kind, r.ID); err != nil {
			return 0, err
		}
	}
	return left, nil
}

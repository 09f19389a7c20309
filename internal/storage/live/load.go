package live

import (
	"context"
	"fmt"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/respcache"
	"sluice/internal/domain/tenant"
)

// bare contains kinds that may have many records and whose index entries are not needed here.
// Reading the entries would double the work.
var bare = map[string]bool{keys.Kind: true, tenant.MemberKind: true, respcache.PurgeKind: true}

// loadAll reads every record of the followed kinds.
func (d *Directory) loadAll(ctx context.Context) error {
	for kind := range decoders {
		load := d.loadPages
		if bare[kind] {
			load = d.loadBare
		}
		if err := load(ctx, kind); err != nil {
			return fmt.Errorf("read %s records: %w", kind, err)
		}
	}
	return nil
}

func (d *Directory) loadBare(ctx context.Context, kind string) error {
	return d.src.Each(ctx, resource.Query{Kind: kind, Limit: pageSize}, d.take)
}

func (d *Directory) loadPages(ctx context.Context, kind string) error {
	q := resource.Query{Kind: kind, Limit: pageSize}
	for {
		rows, err := d.src.List(ctx, q)
		if err != nil {
			return err
		}
		for _, r := range rows {
			d.take(r)
		}
		if len(rows) < q.Limit {
			return nil
		}
		q.After = rows[len(rows)-1].ID
	}
}

package live

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"sluice/internal/keys"
	"sluice/internal/resource"
	"sluice/internal/tenant"
)

// bare are the kinds that may have many records, and whose index entries nothing here
// asks for: reading them would double the work.
var bare = map[string]bool{keys.Kind: true, tenant.MemberKind: true}

// pagesAhead is how many pages are read while the one before them is decoded.
const pagesAhead = 2

// loadAll reads every record that is followed. One goroutine reads and another one
// decodes: with many keys either takes as long.
func (d *Directory) loadAll(ctx context.Context) error {
	pages := make(chan []resource.Record, pagesAhead)
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		defer close(pages)
		for kind := range decoders {
			if err := d.readKind(ctx, kind, pages); err != nil {
				return err
			}
		}
		return nil
	})
	both.Go(func() error {
		for rows := range pages {
			for _, r := range rows {
				d.take(r)
			}
		}
		return nil
	})
	return both.Wait()
}

func (d *Directory) readKind(ctx context.Context, kind string, pages chan<- []resource.Record) error {
	q := resource.Query{Kind: kind, Limit: pageSize, Bare: bare[kind]}
	for {
		rows, err := d.src.List(ctx, q)
		if err != nil {
			return fmt.Errorf("read %s records: %w", kind, err)
		}
		select {
		case pages <- rows:
		case <-ctx.Done():
			return ctx.Err()
		}
		if len(rows) < q.Limit {
			return nil
		}
		q.After = rows[len(rows)-1].ID
	}
}

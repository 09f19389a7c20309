package live

import (
	"context"
	"fmt"

	"sluice/internal/control/resource"
)

// resync continues with a store that was unavailable. A store that comes back without its last
// changes, for example a failover replica or a restored backup, reuses their numbers for other
// changes, which would then be skipped here. In that case resync reads everything again.
func (d *Directory) resync(ctx context.Context) error {
	last, err := d.position(ctx)
	if err != nil {
		return err
	}
	same, err := d.has(ctx, last)
	if err != nil || same {
		return err
	}
	if err := d.Load(ctx); err != nil {
		return err
	}
	d.log.Warn("database lost recent changes (failover or restore); reloaded the snapshot", "change", last.Seq)
	return nil
}

// position returns the last change that was read.
func (d *Directory) position(ctx context.Context) (resource.Change, error) {
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
		return d.last, nil
	case <-ctx.Done():
		return resource.Change{}, ctx.Err()
	}
}

// has reports whether the feed still has a change, as far as that is known.
func (d *Directory) has(ctx context.Context, last resource.Change) (bool, error) {
	if last.Seq == 0 {
		return true, nil
	}
	found, err := d.src.Changes(ctx, last.Seq-1, 1)
	if err != nil {
		return false, fmt.Errorf("read change feed: %w", err)
	}
	return len(found) == 1 && found[0].Seq == last.Seq && (last.Kind == "" || found[0] == last), nil
}

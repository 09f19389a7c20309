package catalog

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// renew asks the sources for a file. One that fails is asked again soon; until then what
// was known stays, or else the next source counts.
func (c *Catalog) renew(ctx context.Context, f file, k *kept, now time.Time) {
	k.until = now.Add(fresh)
	for _, s := range c.sources {
		var got content
		raw, err := s.Read(ctx, f.folder, f.provider)
		if err == nil {
			got, err = read(f.folder, raw)
		}
		switch {
		case err == nil:
			k.content = got
			return
		case errors.Is(err, ErrNone):
			continue
		case ctx.Err() != nil: // the caller left, which says nothing about the source
			k.until = now
			return
		}
		c.log.LogAttrs(ctx, slog.LevelWarn, "a file of the model catalog could not be read",
			slog.String("folder", string(f.folder)), slog.String("provider", f.provider), slog.String("error", err.Error()))
		k.until = now.Add(retry)
		if k.found {
			return
		}
	}
	k.content = content{}
}

// read makes content of a file.
func read(f Folder, raw []byte) (got content, err error) {
	got.found = true
	if f == PricingFiles {
		got.prices, err = readPrices(raw)
	} else {
		got.generals, err = readGenerals(raw)
	}
	return got, err
}

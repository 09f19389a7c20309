package catalog

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"time"
)

// renew reads a file from the sources. A source that fails is tried again soon. Until then the
// previous content remains, or else the next source applies.
func (c *Catalog) renew(ctx context.Context, f file, k *cachedFile, now time.Time) {
	k.until = now.Add(fresh)
	failed := false
	for _, s := range c.sources {
		got, err := ask(ctx, s, f)
		switch {
		case err == nil:
			k.content = got
			if !failed {
				c.clearErrors(f)
			}
			return
		case errors.Is(err, ErrNone):
			continue
		case ctx.Err() != nil: // the caller cancelled, which is not an error of the source
			k.until = now
			return
		}
		failed = true
		c.failed(f, s.Name(), err, now)
		c.log.LogAttrs(ctx, slog.LevelWarn, "cannot read model catalog file; using the previous data", slog.String("folder", string(f.folder)),
			slog.String("provider", f.provider), slog.String("source", s.Name()), slog.String("error", err.Error()))
		k.until = now.Add(retry)
		if k.found {
			return
		}
	}
	if !failed {
		c.clearErrors(f)
	}
	k.content = content{}
}

// ask reads a file from a source and parses it.
func ask(ctx context.Context, s Source, f file) (got content, err error) {
	raw, err := s.Read(ctx, f.folder, f.provider)
	if err != nil {
		return got, err
	}
	got.found, got.source, got.digest = true, s.Name(), sha256.Sum256(append([]byte(s.Name()+"\x00"), raw...))
	if f.folder == PricingFiles {
		got.prices, err = readPrices(raw)
	} else {
		got.generals, err = readGenerals(raw)
	}
	return got, err
}

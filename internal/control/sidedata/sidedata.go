package sidedata

import (
	"context"
	"log/slog"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
)

// Writer stores the data that the gateway discovers about records.
type Writer struct {
	Store resource.Store
	Log   *slog.Logger // reports data that could not be stored
}

// Find returns the data that a link set stores for a record; nil for none.
func Find(ctx context.Context, from resource.Reader, set, id string) ([]byte, error) {
	links, err := from.Links(ctx, set, id)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	return links[0].Body, nil
}

// Put stores the result of build for a record; nil deletes the present data. An error,
// for example while the database is read-only, does not affect the call.
func (k Writer) Put(ctx context.Context, set, id string, build func(tx resource.Tx) ([]byte, error)) {
	err := k.Store.InTx(ctx, func(tx resource.Tx) error {
		body, err := build(tx)
		if err != nil {
			return err
		}
		var links []resource.Link
		if body != nil {
			links = []resource.Link{{ToID: id, Body: body}}
		}
		return tx.PutLinks(ctx, set, id, links)
	})
	if err != nil {
		k.Log.Warn("cannot store side data of a record", "set", set, "id", id, "error", err.Error())
	}
}

// Update changes the data that a link set stores for a record.
func Update[T any](ctx context.Context, k Writer, set, id string, read func(ctx context.Context, from resource.Reader, id string) (T, error), change func(*T)) {
	k.Put(ctx, set, id, func(tx resource.Tx) ([]byte, error) {
		v, err := read(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		change(&v)
		return jsonfield.Encode(v), nil
	})
}

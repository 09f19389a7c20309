package admin

import (
	"context"

	"sluice/internal/resource"
)

// Data that the gateway discovers about a record (the card of an agent, the self-description of
// a tool server, the health of a gateway) is stored in a link of the record to itself. Storing
// it is therefore not a change of the record.

// sideDataOf returns the data that a link set stores for a record; nil for none.
func sideDataOf(ctx context.Context, from resource.Reader, set, id string) ([]byte, error) {
	links, err := from.Links(ctx, set, id)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	return links[0].Body, nil
}

// putSideData stores the result of build for a record; nil deletes the present data. An error,
// for example while the database is read-only, does not affect the call.
func (k deps) putSideData(ctx context.Context, set, id string, build func(tx resource.Tx) ([]byte, error)) {
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

// updateSideData changes the data that a link set stores for a record.
func updateSideData[T any](ctx context.Context, k deps, set, id string, read func(ctx context.Context, from resource.Reader, id string) (T, error), change func(*T)) {
	k.putSideData(ctx, set, id, func(tx resource.Tx) ([]byte, error) {
		v, err := read(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		change(&v)
		return encode(v), nil
	})
}

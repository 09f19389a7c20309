package admin

import (
	"context"

	"sluice/internal/resource"
)

// What is found out about a record (the card of an agent, what a tool server says of
// itself, whether a gateway answers) stands beside it, in a link of the record to itself,
// so that finding it out is no change of the record.

// sideDataOf is what a set of links keeps beside a record; nil for nothing.
func sideDataOf(ctx context.Context, from resource.Reader, set, id string) ([]byte, error) {
	links, err := from.Links(ctx, set, id)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	return links[0].Body, nil
}

// putSideData keeps what of returns beside a record; nil takes away what is there. That it
// cannot be written, for example while the database takes no writes, spoils nothing else.
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

// updateSideData changes what a set keeps beside a record.
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

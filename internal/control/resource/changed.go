package resource

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Changed is the response to an update: the record as a read shows it, merged with the fields
// that the kind adds for the change. A caller that may change the record but not read it gets
// only the added fields.
type Changed[V any] struct {
	record *V
	done   any
	shape  any // zero value of the type of done
}

// changed builds the response to an update.
func (w recordWriter[T, V]) changed(ctx context.Context, c *Call, ch *Edit[T]) (any, error) {
	out := Changed[V]{done: Empty{}}
	if w.Done != nil {
		done, err := w.Done.Make(ctx, c, ch)
		if err != nil {
			return nil, err
		}
		out.done = done
	}
	if reads := c.May(w.scopes("read", ch.New), w.target(ch.New)) == nil; !reads || ch.New.Status == Archived {
		return out.done, nil
	}
	v, err := w.View(ctx, c, *ch.New, true)
	if err != nil { // the change is committed, so the call must not fail now
		c.engine.Log.LogAttrs(ctx, slog.LevelWarn, "cannot show changed record; the response to the update omits it",
			slog.String("request_id", c.RequestID), slog.String("operation", c.op.ID), slog.String("error", err.Error()))
		return out.done, nil
	}
	c.etag = etag(ch.New.Record)
	out.record = &v
	return out, nil
}

// MarshalJSON merges record and done into one object.
func (a Changed[V]) MarshalJSON() ([]byte, error) {
	all := make(map[string]json.RawMessage)
	for _, part := range []any{a.record, a.done} {
		raw, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &all); err != nil {
			return nil, err
		}
	}
	return json.Marshal(all)
}

// describe returns the schema of the response: the fields of both parts, all optional.
func (a Changed[V]) describe(reg huma.Registry) *huma.Schema {
	all := &huma.Schema{Type: huma.TypeObject, Properties: make(map[string]*huma.Schema)}
	for _, t := range []reflect.Type{reflect.TypeFor[V](), reflect.TypeOf(a.shape)} {
		s := reg.Schema(t, false, "")
		for s.Ref != "" {
			s = reg.SchemaFromRef(s.Ref)
		}
		maps.Copy(all.Properties, s.Properties)
	}
	return all
}

// described is a response that builds its schema itself.
type described interface {
	describe(reg huma.Registry) *huma.Schema
}

// responseSchema describes the response of an operation.
func responseSchema(reg huma.Registry, response any) *huma.Schema {
	if d, ok := response.(described); ok {
		return d.describe(reg)
	}
	return reg.Schema(reflect.TypeOf(response), true, "")
}

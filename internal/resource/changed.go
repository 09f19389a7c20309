package resource

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Changed is the answer to an update: the record as a read shows it, with what the kind says
// of the change laid over it. Whoever may change a record but not read it gets the latter
// alone.
type Changed[V any] struct {
	record *V
	done   any
	shape  any // zero value of what done is
}

// changed makes the answer to an update.
func (k *Kind[T, V]) changed(ctx context.Context, c *Call, ch *Edit[T]) (any, error) {
	out := Changed[V]{done: Empty{}}
	if k.Done != nil {
		done, err := k.Done.Make(ctx, c, ch)
		if err != nil {
			return nil, err
		}
		out.done = done
	}
	if reads := c.May(k.scopes("read", ch.New), k.target(ch.New)) == nil; !reads || ch.New.Status == Archived {
		return out.done, nil
	}
	v, err := k.View(ctx, c, *ch.New, true)
	if err != nil { // the change is made: it must not look as if it had failed
		c.engine.Log.LogAttrs(ctx, slog.LevelWarn, "cannot show changed record; the response to the update omits it",
			slog.String("request_id", c.RequestID), slog.String("operation", c.op.ID), slog.String("error", err.Error()))
		return out.done, nil
	}
	c.etag = etag(ch.New.Record)
	out.record = &v
	return out, nil
}

// MarshalJSON writes one object of both.
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

// describe is the schema of the answer: the fields of both, none of them certain.
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

// described is an answer that makes its own schema.
type described interface {
	describe(reg huma.Registry) *huma.Schema
}

// responseSchema describes the answer of an operation.
func responseSchema(reg huma.Registry, response any) *huma.Schema {
	if d, ok := response.(described); ok {
		return d.describe(reg)
	}
	return reg.Schema(reflect.TypeOf(response), true, "")
}

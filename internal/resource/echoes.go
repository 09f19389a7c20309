package resource

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/fault"
)

// Reads show more than updates take: "current_usage" of a limit. Who sends back what was read
// sends such a field too. It is left out of the body where a read shows it at the same place;
// elsewhere it is unknown like any other. Source: ours.

// echo is a field that was left out. Path leads to it, with "#" and the id for an entry of a
// list that has one: usage_limits, #0191…, current_usage.
type echo struct {
	path []string
	at   string // as refusals call it: "usage_limits[0].current_usage"
	sent json.RawMessage
}

// learnAnswers tells the bodies of updates what reads at the same path show.
func (e *Engine) learnAnswers(answers, bodies map[string]*schema) {
	for path, body := range bodies {
		response := answers[path]
		if response == nil {
			continue
		}
		body.shown = body.schemaAt(response.root, []byte("{"))
		if body.shown == nil {
			continue
		}
		if data := body.shown.Properties["data"]; data != nil && body.root.Properties["data"] == nil { // an envelope
			body.shown = body.schemaAt(data, []byte("{"))
		}
	}
}

// answerOf is the schema of what an operation answers; nil for {}.
func (e *Engine) answerOf(op Operation) *schema {
	if op.Response == nil || op.Stream != "" {
		return nil
	}
	reg := e.doc.Components.Schemas
	return &schema{registry: reg, root: responseSchema(reg, op.Response)}
}

// read is what a read shows of a field; nil for nothing.
func (s *schema) read(field string) *huma.Schema {
	if s.shown == nil {
		return nil
	}
	return s.shown.Properties[field]
}

// withoutEchoes takes the fields out of a value that the schema of does not know and shown, that
// of a read, does.
func (c *Call) withoutEchoes(s *schema, fieldSchema, shown *huma.Schema, raw json.RawMessage, path []string, at string) json.RawMessage {
	fieldSchema, shown = s.schemaAt(fieldSchema, raw), s.schemaAt(shown, raw)
	if fieldSchema == nil || shown == nil {
		return raw
	}
	if raw[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return raw
		}
		before := slices.Clone(list)
		for i, v := range list {
			list[i] = c.withoutEchoes(s, fieldSchema.Items, shown.Items, v, inPath(path, entryName(v, i)), at+"["+strconv.Itoa(i)+"]")
		}
		return encodeChanged(!slices.EqualFunc(before, list, equalRaw), raw, list)
	}
	var object Sent
	if json.Unmarshal(raw, &object) != nil {
		return raw
	}
	before := maps.Clone(object)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		field, known := fieldSchema.Properties[name]
		_, read := shown.Properties[name]
		switch {
		case known && read:
			object[name] = c.withoutEchoes(s, field, shown.Properties[name], object[name], inPath(path, name), at+"."+name)
		case read && fieldSchema.AdditionalProperties == false:
			c.echoes = append(c.echoes, echo{inPath(path, name), at + "." + name, object[name]})
			delete(object, name)
		}
	}
	return encodeChanged(!maps.EqualFunc(before, object, equalRaw), raw, object)
}

func equalRaw(a, b json.RawMessage) bool { return string(a) == string(b) }

func inPath(path []string, name string) []string { return append(slices.Clone(path), name) }

// entryName is what a path calls an entry of a list.
func entryName(raw json.RawMessage, i int) string {
	var entry struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &entry) == nil && entry.ID != "" {
		return "#" + entry.ID
	}
	return strconv.Itoa(i)
}

// compareEchoes holds what was left out against the record as a read shows it. What differs is
// named in HeaderWarnings, since it may have changed since it was read; an id or slug that differs
// is fault.InvalidRequest, for it is about something else.
func (k *Kind[T, V]) compareEchoes(ctx context.Context, c *Call, r *Row[T]) error {
	if c.compared = true; len(c.echoes) == 0 {
		return nil
	}
	var shown any
	if c.May(k.scopes("read", r), k.target(r)) == nil {
		v, err := k.View(ctx, c, *r, true)
		if err != nil {
			return err
		}
		_ = json.Unmarshal(encoded(v), &shown) // was encoded just now
	}
	for _, e := range c.echoes {
		var sent any
		_ = json.Unmarshal(e.sent, &sent) // was read as JSON before
		now, there := memberAt(shown, e.path)
		switch {
		case there && reflect.DeepEqual(now, sent):
		case there && slices.Contains([]string{"id", "slug"}, e.path[len(e.path)-1]):
			return fault.New(fault.InvalidRequest, "the field is read-only and has another value: leave it out").WithParam(e.at)
		default:
			c.warnReadOnly(e.at)
		}
	}
	return nil
}

// memberAt is what a path leads to in a value.
func memberAt(v any, path []string) (any, bool) {
	for _, name := range path {
		switch in := v.(type) {
		case map[string]any:
			inner, ok := in[name]
			if !ok {
				return nil, false
			}
			v = inner
		case []any:
			i := slices.IndexFunc(in, func(entry any) bool {
				object, _ := entry.(map[string]any)
				id, _ := object["id"].(string)
				return id != "" && "#"+id == name
			})
			if n, err := strconv.Atoi(name); err == nil && !strings.HasPrefix(name, "#") {
				i = n
			}
			if i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

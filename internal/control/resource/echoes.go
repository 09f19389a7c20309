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

	"sluice/internal/kernel/fault"
)

// Reads show more fields than updates accept, for example "current_usage" of a limit. A client
// that sends back what it read sends such a field too. The field is removed from the body if a
// read shows it at the same path. Elsewhere it is an unknown field. Source: ours.

// echo is a removed field. Path leads to it; an entry of a list that has an id appears as "#"
// and the id: usage_limits, #0191…, current_usage.
type echo struct {
	path []string
	at   string // path in error messages: "usage_limits[0].current_usage"
	sent json.RawMessage
}

// learnAnswers sets what reads show at the same path in the body schemas of updates.
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

// answerOf returns the schema of the response of an operation; nil for {}.
func (e *Engine) answerOf(op Operation) *schema {
	if op.Response == nil || op.Stream != "" {
		return nil
	}
	reg := e.doc.Components.Schemas
	return &schema{registry: reg, root: responseSchema(reg, op.Response)}
}

// read returns the schema of a field in reads; nil if reads do not show it.
func (s *schema) read(field string) *huma.Schema {
	if s.shown == nil {
		return nil
	}
	return s.shown.Properties[field]
}

// withoutEchoes removes the fields of a value that fieldSchema does not have but shown, the
// schema of reads, has.
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

// entryName returns the path segment of a list entry.
func entryName(raw json.RawMessage, i int) string {
	var entry struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &entry) == nil && entry.ID != "" {
		return "#" + entry.ID
	}
	return strconv.Itoa(i)
}

// compareEchoes compares the removed fields with the record as a read shows it. Fields that
// differ are listed in HeaderWarnings, since they may have changed after the client read them. A
// different id or slug is fault.InvalidRequest, because it names another object.
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
		_ = json.Unmarshal(encoded(v), &shown) // encoded just now
	}
	for _, e := range c.echoes {
		var sent any
		_ = json.Unmarshal(e.sent, &sent) // already parsed as JSON
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

// memberAt returns the value at a path.
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

package resource

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/kernel/fault"
)

// readItems parses a body that is one object or a list of objects.
func (c *Call) readItems(raw []byte) error {
	c.listed = raw[0] == '['
	if !c.listed {
		raw = append(append([]byte{'['}, raw...), ']')
	}
	if err := json.Unmarshal(raw, &c.Items); err != nil {
		return fault.New(fault.InvalidRequest, "the body must be a JSON object or a list of JSON objects")
	}
	switch n := len(c.Items); {
	case n == 0:
		return fault.New(fault.InvalidRequest, "the list in the body must not be empty")
	case n > c.op.Many:
		return fault.Newf(fault.TooLarge, "the list in the body must not have more than %d entries; send several requests", c.op.Many)
	}
	for i, item := range c.Items {
		if item == nil {
			return fault.New(fault.InvalidRequest, "must be a JSON object").WithParam(c.ItemField(i, ""))
		}
	}
	return nil
}

// ItemField returns the path of an entry's field in error messages: "[2].value", or "value" if
// the body is not a list.
func (b *sentBody) ItemField(i int, field string) string {
	switch {
	case !b.listed:
		return field
	case field == "":
		return "[" + strconv.Itoa(i) + "]"
	}
	return "[" + strconv.Itoa(i) + "]." + field
}

// problems returns the problems of the whole body. It removes fields that the schema does not
// have.
func (c *Call) problems(s *schema) []Problem {
	if c.op.Many == 0 {
		left, problems := c.recognise(s, c.Sent, func(name string) string { return name })
		c.original, c.Sent = []Sent{c.Sent}, left
		return append(problems, s.check(left)...)
	}
	c.original = slices.Clone(c.Items)
	var all []Problem
	for i, item := range c.Items {
		left, problems := c.recognise(s, item, func(name string) string { return c.ItemField(i, name) })
		c.Items[i], all = left, append(all, problems...)
		for _, p := range s.check(left) {
			all = append(all, Problem{c.ItemField(i, p.Path), p.Message})
		}
		if len(all) >= maxProblems {
			break
		}
	}
	return all
}

// sentObjects returns the objects of the body with all fields that were sent, including those
// that are ignored.
func (c *Call) sentObjects() []Sent {
	switch {
	case c.original != nil:
		return c.original
	case c.Sent != nil:
		return []Sent{c.Sent}
	}
	return c.Items
}

// maskedBody returns what the audit trail stores of the body; nil without a body.
func (c *Call) maskedBody() any {
	objects := c.sentObjects()
	switch {
	case objects == nil:
		return nil
	case c.op.Many == 0:
		return c.mask(objects[0])
	}
	list := make([]any, len(objects))
	for i, item := range objects {
		list[i] = c.mask(item)
	}
	return list
}

// oneOrMany describes a body that is an object or a list of objects.
func oneOrMany(object *huma.Schema, maxItems int) *huma.Schema {
	minItems := 1
	list := &huma.Schema{Type: huma.TypeArray, Items: object, MinItems: &minItems, MaxItems: &maxItems}
	return &huma.Schema{OneOf: []*huma.Schema{object, list}}
}

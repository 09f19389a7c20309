package resource

import (
	"encoding/json"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/fault"
)

// readItems takes apart a body that is one object or a list of them.
func (c *Call) readItems(raw []byte) error {
	c.listed = raw[0] == '['
	if !c.listed {
		raw = append(append([]byte{'['}, raw...), ']')
	}
	if err := json.Unmarshal(raw, &c.Items); err != nil {
		return fault.New(fault.InvalidRequest, "the body is a JSON object or a list of them")
	}
	switch n := len(c.Items); {
	case n == 0:
		return fault.New(fault.InvalidRequest, "the list of the body is empty")
	case n > c.op.Many:
		return fault.Newf(fault.TooLarge, "the list of the body has more than %d entries; send them in several calls", c.op.Many)
	}
	for i, item := range c.Items {
		if item == nil {
			return fault.New(fault.InvalidRequest, "the entry is a JSON object").At(c.ItemField(i, ""))
		}
	}
	return nil
}

// ItemField is what a refusal calls a field of an entry of the body: "[2].value", or
// "value" where the body is no list.
func (c *Call) ItemField(i int, field string) string {
	switch {
	case !c.listed:
		return field
	case field == "":
		return "[" + strconv.Itoa(i) + "]"
	}
	return "[" + strconv.Itoa(i) + "]." + field
}

// problems are those of the whole body.
func (c *Call) problems(s *schema) []Problem {
	if c.op.Many == 0 {
		return s.check(c.Sent)
	}
	var all []Problem
	for i, item := range c.Items {
		for _, p := range s.check(item) {
			all = append(all, Problem{c.ItemField(i, p.Path), p.Message})
		}
		if len(all) >= maxProblems {
			break
		}
	}
	return all
}

// maskedBody is what the audit trail keeps of the body; nil when there is none.
func (c *Call) maskedBody() any {
	switch {
	case c.Sent != nil:
		return c.mask(c.Sent)
	case c.Items == nil:
		return nil
	}
	list := make([]any, len(c.Items))
	for i, item := range c.Items {
		list[i] = c.mask(item)
	}
	return list
}

// oneOrMany describes a body that is an object or a list of them.
func oneOrMany(object *huma.Schema, most int) *huma.Schema {
	least := 1
	list := &huma.Schema{Type: huma.TypeArray, Items: object, MinItems: &least, MaxItems: &most}
	return &huma.Schema{OneOf: []*huma.Schema{object, list}}
}

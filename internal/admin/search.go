package admin

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/fault"
	"sluice/internal/resource"
)

// searchParams returns the parameters search and name of a list that filters its rows without
// the store. what names the searched fields: "part of the name".
func searchParams(what string) []resource.Param {
	return []resource.Param{{Name: "search", Doc: what, MaxLength: 255}, {Name: "name", Doc: "the same as search", MaxLength: 255}}
}

// searched returns the text that the caller searches for, in lower case; "" for none.
func searched(c *resource.Call) (string, error) {
	text, name := c.Query("search"), c.Query("name")
	if text != "" && name != "" && text != name {
		return "", fault.New(fault.InvalidParameter, "send search or name, not both").WithParam("name")
	}
	return strings.ToLower(cmp.Or(text, name)), nil
}

// hasText reports whether one of the values contains a text that searched returned, ignoring
// case.
func hasText(text string, values ...string) bool {
	return text == "" || slices.ContainsFunc(values, func(v string) bool { return strings.Contains(strings.ToLower(v), text) })
}

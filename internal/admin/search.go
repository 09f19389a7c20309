package admin

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/fault"
	"sluice/internal/resource"
)

// searchParams are the parameters search and name of a list that filters its rows by itself.
// What says what they look at: "part of the name".
func searchParams(what string) []resource.Param {
	return []resource.Param{{Name: "search", Doc: what, MaxLength: 255}, {Name: "name", Doc: "the same as search", MaxLength: 255}}
}

// searched is the text that the caller looks for, in lower case; "" for none.
func searched(c *resource.Call) (string, error) {
	text, name := c.Query("search"), c.Query("name")
	if text != "" && name != "" && text != name {
		return "", fault.New(fault.InvalidParameter, "send search or name, not both").WithParam("name")
	}
	return strings.ToLower(cmp.Or(text, name)), nil
}

// hasText reports whether one of some values holds a text that searched returned, in any case.
func hasText(text string, values ...string) bool {
	return text == "" || slices.ContainsFunc(values, func(v string) bool { return strings.Contains(strings.ToLower(v), text) })
}

package listing

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

// SearchFilter narrows a list by a part of the name.
func SearchFilter() resource.Filter {
	return resource.NameFilter("search")
}

// OrganisationFilter accepts the organisation of the key and rejects any other.
func OrganisationFilter() resource.Filter {
	return resource.Filter{Param: resource.Param{Name: "organisation_id", Doc: "Organisation of the API key", Format: "uuid"}, Apply: func(c *resource.Call, v string, _ *resource.Query) error {
		return c.RequireOrganisation(v, "organisation_id")
	}}
}

// SearchParams returns the parameters search and name of a list that filters its rows without
// the store. what names the searched fields: "part of the name".
func SearchParams(what string) []resource.Param {
	return []resource.Param{{Name: "search", Doc: what, MaxLength: 255}, {Name: "name", Doc: "the same as search", MaxLength: 255}}
}

// SearchText returns the text that the caller searches for, in lower case; "" for none.
func SearchText(c *resource.Call) (string, error) {
	text, name := c.Query("search"), c.Query("name")
	if text != "" && name != "" && text != name {
		return "", fault.New(fault.InvalidParameter, "send search or name, not both").WithParam("name")
	}
	return strings.ToLower(cmp.Or(text, name)), nil
}

// HasText reports whether one of the values contains a text that SearchText returned, ignoring
// case.
func HasText(text string, values ...string) bool {
	return text == "" || slices.ContainsFunc(values, func(v string) bool { return strings.Contains(strings.ToLower(v), text) })
}

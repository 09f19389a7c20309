package resource

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// maxQueryValue is the maximum length of a query parameter, in bytes.
const maxQueryValue = 4 << 10

// Paging returns the parameters of every list. pageSize is the default number of rows in a page
// and maxSize the maximum; a maximum of 0 means 1000.
// Source: contract/identity-and-governance.yaml, conventions.pagination.
func Paging(pageSize, maxSize int) []Param {
	if maxSize == 0 {
		maxSize = maxPageSize
	}
	return []Param{
		{Name: "current_page", Doc: "Page number, starting at 0", Type: "integer", Default: "0", Max: 1_000_000},
		{Name: "page_size", Doc: "Rows per page; 0 means the default", Type: "integer", Default: strconv.Itoa(pageSize), Max: maxSize},
	}
}

const maxPageSize = 1000

// WorkspaceParam is the parameter with which Admin keys name a workspace.
var WorkspaceParam = Param{Name: "workspace_id", Doc: "Id or slug of the workspace; for Admin keys"}

// readQuery checks the parameters that the operation lists and fills in defaults.
func (c *Call) readQuery() error {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil { // an unreadable parameter may be a filter; without it the call would affect more
		return fault.New(fault.InvalidRequest, "invalid query string: separate parameters with &, and write % and ; in values as %25 and %3B").WithCause(err)
	}
	for _, p := range c.op.Params {
		if problem := isText(c.Path(p.Name)); problem != "" {
			return fault.New(fault.InvalidParameter, problem).WithParam(p.Name)
		}
	}
	if err := c.renameParameters(values); err != nil {
		return err
	}
	c.query = make(map[string]string, len(c.op.Query))
	for _, p := range c.op.Query {
		v := p.Default
		if sent := values.Get(p.Name); sent != "" {
			v = sent
		}
		if p.Repeated && values.Has(p.Name) {
			v = strings.Join(values[p.Name], ",")
		}
		if v == "" && p.Required {
			return fault.New(fault.InvalidParameter, "is required").WithParam(p.Name)
		}
		if v != "" {
			if problem := p.check(v); problem != "" {
				return fault.New(fault.InvalidParameter, problem).WithParam(p.Name)
			}
		}
		c.query[p.Name] = v
		values.Del(p.Name)
	}
	return c.unknownParameters(values)
}

// isText returns an error text if a value is not valid text, "" if it is.
func isText(v string) string {
	if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
		return "must be valid UTF-8 without NUL characters"
	}
	return ""
}

// check returns an error text for an invalid value, "" if it is valid.
func (p Param) check(v string) string {
	switch {
	case len(v) > maxQueryValue:
		return "must not be longer than " + strconv.Itoa(maxQueryValue) + " bytes"
	case isText(v) != "":
		return isText(v)
	case p.MaxLength > 0 && utf8.RuneCountInString(v) > p.MaxLength:
		return "must not have more than " + strconv.Itoa(p.MaxLength) + " characters"
	case len(p.Enum) > 0 && !slices.Contains(p.Enum, v):
		return "must be one of " + strings.Join(p.Enum, ", ")
	case p.Format == "uuid" && !ident.ValidID(v):
		return "must be a UUID"
	case p.Format == "date-time" && !isTime(v):
		return "must be a time such as 2026-11-20T10:00:00Z"
	case p.Type == "boolean" && v != "true" && v != "false":
		return "must be true or false"
	case p.Type == "integer":
		return p.checkInt(v)
	case p.Type == "number":
		return p.checkNumber(v)
	}
	return ""
}

func (p Param) checkInt(v string) string {
	n, err := strconv.Atoi(v)
	if err != nil || n < p.Min || p.Max > 0 && n > p.Max {
		if p.Max == 0 {
			return "must be an integer of at least " + strconv.Itoa(p.Min)
		}
		return "must be an integer from " + strconv.Itoa(p.Min) + " to " + strconv.Itoa(p.Max)
	}
	return ""
}

func (p Param) checkNumber(v string) string {
	n, err := strconv.ParseFloat(v, 64)
	if err == nil && n >= float64(p.Min) && (p.Max == 0 || n <= float64(p.Max)) && !math.IsInf(n, 0) {
		return ""
	}
	if p.Max == 0 {
		return "must be a number of at least " + strconv.Itoa(p.Min)
	}
	return "must be a number from " + strconv.Itoa(p.Min) + " to " + strconv.Itoa(p.Max)
}

func isTime(v string) bool { _, err := time.Parse(time.RFC3339, v); return err == nil }

// describe returns the parameter for the published description.
func (p Param) describe(location string) *huma.Param {
	s := &huma.Schema{Type: "string", Format: p.Format}
	if p.Type != "" {
		s.Type = p.Type
	}
	if p.MaxLength > 0 {
		s.MaxLength = &p.MaxLength
	}
	for _, v := range p.Enum {
		s.Enum = append(s.Enum, v)
	}
	if p.Default != "" {
		s.Default = p.Default
		if n, err := strconv.Atoi(p.Default); err == nil && p.Type == "integer" {
			s.Default = n
		}
		if p.Type == "boolean" {
			s.Default = p.Default == "true"
		}
	}
	if p.Type == "integer" || p.Type == "number" {
		low, high := float64(p.Min), float64(p.Max)
		s.Minimum = &low
		if p.Max > 0 {
			s.Maximum = &high
		}
	}
	return &huma.Param{Name: p.Name, In: location, Description: p.Doc, Required: location == "path" || p.Required, Schema: s}
}

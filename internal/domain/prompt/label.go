package prompt

import (
	"regexp"
	"slices"

	"sluice/internal/kernel/fault"
)

// LabelKind is the stored kind of labels.
const LabelKind = "label"

// Label names versions of prompts: "production".
// Source: contract/content-and-observability.yaml, Label.
type Label struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Color       string `json:"color_code,omitempty"` // "#1F6FEB"
}

// Universal are the labels that exist everywhere and cannot be removed.
var Universal = []string{"production", "staging", "development"}

// UniversalID is the id of a universal label in an organisation, for ever the same; ""
// for a name that is none.
func UniversalID(orgID, name string) string {
	if !slices.Contains(Universal, name) {
		return ""
	}
	return derived(orgID, "label "+name)
}

var (
	labelForm = regexp.MustCompile(`^[a-zA-Z0-9_-]*[^@\s]?[a-zA-Z0-9_-]*$`)
	colorForm = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)
)

// Validate checks the body: fault.InvalidParameter.
func (l *Label) Validate() error {
	switch {
	case l.Name == "" || !labelForm.MatchString(l.Name):
		return fault.New(fault.InvalidParameter, "must consist of letters, digits, - and _, plus at most one other character except @ and space").WithParam("name")
	case l.Name == Latest || l.Name == Default || digits(l.Name):
		return fault.New(fault.InvalidParameter, "must not be latest, default or a number, which select versions without a label").WithParam("name")
	case l.Color != "" && !colorForm.MatchString(l.Color):
		return fault.New(fault.InvalidParameter, "must be a colour of the form #RRGGBB").WithParam("color_code")
	}
	return nil
}

// Package prompts is the part of the administration that serves saved prompts, the partials that
// they include, the labels of their versions, and the collections that contain them. Start
// reading at Resources.
package prompts

import "sluice/internal/control/resource"

// Deps are the dependencies of the area.
type Deps struct {
	Store resource.Store
}

// Resources returns everything that the area serves. To add a resource, add its line here.
func Resources(d Deps) []resource.Resource {
	return []resource.Resource{
		collections{d}.kind(),
		labels(),
		prompts(),
		partials(),
		rendering(),
	}
}

// collections serves the collections of prompts and partials.
type collections struct{ Deps }

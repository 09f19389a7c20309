package prompt

// Limits of templates and of what becomes of them. What goes past one is
// fault.InvalidParameter that names the limit.
const (
	MaxTemplateBytes = 512 << 10 // of one template's text
	MaxTags          = 10_000    // in one template
	MaxNesting       = 32        // sections inside sections
	MaxNameBytes     = 256       // of a variable, section or partial, and of a version after it
	MaxPartialDepth  = 10        // partials inside partials
	MaxOutputBytes   = 8 << 20   // of one rendered prompt
	MaxSteps         = 1_000_000 // tags and elements that one rendering goes through, and names that lie deep
	MaxFields        = 500       // of a call's root, and of the saved parameters
	MaxVersions      = 2000      // of one prompt or partial
)

// Package prompt implements saved prompts: the template language, the versions of a prompt and
// how one is chosen, and how a version and a call become the body of a model request. Everything
// here is pure: other packages store the records and send the body. Start with Template and its
// Render.
//
// The language is a subset of Mustache, written here rather than taken from a library. One
// person writes a prompt and another fills it in, so output and work must have limits. Variables
// are JSON and are printed as JSON. In a raw template, an inserted value is escaped for its
// context.
// Source: contract/content-and-observability.md, section 1.
package prompt

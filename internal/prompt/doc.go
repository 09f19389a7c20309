// Package prompt holds saved prompts: the template language, the versions of a
// prompt and how one is chosen, and how a version and a call become the body of a
// model request. Everything here is pure; where records lie and who sends the body is
// the business of others.
//
// The language is a subset of Mustache, written here rather than taken from a library:
// prompts are written by one person and filled by another, so rendering must be bounded
// in output and work, variables are JSON and are printed as JSON, and in a raw template
// what is inserted is escaped for the place where it stands.
// Source: contract/content-and-observability.md, section 1.
package prompt

// Package upstreamerror reads the errors of providers, in responses and in streams, and writes them in
// the shape that the caller's client reads. Start with Failure, for responses, and Find, for events.
package upstreamerror

// Package toolcalls contains what dialects share about tools: their names and schemas, the caller's
// choice, and the ids and arguments of calls.
package toolcalls

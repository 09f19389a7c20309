// Package conversation contains what dialects share about messages: the order of turns, blank texts,
// instructions, content that a provider does not support, and the results of tools.
package conversation

// Package promptcache makes use of the prompt caches of providers, which charge less for a prefix
// that they processed before.
//
// It contains what depends on providers and on calls: how a target caches prompts (Find), what a
// body needs for that (Support.Prepare), which calls belong to one conversation (Conversation), how
// long its cache stays warm (Support.Lifetime), and what caching saved (Saved). Package marks edits
// bodies, and package pins stores which target of a conversation is warm.
//
// The package sends nothing, stores nothing and does not choose targets. It is not the gateway's own
// cache of responses. All its functions are pure and safe for concurrent use. Start with Find and
// Support.Prepare.
package promptcache

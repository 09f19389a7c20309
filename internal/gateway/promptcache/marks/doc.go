// Package marks places the marks that make a provider cache the beginning of a prompt, and removes
// them for targets that do not accept them.
//
// It edits upstream bodies in three forms: Anthropic's Messages and chat completions, where a mark
// is a member "cache_control" of a block, and Amazon's Converse, where it is a block "cachePoint".
// It only inserts or removes marks. All other bytes stay equal, with one exception: a string that
// gets a mark becomes a list with one text block, which providers treat alike. A prompt that grows
// from call to call therefore keeps the prefix that the provider has cached.
//
// The package does not choose targets and does not know which provider accepts marks: its callers
// state that in Rules. Start with Place and Drop; scan.go finds the positions.
package marks

// Form is the wire form of an upstream body.
type Form uint8

// The forms.
const (
	Messages Form = iota // Anthropic's Messages API, on any host
	Chat                 // chat completions, for providers that accept cache_control in them
	Converse             // Amazon's Converse API
)

// MaxMarks is the maximum number of marks in a request. All providers with marks have this limit.
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching,
// https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html and
// https://help.aliyun.com/model-studio/context-cache, read 2026-11.
const MaxMarks = 4

// Rules are the marks that the model of a target accepts.
type Rules struct {
	Form Form
	// MinTokens is the size in tokens below which the provider does not cache a prefix: 1024.
	// The size is estimated from bytes, generously, because a mark on a short prefix has no
	// effect and no cost.
	MinTokens int
	Tools     bool // tools accept marks
	ToolTurns bool // messages of role tool accept marks; for Chat
	Hour      bool // marks may last an hour; otherwise all last five minutes
}

// Package claude contains what the dialects of Anthropic and Amazon Bedrock share about Claude: which
// model supports what, when it reasons, and what its coding agents write into prompts. Start with
// ParseModel.
package claude

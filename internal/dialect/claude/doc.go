// Package claude contains what the dialects of Anthropic and Amazon Bedrock share about Claude: which
// model supports what, and when it reasons. Start with ParseModel.
package claude

// Package all lists the dialects of the program.
package all

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/cohere"
	"sluice/internal/dialect/gemini"
	"sluice/internal/dialect/oracle"
)

// List returns every dialect, in a fixed order. To add one, add its line here.
func List() []*dialect.Dialect {
	return []*dialect.Dialect{
		anthropic.Dialect(),
		cohere.Dialect(),
		gemini.Dialect(),
		gemini.Vertex(),
		openAI(),
		oracle.Dialect(),
	}
}

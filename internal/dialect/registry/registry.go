// Package registry lists every dialect of the program. Start reading at List.
package registry

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/ai21"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/bytez"
	"sluice/internal/dialect/cohere"
	"sluice/internal/dialect/fireworks"
	"sluice/internal/dialect/gemini"
	"sluice/internal/dialect/hyperbolic"
	"sluice/internal/dialect/jina"
	"sluice/internal/dialect/mistral"
	"sluice/internal/dialect/nomic"
	"sluice/internal/dialect/oracle"
	"sluice/internal/dialect/palm"
	"sluice/internal/dialect/pinecone"
	"sluice/internal/dialect/reka"
	"sluice/internal/dialect/segmind"
	"sluice/internal/dialect/siliconflow"
	"sluice/internal/dialect/stability"
	"sluice/internal/dialect/together"
	"sluice/internal/dialect/triton"
	"sluice/internal/dialect/voyage"
	"sluice/internal/dialect/workersai"
)

// List returns every dialect, in a fixed order. To add one, add its line here.
func List() []*dialect.Dialect {
	return []*dialect.Dialect{
		ai21.Dialect(),
		anthropic.Dialect(),
		bedrock.Claude(),
		bedrock.Dialect(),
		bytez.Dialect(),
		cohere.Dialect(),
		fireworks.Dialect(),
		gemini.Dialect(),
		gemini.Vertex(),
		hyperbolic.Dialect(),
		jina.Dialect(),
		mistral.Dialect(),
		nomic.Dialect(),
		openAI(),
		oracle.Dialect(),
		palm.Dialect(),
		pinecone.Dialect(),
		reka.Dialect(),
		segmind.Dialect(),
		siliconflow.Dialect(),
		stability.Dialect(),
		stability.V1(),
		together.Dialect(),
		triton.Dialect(),
		voyage.Dialect(),
		workersai.Dialect(),
	}
}

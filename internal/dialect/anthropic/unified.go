package anthropic

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
)

func unified() map[llm.Endpoint]dialect.Unified { return nil }

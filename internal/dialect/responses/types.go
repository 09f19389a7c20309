package responses

import "sluice/internal/dialect"

// callTypes are the members of a request other than input, instructions and tools.
// toolMembers are those of a tool, and itemMembers those of an item other than its content.
// Newer members are not checked.
// Source: https://platform.openai.com/docs/api-reference/responses/create, read 2026-11.
var (
	callTypes = dialect.Types{
		"stream":                 {Kinds: dialect.IsBool},
		"stream_options":         {Kinds: dialect.IsObject, Members: dialect.Members{"include_obfuscation": dialect.IsBool}},
		"store":                  {Kinds: dialect.IsBool},
		"background":             {Kinds: dialect.IsBool},
		"parallel_tool_calls":    {Kinds: dialect.IsBool},
		"temperature":            {Kinds: dialect.IsNumber},
		"top_p":                  {Kinds: dialect.IsNumber},
		"top_logprobs":           {Kinds: dialect.IsInteger},
		"max_output_tokens":      {Kinds: dialect.IsInteger},
		"max_tool_calls":         {Kinds: dialect.IsInteger},
		"include":                {Kinds: dialect.IsList, Each: dialect.IsString},
		"tools":                  {Kinds: dialect.IsList, Each: dialect.IsObject},
		"metadata":               {Kinds: dialect.IsObject},
		"reasoning":              {Kinds: dialect.IsObject},
		"reasoning.effort":       {Kinds: dialect.IsString},
		"reasoning.summary":      {Kinds: dialect.IsString},
		"text":                   {Kinds: dialect.IsObject},
		"text.format":            {Kinds: dialect.IsObject},
		"text.verbosity":         {Kinds: dialect.IsString},
		"user":                   {Kinds: dialect.IsString},
		"truncation":             {Kinds: dialect.IsString},
		"service_tier":           {Kinds: dialect.IsString},
		"safety_identifier":      {Kinds: dialect.IsString},
		"prompt_cache_key":       {Kinds: dialect.IsString},
		"prompt_cache_retention": {Kinds: dialect.IsString},
	}
	toolMembers = dialect.Members{"type": dialect.IsString, "name": dialect.IsString, "description": dialect.IsString, "parameters": dialect.IsSchema, "strict": dialect.IsBool, "format": dialect.IsObject}
	itemMembers = dialect.Members{
		"type": dialect.IsString, "role": dialect.IsString, "id": dialect.IsString, "name": dialect.IsString, "status": dialect.IsString, "call_id": dialect.IsString,
		"tool_call_id": dialect.IsString, "encrypted_content": dialect.IsString, "summary": dialect.IsList,
	}
)

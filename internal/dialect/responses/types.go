package responses

import "sluice/internal/dialect/fields"

// callTypes are the members of a request other than input, instructions and tools.
// toolMembers are those of a tool, and itemMembers those of an item other than its content.
// Newer members are not checked.
// Source: https://platform.openai.com/docs/api-reference/responses/create, read 2026-11.
var (
	callTypes = fields.Types{
		"stream":                 {Kinds: fields.IsBool},
		"stream_options":         {Kinds: fields.IsObject, Members: fields.Members{"include_obfuscation": fields.IsBool}},
		"store":                  {Kinds: fields.IsBool},
		"background":             {Kinds: fields.IsBool},
		"parallel_tool_calls":    {Kinds: fields.IsBool},
		"temperature":            {Kinds: fields.IsNumber},
		"top_p":                  {Kinds: fields.IsNumber},
		"top_logprobs":           {Kinds: fields.IsInteger},
		"max_output_tokens":      {Kinds: fields.IsInteger},
		"max_tool_calls":         {Kinds: fields.IsInteger},
		"include":                {Kinds: fields.IsList, Each: fields.IsString},
		"tools":                  {Kinds: fields.IsList, Each: fields.IsObject},
		"metadata":               {Kinds: fields.IsObject},
		"reasoning":              {Kinds: fields.IsObject},
		"reasoning.effort":       {Kinds: fields.IsString},
		"reasoning.summary":      {Kinds: fields.IsString},
		"text":                   {Kinds: fields.IsObject},
		"text.format":            {Kinds: fields.IsObject},
		"text.verbosity":         {Kinds: fields.IsString},
		"user":                   {Kinds: fields.IsString},
		"truncation":             {Kinds: fields.IsString},
		"service_tier":           {Kinds: fields.IsString},
		"safety_identifier":      {Kinds: fields.IsString},
		"prompt_cache_key":       {Kinds: fields.IsString},
		"prompt_cache_retention": {Kinds: fields.IsString},
	}
	toolMembers = fields.Members{"type": fields.IsString, "name": fields.IsString, "description": fields.IsString, "parameters": fields.IsSchema, "strict": fields.IsBool, "format": fields.IsObject}
	itemMembers = fields.Members{
		"type": fields.IsString, "role": fields.IsString, "id": fields.IsString, "name": fields.IsString, "status": fields.IsString, "call_id": fields.IsString,
		"tool_call_id": fields.IsString, "encrypted_content": fields.IsString, "summary": fields.IsList,
	}
)

package anthropic

import "sluice/internal/dialect"

// callTypes lists the types of the members of a request, except messages and system.
// toolMembers lists those of a tool that the caller runs, and blockMembers those of a block,
// except its content. Members that are not listed are not checked.
// Source: https://platform.claude.com/docs/en/api/messages/create, read 2026-11.
var (
	callTypes = dialect.Types{
		"stream":               {Kinds: dialect.IsBool},
		"max_tokens":           {Kinds: dialect.IsInteger},
		"top_k":                {Kinds: dialect.IsInteger},
		"temperature":          {Kinds: dialect.IsNumber},
		"top_p":                {Kinds: dialect.IsNumber},
		"stop_sequences":       {Kinds: dialect.IsList, Each: dialect.IsString},
		"tools":                {Kinds: dialect.IsList, Each: dialect.IsObject},
		"tool_choice":          {Kinds: dialect.IsObject, Members: dialect.Members{"type": dialect.IsString, "name": dialect.IsString, "disable_parallel_tool_use": dialect.IsBool}},
		"thinking":             {Kinds: dialect.IsObject, Members: dialect.Members{"type": dialect.IsString, "budget_tokens": dialect.IsInteger}},
		"metadata":             {Kinds: dialect.IsObject, Members: dialect.Members{"user_id": dialect.IsString}},
		"output_config":        {Kinds: dialect.IsObject},
		"output_config.effort": {Kinds: dialect.IsString},
		"output_config.format": {Kinds: dialect.IsObject},
		"output_format":        {Kinds: dialect.IsObject},
		"service_tier":         {Kinds: dialect.IsString},
		"inference_geo":        {Kinds: dialect.IsString},
		"mcp_servers":          {Kinds: dialect.IsList, Each: dialect.IsObject},
		"context_management":   {Kinds: dialect.IsObject},
	}
	toolMembers  = dialect.Members{"type": dialect.IsString, "name": dialect.IsString, "description": dialect.IsString, "input_schema": dialect.IsSchema, "strict": dialect.IsBool}
	blockMembers = dialect.Members{
		"type": dialect.IsString, "id": dialect.IsString, "name": dialect.IsString, "tool_use_id": dialect.IsString, "is_error": dialect.IsBool, "thinking": dialect.IsString,
		"signature": dialect.IsString, "title": dialect.IsString,
	}
)

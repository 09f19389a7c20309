package anthropic

import "sluice/internal/dialect/fields"

// callTypes lists the types of the members of a request, except messages and system.
// toolMembers lists those of a tool that the caller runs, and blockMembers those of a block,
// except its content. Members that are not listed are not checked.
// Source: https://platform.claude.com/docs/en/api/messages/create, read 2026-11.
var (
	callTypes = fields.Types{
		"stream":               {Kinds: fields.IsBool},
		"max_tokens":           {Kinds: fields.IsInteger},
		"top_k":                {Kinds: fields.IsInteger},
		"temperature":          {Kinds: fields.IsNumber},
		"top_p":                {Kinds: fields.IsNumber},
		"stop_sequences":       {Kinds: fields.IsList, Each: fields.IsString},
		"tools":                {Kinds: fields.IsList, Each: fields.IsObject},
		"tool_choice":          {Kinds: fields.IsObject, Members: fields.Members{"type": fields.IsString, "name": fields.IsString, "disable_parallel_tool_use": fields.IsBool}},
		"thinking":             {Kinds: fields.IsObject, Members: fields.Members{"type": fields.IsString, "budget_tokens": fields.IsInteger}},
		"metadata":             {Kinds: fields.IsObject, Members: fields.Members{"user_id": fields.IsString}},
		"output_config":        {Kinds: fields.IsObject},
		"output_config.effort": {Kinds: fields.IsString},
		"output_config.format": {Kinds: fields.IsObject},
		"output_format":        {Kinds: fields.IsObject},
		"service_tier":         {Kinds: fields.IsString},
		"inference_geo":        {Kinds: fields.IsString},
		"mcp_servers":          {Kinds: fields.IsList, Each: fields.IsObject},
		"context_management":   {Kinds: fields.IsObject},
	}
	toolMembers  = fields.Members{"type": fields.IsString, "name": fields.IsString, "description": fields.IsString, "input_schema": fields.IsSchema, "strict": fields.IsBool}
	blockMembers = fields.Members{
		"type": fields.IsString, "id": fields.IsString, "name": fields.IsString, "tool_use_id": fields.IsString, "is_error": fields.IsBool, "thinking": fields.IsString,
		"signature": fields.IsString, "title": fields.IsString,
	}
)

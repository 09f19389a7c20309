package openai

import "sluice/internal/dialect/fields"

// callTypes are the members of a chat completion request other than messages, tools and what
// else the reader parses. functionMembers are those of a tool's definition. messageMembers
// are those of a message other than its content. Newer members are not checked.
// Source: https://platform.openai.com/docs/api-reference/chat/create, read 2026-11.
var (
	callTypes = fields.Types{
		"stream":                {Kinds: fields.IsBool},
		"stream_options":        {Kinds: fields.IsObject, Members: fields.Members{"include_usage": fields.IsBool, "include_obfuscation": fields.IsBool}},
		"temperature":           {Kinds: fields.IsNumber},
		"top_p":                 {Kinds: fields.IsNumber},
		"top_k":                 {Kinds: fields.IsNumber},
		"presence_penalty":      {Kinds: fields.IsNumber},
		"frequency_penalty":     {Kinds: fields.IsNumber},
		"max_tokens":            {Kinds: fields.IsInteger},
		"max_completion_tokens": {Kinds: fields.IsInteger},
		"n":                     {Kinds: fields.IsInteger},
		"seed":                  {Kinds: fields.IsInteger},
		"top_logprobs":          {Kinds: fields.IsInteger},
		"logprobs":              {Kinds: fields.IsBool},
		"store":                 {Kinds: fields.IsBool},
		"parallel_tool_calls":   {Kinds: fields.IsBool},
		"stop":                  {Kinds: fields.IsString | fields.IsList, Each: fields.IsString},
		"modalities":            {Kinds: fields.IsList, Each: fields.IsString},
		"logit_bias":            {Kinds: fields.IsObject, Each: fields.IsNumber},
		"metadata":              {Kinds: fields.IsObject},
		"audio":                 {Kinds: fields.IsObject, Members: fields.Members{"format": fields.IsString}},
		"prediction":            {Kinds: fields.IsObject, Members: fields.Members{"type": fields.IsString}},
		"web_search_options":    {Kinds: fields.IsObject, Members: fields.Members{"search_context_size": fields.IsString}},
		"thinking":              {Kinds: fields.IsObject, Members: fields.Members{"type": fields.IsString, "budget_tokens": fields.IsInteger}},
		"user":                  {Kinds: fields.IsString},
		"reasoning_effort":      {Kinds: fields.IsString},
		"verbosity":             {Kinds: fields.IsString},
		"service_tier":          {Kinds: fields.IsString},
		"safety_identifier":     {Kinds: fields.IsString},
		"prompt_cache_key":      {Kinds: fields.IsString},
		"functions":             {Kinds: fields.IsList},
		"function_call":         {Kinds: fields.IsString | fields.IsObject},
	}
	functionMembers = fields.Members{"name": fields.IsString, "description": fields.IsString, "parameters": fields.IsSchema, "strict": fields.IsBool}
	messageMembers  = fields.Members{
		"role": fields.IsString, "name": fields.IsString, "tool_calls": fields.IsList, "tool_call_id": fields.IsString,
		"refusal": fields.IsString, "reasoning_content": fields.IsString, "reasoning_details": fields.IsList, "function_call": fields.IsObject,
	}
)

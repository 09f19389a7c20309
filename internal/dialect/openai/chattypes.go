package openai

import "sluice/internal/dialect"

// callTypes are the members of a chat completion request other than messages, tools and what
// else the reader parses. functionMembers are those of a tool's definition. messageMembers
// are those of a message other than its content. Newer members are not checked.
// Source: https://platform.openai.com/docs/api-reference/chat/create, read 2026-11.
var (
	callTypes = dialect.Types{
		"stream":                {Kinds: dialect.IsBool},
		"stream_options":        {Kinds: dialect.IsObject, Members: dialect.Members{"include_usage": dialect.IsBool, "include_obfuscation": dialect.IsBool}},
		"temperature":           {Kinds: dialect.IsNumber},
		"top_p":                 {Kinds: dialect.IsNumber},
		"top_k":                 {Kinds: dialect.IsNumber},
		"presence_penalty":      {Kinds: dialect.IsNumber},
		"frequency_penalty":     {Kinds: dialect.IsNumber},
		"max_tokens":            {Kinds: dialect.IsInteger},
		"max_completion_tokens": {Kinds: dialect.IsInteger},
		"n":                     {Kinds: dialect.IsInteger},
		"seed":                  {Kinds: dialect.IsInteger},
		"top_logprobs":          {Kinds: dialect.IsInteger},
		"logprobs":              {Kinds: dialect.IsBool},
		"store":                 {Kinds: dialect.IsBool},
		"parallel_tool_calls":   {Kinds: dialect.IsBool},
		"stop":                  {Kinds: dialect.IsString | dialect.IsList, Each: dialect.IsString},
		"modalities":            {Kinds: dialect.IsList, Each: dialect.IsString},
		"logit_bias":            {Kinds: dialect.IsObject, Each: dialect.IsNumber},
		"metadata":              {Kinds: dialect.IsObject},
		"audio":                 {Kinds: dialect.IsObject, Members: dialect.Members{"format": dialect.IsString}},
		"prediction":            {Kinds: dialect.IsObject, Members: dialect.Members{"type": dialect.IsString}},
		"web_search_options":    {Kinds: dialect.IsObject, Members: dialect.Members{"search_context_size": dialect.IsString}},
		"thinking":              {Kinds: dialect.IsObject, Members: dialect.Members{"type": dialect.IsString, "budget_tokens": dialect.IsInteger}},
		"user":                  {Kinds: dialect.IsString},
		"reasoning_effort":      {Kinds: dialect.IsString},
		"verbosity":             {Kinds: dialect.IsString},
		"service_tier":          {Kinds: dialect.IsString},
		"safety_identifier":     {Kinds: dialect.IsString},
		"prompt_cache_key":      {Kinds: dialect.IsString},
		"functions":             {Kinds: dialect.IsList},
		"function_call":         {Kinds: dialect.IsString | dialect.IsObject},
	}
	functionMembers = dialect.Members{"name": dialect.IsString, "description": dialect.IsString, "parameters": dialect.IsSchema, "strict": dialect.IsBool}
	messageMembers  = dialect.Members{
		"role": dialect.IsString, "name": dialect.IsString, "tool_calls": dialect.IsList, "tool_call_id": dialect.IsString,
		"refusal": dialect.IsString, "reasoning_content": dialect.IsString, "reasoning_details": dialect.IsList, "function_call": dialect.IsObject,
	}
)

package passage

import "strings"

// blockMembers are the texts of content parts and content blocks of chat, Messages and Responses.
// A part is read by its members, whatever its type, so that a part with a wrong type does not hide
// a text. Sources: platform.openai.com/docs/api-reference, docs.anthropic.com/en/api/messages,
// 2026-11.
var blockMembers = map[string]form{
	"text": textForm, "refusal": refusalForm, "thinking": reasoningForm, "reasoning": reasoningForm, "summary": reasoningForm,
	"input": argumentsForm, "arguments": argumentsForm,
	"content": resultForm, "output": resultForm, "stdout": resultForm, "stderr": resultForm, "logs": resultForm,
	"source": sourceForm, "title": textForm, "context": textForm, "citations": citationForm, "transcript": textForm,
	"logprobs": tokensForm, "file": fileForm, "filename": searchedForm, "filedata": encodedForm,
	"image": ignored, "imageurl": ignored, "inputaudio": ignored, "data": ignored, "cachecontrol": ignored,
}

// rules are the rules of all forms.
var rules = [formCount]rule{
	textForm: {text: true, element: textForm, members: map[string]form{"text": textForm, "content": textForm}},
	leaves:   {text: true, leaf: true, element: leaves, other: leaves},

	// Members that have no other rule.
	otherForm:       {text: true, leaf: true, kind: Other, element: otherForm, other: otherForm},
	searchedForm:    {text: true, kind: Other},
	tokensForm:      {},
	encodedForm:     {},
	encodedDataForm: {members: map[string]form{"data": encodedForm}},

	// Content of messages.
	blockForm:     blockRule("", ""),
	refusalForm:   {text: true, kind: Refusal},
	reasoningForm: {text: true, kind: Reasoning, element: reasoningForm, marked: true, signature: "signature", members: textMembers("text content summary thinking")},
	systemForm:    blockRule(System, ""),
	userForm:      blockRule(User, ""),
	assistantForm: blockRule(Assistant, ""),
	resultForm:    blockRule(Tool, Result),
	sourceForm:    {text: true, marked: true, media: true, members: map[string]form{"data": textForm, "text": textForm, "content": blockForm}},
	citationForm:  {kind: Citation, element: citationForm, members: textMembers("citedtext title documenttitle quote")},

	// Messages.
	messageList: {turns: true, element: messageForm},
	messageForm: {authored: true, marked: true, members: map[string]form{
		"content": blockForm, "contentblocks": blockForm, "refusal": refusalForm,
		"reasoningcontent": reasoningForm, "reasoning": reasoningForm, "reasoningdetails": signedList, "thinkingblocks": signedList,
		"toolcalls": callForm, "functioncall": callForm, "audio": audioForm, "cachecontrol": ignored,
	}, other: otherForm},
	signedList:    {extra: true, element: signedForm},
	signedForm:    {kind: Reasoning, marked: true, signature: "signature", members: textMembers("text thinking summary content")},
	callForm:      {element: callForm, members: map[string]form{"function": callForm, "custom": callForm, "arguments": argumentsForm, "input": rawArguments}, other: otherForm},
	argumentsForm: {text: true, leaf: true, embedded: true, kind: Arguments, element: leaves, other: leaves},
	rawArguments:  {text: true, kind: Arguments, element: leaves, other: leaves},
	audioForm:     {members: textMembers("transcript")},

	// Items of Responses.
	inputList:  {text: true, turns: true, element: itemForm, emptied: removedItem},
	outputList: {turns: true, element: itemForm},
	itemForm: {text: true, authored: true, marked: true, signature: "encryptedcontent", members: map[string]form{
		"content": blockForm, "text": textForm, "refusal": refusalForm, "transcript": textForm, "summary": reasoningForm,
		"arguments": argumentsForm, "input": rawArguments, "code": rawArguments, "action": actionForm, "operation": actionForm, "queries": rawArguments,
		"output": resultForm, "outputs": resultForm, "results": resultForm, "error": resultForm,
		"revisedprompt": textForm, "reason": textForm,
	}, other: otherForm},
	actionForm:    {kind: Arguments, members: textMembers("query queries text command commands pattern diff path url")},
	promptForm:    {text: true, role: User, element: promptForm, members: map[string]form{"text": textForm, "variables": variablesForm}},
	variablesForm: {role: User, other: textForm},
	documentForm:  {text: true, role: User, element: documentForm, members: map[string]form{"id": ignored, "image": ignored, "imageurl": ignored}, other: leaves},

	// Parts of responses.
	choiceList:  {turns: true, element: choiceForm},
	choiceForm:  {members: map[string]form{"message": messageForm, "text": textForm, "logprobs": tokensForm}, other: otherForm},
	revisedForm: {element: revisedForm, members: textMembers("revisedprompt")},
	rankedForm:  {role: Tool, kind: Result, element: rankedForm, members: map[string]form{"document": textForm}},
	segmentForm: {element: segmentForm, members: textMembers("text word")},
	pageForm:    {element: pageForm, members: textMembers("markdown"), other: otherForm},

	// Bodies of requests.
	chatRequest: {members: map[string]form{
		"messages": messageList, "system": systemForm, "prediction": assistantForm, "variables": variablesForm,
		"tools": definitionForm, "functions": definitionForm, "responseformat": definitionForm,
		"model": ignored, "user": ignored, "stop": ignored, "toolchoice": ignored,
	}, other: otherForm},
	completeRequest: {members: map[string]form{
		"prompt": promptForm, "suffix": userForm, "negativeprompt": userForm, "text": userForm, "input": userForm, "instructions": userForm,
		"model": ignored, "user": ignored, "stop": ignored,
		"background": ignored, "moderation": ignored, "outputformat": ignored, "quality": ignored, "responseformat": ignored, "size": ignored, "style": ignored,
	}, other: otherForm},
	messagesRequest: {members: map[string]form{
		"system": systemForm, "messages": messageList, "tools": definitionForm, "outputformat": definitionForm, "outputconfig": definitionForm,
		"model": ignored, "stopsequences": ignored, "toolchoice": ignored,
	}, other: otherForm},
	responsesRequest: {members: map[string]form{
		"instructions": systemForm, "input": inputList, "prompt": promptForm, "tools": definitionForm, "text": definitionForm,
		"model": ignored, "user": ignored, "toolchoice": ignored,
	}, other: otherForm},
	rerankRequest: {members: map[string]form{
		"query": userForm, "documents": documentForm, "instruction": userForm, "model": ignored, "user": ignored,
	}, other: otherForm},
	inputRequest: {members: map[string]form{
		"input": userForm, "instructions": userForm, "model": ignored, "user": ignored, "encodingformat": ignored, "responseformat": ignored, "voice": ignored,
	}, other: otherForm},

	// Definitions of tools and of the format of the answer, of all surfaces. Their credentials are no texts.
	definitionForm: {role: System, kind: Definition, element: definitionForm, members: map[string]form{
		"description": textForm, "serverdescription": textForm, "definition": searchedForm, "inputexamples": otherForm,
		"function": definitionForm, "custom": definitionForm, "format": definitionForm, "functiondeclarations": definitionForm,
		"toolspec": definitionForm, "tools": definitionForm, "inputschema": schemaForm, "outputschema": schemaForm, "parameters": schemaForm,
		"parametersjsonschema": schemaForm, "response": schemaForm, "responsejsonschema": schemaForm, "responseschema": schemaForm,
		"schema": schemaForm, "jsonschema": definitionForm,
	}},
	fileForm: {members: map[string]form{"filename": searchedForm, "filedata": encodedForm}},

	// Bodies of responses.
	chatResponse:     {role: Assistant, members: map[string]form{"choices": choiceList}, other: otherForm},
	messagesResponse: {role: Assistant, single: true, members: map[string]form{"content": blockForm}, other: otherForm},
	responsesResponse: {role: Assistant, members: map[string]form{
		"output": outputList, "outputtext": textForm,
		// What follows repeats the request.
		"instructions": ignored, "tools": ignored, "toolchoice": ignored, "metadata": ignored, "text": ignored, "prompt": ignored, "user": ignored,
		"reasoning": ignored, "safetyidentifier": ignored, "promptcachekey": ignored, "promptcacheretention": ignored, "conversation": ignored,
		"include": ignored, "input": ignored,
	}, other: otherForm},
	itemsResponse:    {members: map[string]form{"data": inputList}},
	rerankResponse:   {members: map[string]form{"results": rankedForm, "data": rankedForm}},
	imageResponse:    {role: Assistant, members: map[string]form{"data": revisedForm}},
	transcription:    {role: Assistant, plain: true, members: map[string]form{"text": textForm, "segments": segmentForm, "words": segmentForm, "logprobs": tokensForm}},
	ocrResponse:      {role: Assistant, members: map[string]form{"pages": pageForm}, other: otherForm},
	textlessResponse: {},

	// Google generateContent. Source: ai.google.dev/api/generate-content, 2026-11.
	googleRequest: {element: googleRequest, members: map[string]form{
		"contents": googleContents, "systeminstruction": googleSystem,
		"generatecontentrequest": googleRequest, "requests": googleRequest, "content": googleContents,
		"tools": definitionForm, "generationconfig": definitionForm, "toolconfig": ignored, "model": ignored,
	}, other: otherForm},
	googleResponse:   {role: Assistant, element: googleResponse, members: map[string]form{"candidates": googleCandidates, "response": googleResponse}, other: otherForm},
	googleCandidates: {turns: true, element: googleCandidate},
	googleCandidate:  {members: map[string]form{"content": googleContent, "logprobsresult": tokensForm}, other: otherForm},
	googleSystem:     {text: true, role: System, element: googleContent, members: map[string]form{"parts": googleParts}},
	googleContents:   {text: true, turns: true, single: true, authored: true, marked: true, element: googleContent, members: map[string]form{"parts": googleParts}},
	googleContent:    {text: true, authored: true, marked: true, members: map[string]form{"parts": googleParts}},
	googleParts:      {text: true, element: googlePart, emptied: removedPart, members: googlePartMembers, other: otherForm},
	googlePart:       {text: true, marked: true, signature: "thoughtsignature", reasons: true, members: googlePartMembers, other: otherForm},
	googleCall:       {kind: Arguments, members: map[string]form{"args": leaves}, other: otherForm},
	googleResult:     {role: Tool, kind: Result, members: map[string]form{"response": leaves}, other: otherForm},
	googleCode:       {kind: Arguments, members: textMembers("code")},

	// Events of realtime conversations, and the configurations of their sessions. An event is read by its
	// members, whatever its type. Source: platform.openai.com/docs/api-reference/realtime, 2026-11.
	realtimeEvent: {unscoped: true, members: map[string]form{
		"session": realtimeEvent, "response": realtimeEvent, "instructions": systemForm, "input": inputList, "item": realtimeItem, "items": inputList,
		"prompt": promptForm, "tools": toolForm, "text": userForm, "audio": realtimeAudio, "inputaudiotranscription": realtimeAudio,
		"model": ignored, "voice": ignored, "modalities": ignored, "outputmodalities": ignored, "include": ignored, "toolchoice": ignored,
	}, other: otherForm},
	realtimeResponse: {role: Assistant, members: map[string]form{
		"response": realtimeResponse, "output": outputList, "item": realtimeItem, "part": blockForm,
		"text": textForm, "transcript": textForm, "arguments": argumentsForm, "delta": textForm,
		// What follows repeats the configuration of the client.
		"session": ignored, "metadata": ignored, "instructions": ignored, "tools": ignored, "toolchoice": ignored, "voice": ignored,
		"modalities": ignored, "outputmodalities": ignored, "audio": ignored, "ratelimits": ignored, "conversation": ignored,
	}, other: otherForm},
	realtimeItem:  {turns: true, single: true, authored: true, marked: true, members: realtimeItemMembers, other: otherForm},
	realtimeAudio: {members: map[string]form{"input": realtimeAudio, "transcription": realtimeAudio, "prompt": userForm}},
	toolForm:      {element: toolForm, members: map[string]form{"description": userForm, "serverdescription": userForm, "parameters": schemaForm, "function": toolForm}},

	// JSON Schema. A property may have the name of a keyword, so that a description may be a schema.
	schemaForm:    {element: schemaForm, other: schemaForm, members: schemaMembers},
	describedForm: {text: true, element: schemaForm, other: schemaForm, members: schemaMembers},

	// Bedrock Converse. Source: docs.aws.amazon.com/bedrock/latest/APIReference, 2026-11.
	bedrockRequest:   {members: map[string]form{"messages": bedrockMessages, "system": bedrockSystem, "promptvariables": variablesForm, "toolconfig": definitionForm}, other: otherForm},
	bedrockResponse:  {role: Assistant, single: true, members: map[string]form{"output": bedrockOutput}, other: otherForm},
	bedrockOutput:    {members: map[string]form{"message": bedrockMessage}},
	bedrockSystem:    {role: System, element: bedrockBlock},
	bedrockMessages:  {turns: true, element: bedrockMessage},
	bedrockMessage:   {authored: true, marked: true, members: map[string]form{"content": bedrockBlock}},
	bedrockBlock:     {text: true, element: bedrockBlock, emptied: removedPart, members: bedrockMembers, other: otherForm},
	bedrockResult:    {role: Tool, kind: Result, element: bedrockResult, members: bedrockMembers, other: otherForm},
	bedrockUse:       {kind: Arguments, members: map[string]form{"input": leaves}},
	bedrockReasoning: {kind: Reasoning, marked: true, signature: "signature", members: map[string]form{"reasoningtext": bedrockReasoning, "text": textForm}},
	bedrockDocument:  {members: map[string]form{"source": bedrockBlock, "context": textForm, "title": textForm, "name": searchedForm}},
}

// schemaMembers are the keywords of JSON Schema whose values are texts.
var schemaMembers = map[string]form{
	"description": describedForm, "title": describedForm, "$comment": otherForm,
	"enum": otherForm, "const": otherForm, "default": otherForm, "example": otherForm, "examples": otherForm, "pattern": otherForm,
}

// realtimeItemMembers are the texts of an item of a realtime conversation.
var realtimeItemMembers = map[string]form{
	"content": blockForm, "text": textForm, "transcript": textForm, "arguments": argumentsForm, "output": resultForm, "error": resultForm,
}

// googlePartMembers are the texts of a part of generateContent.
var googlePartMembers = map[string]form{
	"text": textForm, "functioncall": googleCall, "functionresponse": googleResult,
	"executablecode": googleCode, "codeexecutionresult": resultForm, "inlinedata": encodedDataForm,
}

// bedrockMembers are the texts of a content block of Converse.
var bedrockMembers = map[string]form{
	"text": textForm, "tooluse": bedrockUse, "toolresult": bedrockResult, "content": bedrockBlock, "json": leaves,
	"reasoningcontent": bedrockReasoning, "document": bedrockDocument, "guardcontent": textForm,
	"citationscontent": bedrockBlock, "citations": citationForm, "searchresult": bedrockBlock, "title": textForm, "image": ignored, "video": ignored, "audio": ignored, "bytes": encodedForm,
}

// blockRule returns the rule of content with a role and kind: a string, a block, or a list of them.
func blockRule(role Role, kind Kind) rule {
	return rule{
		text: true, element: blockForm, members: blockMembers, other: otherForm, role: role, kind: kind,
		marked: true, signature: "signature", emptied: removedBlock,
	}
}

// textMembers returns members that are texts, from their names with spaces in between.
func textMembers(names string) map[string]form {
	out := map[string]form{}
	for _, name := range strings.Fields(names) {
		out[name] = textForm
	}
	return out
}

package passage

// form names a rule: what a value of a body may be and where its texts are.
type form uint8

// rule describes the values of a form. A string is a text if text is set. The elements of a list
// have the form element. Members of an object have the form in members, by the folded name (see
// foldName), or other. Parts without a form have no texts.
type rule struct {
	text    bool
	element form
	members map[string]form
	other   form

	role      Role   // of all texts inside; empty means the role around them
	kind      Kind   // of all texts inside, unless a value around them has a kind
	embedded  bool   // a string may be a JSON text; its string values are the texts then
	leaf      bool   // a string that is a data URL is not a text
	turns     bool   // the elements of the list are messages
	single    bool   // the object is one message
	authored  bool   // the object has a role, by its member role or type
	marked    bool   // the members role, type, thought or signature of the object decide about its texts
	signature string // folded name of the member that signs the object
	reasons   bool   // the signature counts only in reasoning
	media     bool   // the member data of the object is a text only if its type is text
	plain     bool   // a body that is not JSON is a text
	emptied   string // value in place of the list when all its elements are removed; empty means []
	unscoped  bool   // all texts of the body are in each scope
	extra     bool   // the list is an addition to the content of its message
}

// The forms of the OpenAI and Anthropic surfaces.
const (
	ignored form = iota
	textForm
	leaves
	blockForm
	refusalForm
	reasoningForm
	systemForm
	userForm
	resultForm
	sourceForm
	citationForm
	messageList
	messageForm
	signedList
	signedForm
	callForm
	argumentsForm
	rawArguments
	audioForm
	assistantForm
	otherForm
	searchedForm
	tokensForm
	encodedForm
	encodedDataForm
	definitionForm
	describedForm
	fileForm
	inputList
	outputList
	itemForm
	actionForm
	promptForm
	variablesForm
	documentForm
	choiceList
	choiceForm
	revisedForm
	rankedForm
	segmentForm
	pageForm

	chatRequest
	completeRequest
	messagesRequest
	responsesRequest
	rerankRequest
	inputRequest

	chatResponse
	messagesResponse
	responsesResponse
	itemsResponse
	rerankResponse
	imageResponse
	transcription
	ocrResponse
	textlessResponse

	googleRequest
	googleResponse
	googleCandidates
	googleCandidate
	googleSystem
	googleContents
	googleContent
	googleParts
	googlePart
	googleCall
	googleResult
	googleCode

	realtimeEvent
	realtimeResponse
	realtimeItem
	realtimeAudio
	toolForm
	schemaForm

	bedrockRequest
	bedrockResponse
	bedrockOutput
	bedrockSystem
	bedrockMessages
	bedrockMessage
	bedrockBlock
	bedrockResult
	bedrockUse
	bedrockReasoning
	bedrockDocument

	formCount
)

// Values of lists whose elements were all removed.
const (
	removedBlock = `[{"type":"text","text":"[removed]"}]`
	removedItem  = `[{"role":"assistant","content":"[removed]"}]`
	removedPart  = `[{"text":"[removed]"}]`
)

// requestForms are the forms of request bodies by endpoint or shape. Forms with files (multipart)
// and OCR do not have one.
var requestForms = map[string]form{
	"chatComplete": chatRequest, "runPrompt": chatRequest, "complete": completeRequest,
	"messages": messagesRequest, "messagesCountTokens": messagesRequest,
	"createModelResponse": responsesRequest, "countResponseInputTokens": responsesRequest,
	"embed": inputRequest, "moderate": inputRequest, "createSpeech": inputRequest,
	"imageGenerate": completeRequest, "rerank": rerankRequest,
	Google: googleRequest, Bedrock: bedrockRequest, Realtime: realtimeEvent,
}

// responseForms are the forms of response bodies.
var responseForms = map[string]form{
	"chatComplete": chatResponse, "runPrompt": chatResponse, "complete": chatResponse,
	"messages": messagesResponse, "messagesCountTokens": textlessResponse,
	"createModelResponse": responsesResponse, "getModelResponse": responsesResponse,
	"listResponseInputItems": itemsResponse, "countResponseInputTokens": textlessResponse,
	"embed": textlessResponse, "moderate": textlessResponse,
	"imageGenerate": imageResponse, "imageEdit": imageResponse, "rerank": rerankResponse,
	"createTranscription": transcription, "createTranslation": transcription, "ocr": ocrResponse,
	Google: googleResponse, Bedrock: bedrockResponse, Realtime: realtimeResponse,
}

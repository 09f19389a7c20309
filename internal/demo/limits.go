package demo

// What a caller can make the provider hold. All sizes are bytes.
const (
	maxBody        = 64 << 20 // of any request; audio is counted and dropped, not kept
	maxJSON        = 4 << 20  // of a JSON request
	maxField       = 64 << 10 // of a form field that is no file
	maxParts       = 64       // of a form
	maxFiles       = 200      // on the shelf of files
	maxFileBytes   = 32 << 20 // of all files together; the oldest go first
	maxRecords     = 1000     // on each other shelf
	maxRecordBytes = 16 << 20 // of each other shelf
	maxChoices     = 128      // "n" of chat and completions, as OpenAI has it
	maxInputs      = 256      // texts of one embeddings or moderation call
	maxDimensions  = 3072     // of an embedding
	maxQuoted      = 60       // words of the question that an answer repeats
	maxBatchLines  = 1000     // of a batch's input file
	maxMessage     = 1 << 20  // of a realtime event
	maxTurns       = 64       // texts a realtime conversation remembers
)

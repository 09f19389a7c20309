package demo

// Limits of what a caller can make the provider store. All sizes are bytes.
const (
	maxBody        = 64 << 20 // of any request; audio is counted and discarded
	maxJSON        = 4 << 20  // of a JSON request
	maxField       = 64 << 10 // of a form field that is not a file
	maxParts       = 64       // of a form
	maxFiles       = 200      // number of stored files
	maxFileBytes   = 32 << 20 // of all files together; the oldest are removed first
	maxRecords     = 1000     // in each other store
	maxRecordBytes = 16 << 20 // of each other store
	maxChoices     = 128      // maximum of "n" of chat and completions, as in OpenAI's API
	maxInputs      = 256      // texts of one embeddings or moderation call
	maxDimensions  = 3072     // of an embedding
	maxQuoted      = 60       // words of the question that a response repeats
	maxBatchLines  = 1000     // of a batch's input file
	maxMessage     = 1 << 20  // of a realtime event
	maxTurns       = 64       // texts that a realtime conversation stores
)

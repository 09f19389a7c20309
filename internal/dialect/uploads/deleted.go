package uploads

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
)

// Deleted is OpenAI's response for a deleted file, for providers that return less:
// {"id":"file-1","object":"file","deleted":true}.
// Source: https://platform.openai.com/docs/api-reference/files/delete, read 2026-11.
func Deleted(id string) *dialect.Response {
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("id", id)
	w.Str("object", "file")
	w.Bool("deleted", true)
	w.Close('}')
	return &dialect.Response{Body: w.B}
}

// FinetuneCancelled is OpenAI's response for a cancelled fine-tune, for providers that return
// less: {"id":"ft-1","object":"fine_tuning.job","status":"cancelled"}.
// Source: https://platform.openai.com/docs/api-reference/fine-tuning/cancel, read 2026-11.
func FinetuneCancelled(id string) *dialect.Response {
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("id", id)
	w.Str("object", "fine_tuning.job")
	w.Str("status", "cancelled")
	w.Close('}')
	return &dialect.Response{Body: w.B}
}

// Package fireworks implements the endpoints of Fireworks AI that differ from OpenAI's format: images,
// files, which are datasets, and fine-tuning. Start reading at Dialect.
package fireworks

import (
	"cmp"
	"strings"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Dialect returns the dialect that provider specs call "fireworks".
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "fireworks", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{
		llm.ImageGenerate: draw{},
		llm.UploadFile:    upload{},
		llm.ListFiles:     datasets{}, llm.RetrieveFile: datasets{}, llm.DeleteFile: datasets{},
		llm.CreateFinetune: createJob{}, llm.ListFinetunes: jobs{}, llm.RetrieveFinetune: jobs{}, llm.CancelFinetune: jobs{},
	}}
}

// lastPart returns the id in the name of a resource: "job1" for
// "accounts/me/supervisedFineTuningJobs/job1".
func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// seconds returns the epoch seconds of "2026-11-20T12:00:00.529Z"; 0 when text is not a time.
func seconds(text string) int64 {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0
	}
	return t.Unix()
}

// statusError returns the error in the status of a resource, {"code":"INTERNAL","message":"…"}; ""
// when there is no error.
func statusError(raw []byte) string {
	status, _ := jsonedit.Find(raw, "status")
	if code := jsonedit.Text(status, "code"); code == "OK" || code == "" {
		return ""
	}
	return cmp.Or(jsonedit.Text(status, "message"), jsonedit.Text(status, "code"))
}

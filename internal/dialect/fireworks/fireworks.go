// Package fireworks is how Fireworks AI is asked for images, for its datasets, which are
// its files, and for fine-tuning; all else of it is in OpenAI's shape.
package fireworks

import (
	"cmp"
	"strings"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Dialect is the shape that provider specs call "fireworks".
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "fireworks", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{
		llm.ImageGenerate: draw{},
		llm.UploadFile:    upload{},
		llm.ListFiles:     datasets{}, llm.RetrieveFile: datasets{}, llm.DeleteFile: datasets{},
		llm.CreateFinetune: createJob{}, llm.ListFinetunes: jobs{}, llm.RetrieveFinetune: jobs{}, llm.CancelFinetune: jobs{},
	}}
}

// lastPart is the id in the name of a resource: "job1" of
// "accounts/me/supervisedFineTuningJobs/job1".
func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// seconds are the epoch seconds of "2026-11-20T12:00:00.529Z"; 0 when it is no time.
func seconds(text string) int64 {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0
	}
	return t.Unix()
}

// statusError is what a resource says of its state: {"code":"INTERNAL","message":"…"}; ""
// when all is well.
func statusError(raw []byte) string {
	status, _ := splice.Find(raw, "status")
	if code := splice.Text(status, "code"); code == "OK" || code == "" {
		return ""
	}
	return cmp.Or(splice.Text(status, "message"), splice.Text(status, "code"))
}

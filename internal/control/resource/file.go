package resource

import (
	"io"
	"log/slog"
	"mime"
	"net/http"
	"time"
)

// File is a response that is stored as a file. It is sent with its length, and in parts to
// clients that request ranges. The operation declares such a response with Stream. The engine
// closes Content.
type File struct {
	Name    string // file name in browsers: "log-export.jsonl"
	Type    string // content type
	Changed time.Time
	Content io.ReadSeekCloser
}

func (e *Engine) file(w http.ResponseWriter, c *Call, f *File) {
	h := w.Header()
	h.Set("Content-Type", f.Type)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	h.Set("Cache-Control", "private, no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set(HeaderRequestID, c.RequestID)
	http.ServeContent(w, c.r, "", f.Changed, f.Content)
	if err := f.Content.Close(); err != nil {
		e.Log.Warn("cannot close served file", slog.String("request_id", c.RequestID), slog.String("error", err.Error()))
	}
}

package demo

import (
	"net/http"
)

// maxFile is the maximum size of a stored file, in bytes; the limit of one upload.
const maxFile = 8 << 20

// file is a file object; responses omit its bytes.
type file struct {
	ID       string `json:"id"`
	Object   string `json:"object"` // "file"
	Bytes    int64  `json:"bytes"`
	Created  int64  `json:"created_at"`
	Expires  *int64 `json:"expires_at"`
	Filename string `json:"filename"`
	Purpose  string `json:"purpose"`
	Status   string `json:"status"` // "processed"
	body     []byte
}

// purposes are the purposes that OpenAI permits for a file.
var purposes = map[string]bool{"assistants": true, "batch": true, "fine-tune": true, "vision": true, "user_data": true, "evals": true}

// fileAPI serves and stores files. Batches and fine-tuning jobs read their input from it.
type fileAPI struct {
	*serverState
	stored *store[file]
}

func (api *fileAPI) uploadFile(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r, maxFile+1)
	if err != nil {
		return err
	}
	got := f.file("file")
	switch {
	case got == nil:
		return badParam("file", "file must be a file object, not a name or a string.")
	case !purposes[f.first("purpose")]:
		return badParam("purpose", "%q is not one of the purposes of a file.", f.first("purpose"))
	case got.Size > maxFile:
		return &refusal{Status: http.StatusRequestEntityTooLarge, Message: "The file is larger than 8 MiB.", Param: "file"}
	}
	writeJSON(w, http.StatusOK, api.storeFile(got.Name, f.first("purpose"), got.Head))
	return nil
}

// storeFile stores a file of at most maxFile bytes.
func (api *fileAPI) storeFile(name, purpose string, body []byte) file {
	f := file{
		ID: api.numbered("file-"), Object: "file", Bytes: int64(len(body)), Created: api.now(),
		Filename: name, Purpose: purpose, Status: "processed", body: body,
	}
	api.stored.put(f.ID, f, f.Bytes)
	return f
}

func (api *fileAPI) listFiles(w http.ResponseWriter, r *http.Request) error {
	return writePage(w, r, api.stored)
}

func (api *fileAPI) findFile(w http.ResponseWriter, r *http.Request) error {
	f, err := api.stored.named(r, "File")
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, f)
	return nil
}

func (api *fileAPI) dropFile(w http.ResponseWriter, r *http.Request) error {
	return writeDropped(w, r, api.stored, "File", "file")
}

func (api *fileAPI) fileContent(w http.ResponseWriter, r *http.Request) error {
	f, err := api.stored.named(r, "File")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(f.body) // the client may have disconnected
	return nil
}

// writeDropped deletes the object that the path names and confirms it.
func writeDropped[T any](w http.ResponseWriter, r *http.Request, s *store[T], kind, object string) error {
	id := r.PathValue("id")
	if !s.drop(id) {
		return missing(kind, id)
	}
	writeJSON(w, http.StatusOK, map[string]any{"id": id, "object": object, "deleted": true})
	return nil
}

// writePage writes the page of stored objects that the query requests.
func writePage[T any](w http.ResponseWriter, r *http.Request, s *store[T]) error {
	p, err := s.list(r)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, p)
	return nil
}

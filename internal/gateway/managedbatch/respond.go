package managedbatch

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/uploads"
	"sluice/internal/domain/batch"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
)

// Request is a call of a caller for files or batches.
type Request struct {
	By       Caller
	Match    llm.Match
	RawQuery string
	Form     *multipartedit.Form // of an upload
	Doc      *jsonedit.Doc       // of the creation of a batch
	// CheckHeader rejects a header value of gateway_options, such as one with the caller's own key.
	CheckHeader func(value string) error
	Metadata    string // x-gateway-metadata of the caller, for calls whose options have none
	TraceID     string // likewise; empty for the id of the batch
}

// Payload is the response to a Request: JSON, or the content of a file.
type Payload struct {
	JSON    []byte
	Content io.Reader // reads the store; valid as long as the context of Respond
	Length  int64     // of Content
}

// Serves reports whether the gateway manages the object that a call names by its id.
func Serves(m llm.Match) bool {
	switch m.Endpoint {
	case llm.RetrieveFile, llm.DeleteFile, llm.RetrieveFileContent:
		return strings.HasPrefix(m.ID, batch.FilePrefix)
	case llm.RetrieveBatch, llm.CancelBatch, llm.GetBatchOutput:
		return strings.HasPrefix(m.ID, batch.IDPrefix)
	default:
		return false
	}
}

// IsEndpoint reports whether an endpoint concerns files or batches.
func IsEndpoint(e llm.Endpoint) bool {
	switch e {
	case llm.UploadFile, llm.ListFiles, llm.RetrieveFile, llm.DeleteFile, llm.RetrieveFileContent, llm.CreateBatch, llm.ListBatches, llm.RetrieveBatch, llm.CancelBatch, llm.GetBatchOutput:
		return true
	default:
		return false
	}
}

// Respond serves a call for which IsEndpoint. Objects of other workspaces are fault.NotFound.
func (s *Service) Respond(ctx context.Context, r *Request) (*Payload, error) {
	serve := map[llm.Endpoint]func(context.Context, *Request) (*Payload, error){
		llm.UploadFile: s.upload, llm.ListFiles: s.listFiles, llm.RetrieveFile: s.retrieveFile, llm.DeleteFile: s.deleteFile, llm.RetrieveFileContent: s.fileContent,
		llm.CreateBatch: s.create, llm.ListBatches: s.listBatches, llm.RetrieveBatch: s.retrieveBatch, llm.CancelBatch: s.cancel, llm.GetBatchOutput: s.batchOutput,
	}[r.Match.Endpoint]
	if serve == nil {
		return nil, fault.Newf(fault.NotSupported, "the gateway does not manage %s", r.Match.Endpoint)
	}
	return serve(ctx, r)
}

func newFileID() string { return ident.NewObjectID(batch.FilePrefix) }

// upload stores an input file.
func (s *Service) upload(ctx context.Context, r *Request) (*Payload, error) {
	u, err := uploads.Read(&dialect.Request{Form: r.Form})
	if err != nil {
		return nil, err
	}
	if u.Purpose != batch.PurposeInput {
		return nil, fault.New(fault.InvalidParameter, `purpose must be "batch" for files that the gateway manages`).WithParam("purpose")
	}
	now := s.Clock.Now()
	f := &batch.File{
		ID: newFileID(), OrgID: r.By.OrgID, WorkspaceID: r.By.WorkspaceID, KeyID: r.By.KeyID, Name: fault.Clip(u.Name), Purpose: u.Purpose,
		Created: now, Expires: now.Add(s.Retention),
	}
	if f.Lines, err = countLines(u.Content().Open()); err != nil {
		return nil, err
	}
	if err := s.saveContent(ctx, f, u.Content().Open()); err != nil {
		return nil, err
	}
	if err := s.Store.SaveFile(ctx, f); err != nil {
		return nil, err
	}
	return jsonPayload(f.JSON())
}

// countLines counts the lines of an input file and checks that each is a JSON object.
func countLines(file io.Reader) (lines int64, err error) {
	err = uploads.EachLine(file, func(n int, line []byte) error {
		if lines++; lines > batch.MaxLines {
			return fault.Newf(fault.InvalidParameter, "the file has more than %d lines, the maximum of a batch", batch.MaxLines).WithParam("file")
		}
		if !jsonedit.Valid(line) {
			return fault.Newf(fault.InvalidParameter, "line %d of the file is not a JSON object", n).WithParam("file")
		}
		return nil
	})
	if err == nil && lines == 0 {
		err = fault.New(fault.InvalidParameter, "the file has no lines").WithParam("file")
	}
	return lines, err
}

func (s *Service) listFiles(ctx context.Context, r *Request) (*Payload, error) {
	q, p, err := s.page(r)
	if err != nil {
		return nil, err
	}
	list, err := s.Store.ListFiles(ctx, p, q.Get("purpose"))
	if err != nil {
		return nil, pageError(err)
	}
	return listPayload(list, p.Limit-1, func(f *batch.File) string { return f.ID }, (*batch.File).JSON)
}

func (s *Service) listBatches(ctx context.Context, r *Request) (*Payload, error) {
	_, p, err := s.page(r)
	if err != nil {
		return nil, err
	}
	list, err := s.Store.ListBatches(ctx, p)
	if err != nil {
		return nil, pageError(err)
	}
	return listPayload(list, p.Limit-1, func(b *batch.Batch) string { return b.ID }, (*batch.Batch).JSON)
}

// Sizes of pages.
const (
	defaultPage = 20
	maxPage     = 100
)

// page returns the query of a list and the page that it selects. The page has one object more than the
// client requested, which shows whether there are more.
func (s *Service) page(r *Request) (q url.Values, p batch.Page, err error) {
	q, err = url.ParseQuery(r.RawQuery)
	if err != nil {
		return nil, p, fault.New(fault.InvalidParameter, "the query is not valid; escape its values").WithParam("query").WithCause(err)
	}
	p = batch.Page{WorkspaceID: r.By.WorkspaceID, After: q.Get("after"), Limit: defaultPage + 1, Now: s.Clock.Now()}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, p, fault.New(fault.InvalidParameter, "limit must be a number from 1 to 100").WithParam("limit")
		}
		p.Limit = min(n, maxPage) + 1
	}
	return q, p, nil
}

// pageError explains a page that begins after an unknown object.
func pageError(err error) error {
	if fault.Has(err, fault.NotFound) {
		return fault.New(fault.InvalidParameter, "after is not the id of an object in this list").WithParam("after")
	}
	return err
}

func listPayload[T any](list []T, limit int, id func(T) string, object func(T) ([]byte, error)) (*Payload, error) {
	more := len(list) > limit
	list = list[:min(len(list), limit)]
	var objects []json.RawMessage
	for _, it := range list {
		text, err := object(it)
		if err != nil {
			return nil, err
		}
		objects = append(objects, text)
	}
	first, last := "", ""
	if len(list) > 0 {
		first, last = id(list[0]), id(list[len(list)-1])
	}
	return jsonPayload(batch.ListJSON(objects, first, last, more))
}

func jsonPayload(body []byte, err error) (*Payload, error) {
	if err != nil {
		return nil, err
	}
	return &Payload{JSON: body}, nil
}

func (s *Service) retrieveFile(ctx context.Context, r *Request) (*Payload, error) {
	f, err := s.findFile(ctx, r.By.WorkspaceID, r.Match.ID)
	if err != nil {
		return nil, err
	}
	return jsonPayload(f.JSON())
}

func (s *Service) deleteFile(ctx context.Context, r *Request) (*Payload, error) {
	if err := s.Store.DeleteFile(ctx, r.By.WorkspaceID, r.Match.ID); err != nil {
		return nil, noFile(err, r.Match.ID)
	}
	return &Payload{JSON: uploads.Deleted(r.Match.ID).Body}, nil
}

func (s *Service) fileContent(ctx context.Context, r *Request) (*Payload, error) {
	return s.content(ctx, r.By.WorkspaceID, r.Match.ID)
}

func (s *Service) content(ctx context.Context, workspace, id string) (*Payload, error) {
	f, err := s.findFile(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	return &Payload{Content: s.open(ctx, f), Length: f.Bytes}, nil
}

func (s *Service) findFile(ctx context.Context, workspace, id string) (*batch.File, error) {
	f, err := s.Store.FindFile(ctx, workspace, id, s.Clock.Now())
	return f, noFile(err, id)
}

func noFile(err error, id string) error {
	if fault.Has(err, fault.NotFound) {
		return fault.Newf(fault.NotFound, "no file with the id %q in this workspace", fault.Clip(id))
	}
	return err
}

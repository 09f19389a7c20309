package providerjobs

import (
	"context"
	"io"
	"net/url"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/uploads"
	"sluice/internal/domain/providerjob"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/tokens"
)

// batchInput returns the maximum usage of a batch: of the requests in the call itself and in all
// its input files, because the gateway does not know which of them the provider uses. The
// requests go to the endpoint of the batch. The result is nil without an error when a file is
// unknown and no cost budget applies.
func (e *estimate) batchInput(ctx context.Context, from *providerjob.Source) (*providerjob.Input, error) {
	input := new(providerjob.Input)
	for _, list := range from.Lists {
		if err := addList(input, list); err != nil {
			return nil, err
		}
	}
	if len(from.Files) == 0 && input.Lines == 0 {
		return nil, errNoInput
	}
	for _, f := range from.Files {
		one, err := e.fileInput(ctx, f.ID)
		if err != nil || one == nil {
			return nil, err
		}
		if err := input.Merge(one); err != nil {
			return nil, errJob("the input files cannot be counted: " + err.Error())
		}
	}
	if from.Endpoint != "" {
		if err := input.SendTo(from.Endpoint); err != nil {
			return nil, errJob(err.Error())
		}
	}
	return input, nil
}

// trainingTokens returns the tokens of all training files for one epoch. The result is nil under
// the same conditions as in batchInput.
func (e *estimate) trainingTokens(ctx context.Context, from *providerjob.Source) (*int64, error) {
	if len(from.Files) == 0 {
		return nil, errNoInput
	}
	n := int64(0)
	for _, f := range from.Files {
		input, err := e.fileInput(ctx, f.ID)
		if err != nil || input == nil {
			return nil, err
		}
		n = min(n+providerjob.Times(input.Training, f.Weight), quota.MaxCallUnits)
	}
	return &n, nil
}

const errNoInput = errJob("the call has no input file that the gateway can read; upload the file through this gateway (POST /v1/files) and use its id")

// addList counts a list of requests.
func addList(input *providerjob.Input, list []byte) error {
	for one := range jsonedit.Elements(list) {
		if err := input.Add(one, "", maxRequestTokens); err != nil {
			return errJob("cannot count the list of requests: " + err.Error())
		}
	}
	return nil
}

// maxRequestTokens returns the maximum tokens of a request.
func maxRequestTokens(ep llm.Endpoint, body []byte, model string) int64 {
	return tokens.MaxRequestTokens(ep, body, model)
}

// fileInput returns the usage of an input file: the counts from its upload through this node, or
// else from a fetch at the provider. A fetched file is limited to the maximum upload size.
func (e *estimate) fileInput(ctx context.Context, id string) (*providerjob.Input, error) {
	key := e.call.fileKey(id)
	input, ok := e.files.Get(key)
	switch {
	case ok:
	case !e.call.Budgeted:
		return nil, nil //nolint:nilnil // the file is not known, which is not an error without a budget
	default:
		var err error
		if input, err = e.fetchInput(ctx, id); err != nil {
			return nil, errJob("the input file " + quoted(id) + " cannot be read (" + fault.From(err).Text() + "); upload it through this gateway (POST /v1/files) and create the job again")
		}
		if !strings.Contains(plainID(id), "://") { // a bucket path may contain another file at any time
			e.files.Put(key, input)
		}
	}
	if input.Lines == 0 {
		return nil, errJob("the input file " + quoted(id) + " has no lines")
	}
	return input, nil
}

// fileKey returns the key of a provider's file within a workspace.
func (c *Call) fileKey(id string) string {
	slug := ""
	if c.Account != nil {
		slug = c.Account.Slug
	}
	return strings.Join([]string{c.Key.Principal.WorkspaceID, c.Provider, slug, plainID(id)}, "\x00")
}

// plainID returns an id without its path escapes.
func plainID(id string) string {
	if plain, err := url.PathUnescape(id); err == nil {
		return strings.Clone(plain)
	}
	return strings.Clone(id)
}

func (e *estimate) fetchInput(ctx context.Context, id string) (*providerjob.Input, error) {
	c, err := e.Upstream.Get(ctx, e.call.Key, e.call.access(), "/files/"+inPath(id)+"/content")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if c.Status >= 300 {
		return nil, fault.Newf(fault.UpstreamFailed, "the provider responded with status %d", c.Status)
	}
	return countFile(&limitedReader{r: c.Body, left: e.MaxUploadBytes})
}

// inPath returns an id as a path segment. An id that already has escapes is unchanged.
func inPath(id string) string {
	if strings.Contains(id, "%") {
		return id
	}
	return url.PathEscape(id)
}

// countFile counts a file of requests or training examples, line by line. A line without a model
// uses the model of the job, which may differ between the jobs of a file.
func countFile(file io.Reader) (*providerjob.Input, error) {
	input := new(providerjob.Input)
	err := uploads.EachLine(file, func(_ int, line []byte) error {
		if err := input.Add(line, "", maxRequestTokens); err != nil {
			return fault.New(fault.InvalidParameter, err.Error()).WithParam("file")
		}
		return nil
	})
	return input, err
}

// noteFile counts a file that was uploaded for a job when a cost budget applies to the call, so
// that the maximum usage is known when the job is created. An earlier count for the same id is
// replaced or dropped, because an id may be a path in a bucket.
func (t *Jobs) noteFile(c *Call, response []byte) {
	id := providerjob.ID(response)
	if id == "" {
		return
	}
	if input := c.uploaded(); input != nil {
		t.files.Put(c.fileKey(id), input)
	} else {
		t.files.Delete(c.fileKey(id))
	}
}

// uploaded returns the usage of an uploaded file. It returns nil when the file must be read from
// the provider, for example for a form with several files, of which the provider uses one.
func (c *Call) uploaded() *providerjob.Input {
	if c.Form == nil || !c.Budgeted {
		return nil
	}
	u, err := uploads.Read(&dialect.Request{Form: c.Form})
	if err != nil || u.Purpose != "batch" && u.Purpose != "fine-tune" {
		return nil
	}
	files := 0
	for i := range c.Form.Parts {
		if p := &c.Form.Parts[i]; p.HasFileName || strings.EqualFold(p.Name, "file") {
			files++
		}
	}
	input, err := countFile(u.Content().Open())
	if err != nil || files > 1 { // creating the job reports the error
		return nil
	}
	return input
}

// limitedReader returns an error once more than its limit is read.
type limitedReader struct {
	r    io.Reader
	left int64
}

// Read implements io.Reader.
func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fault.New(fault.TooLarge, "the file exceeds the maximum upload size (MAX_UPLOAD_SIZE_IN_MB)")
	}
	return n, err
}

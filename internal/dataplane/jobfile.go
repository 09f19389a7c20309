package dataplane

import (
	"bytes"
	"context"
	"io"
	"net/url"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/jobs"
	"sluice/internal/llm"
	"sluice/internal/splice"
	"sluice/internal/tokens"
)

// filesCounted is how many input files a node remembers what they can use.
const filesCounted = 10_000

// batchInput is what the requests of a batch can use at most: those in the call itself, or
// those of its input file. Nil, without an error, where the file is not known and is not
// to be fetched.
func (g *Gateway) batchInput(ctx context.Context, a *attempt, fetch bool) (*jobs.Input, error) {
	body := g.jobBody(a)
	if body == nil {
		return nil, errJob("the body is not read; send it as application/json")
	}
	for _, path := range [...][]string{{"requests"}, {"batch", "input_config", "requests", "requests"}, {"batch", "inputConfig", "requests", "requests"}, {"batch", "inputConfig", "requests", "inlinedRequests"}} {
		if list, ok := splice.Find(body, path...); ok && len(list) > 0 && list[0] == '[' {
			return countList(list, a.priceName())
		}
	}
	id := a.firstParam("input_file_id", "input_files", "file_id", "dataset_id")
	for _, path := range [...][]string{{"batch", "input_config", "file_name"}, {"batch", "inputConfig", "fileName"}, {"inputDataConfig", "s3InputDataConfig", "s3Uri"}} {
		if id == "" {
			id = splice.Text(body, path...)
		}
	}
	return g.fileInput(ctx, a, id, fetch)
}

func countList(list []byte, model string) (*jobs.Input, error) {
	in := new(jobs.Input)
	for one := range splice.Elements(list) {
		if err := in.Add(one, model, boundOf); err != nil {
			return nil, errJob("the list of requests cannot be counted: " + err.Error())
		}
	}
	return in, nil
}

// boundOf counts a request at most.
func boundOf(ep llm.Endpoint, body []byte, model string) int64 {
	return tokens.BoundRequest(ep, body, model)
}

// fileInput is what an input file can use: as it was counted when it was uploaded through
// this node, else as it is fetched from the provider, within the size of an upload.
func (g *Gateway) fileInput(ctx context.Context, a *attempt, id string, fetch bool) (*jobs.Input, error) {
	if id == "" {
		return nil, errJob("the call names no input file that the gateway can read; upload the file through this gateway (POST /v1/files) and name it")
	}
	key := fileKey(a, id)
	if in, ok := g.jobFiles.get(key); ok {
		return in, nil
	}
	if !fetch {
		return nil, nil //nolint:nilnil // the file is not known, which is no error without a budget
	}
	in, err := g.fetchInput(ctx, a, id)
	if err != nil {
		return nil, errJob("the input file " + quoted(id) + " cannot be read (" + fault.From(err).Text() + "); upload it through this gateway (POST /v1/files) and create the job again")
	}
	g.jobFiles.put(key, in)
	return in, nil
}

// fileKey names a file of a provider within a workspace.
func fileKey(a *attempt, id string) string {
	slug := ""
	if a.account != nil {
		slug = a.account.Slug
	}
	return strings.Join([]string{a.x.key.Principal.WorkspaceID, a.spec.ID, slug, plainID(id)}, "\x00")
}

// plainID is an id without the escapes that some have in paths.
func plainID(id string) string {
	if plain, err := url.PathUnescape(id); err == nil {
		return strings.Clone(plain)
	}
	return strings.Clone(id)
}

func (g *Gateway) fetchInput(ctx context.Context, a *attempt, id string) (*jobs.Input, error) {
	c, err := g.inside(ctx, a.x.key, accessOf(a), "/files/"+inPath(id)+"/content")
	if err != nil {
		return nil, err
	}
	defer c.close()
	if c.status >= 300 {
		return nil, fault.Newf(fault.UpstreamFailed, "the provider answered with status %d", c.status)
	}
	return countFile(&limitedReader{r: c.body, left: g.set.MaxUploadBytes}, a.priceName())
}

// inPath is an id as a segment of a path; one that has escapes already stays as it is.
func inPath(id string) string {
	if strings.Contains(id, "%") {
		return id
	}
	return url.PathEscape(id)
}

// countFile counts a file of requests, or of training examples, line by line.
func countFile(file io.Reader, model string) (*jobs.Input, error) {
	in := new(jobs.Input)
	err := dialect.EachLine(file, func(_ int, line []byte) error {
		if err := in.Add(line, model, boundOf); err != nil {
			return fault.New(fault.InvalidParameter, err.Error()).At("file")
		}
		return nil
	})
	return in, err
}

// noteFile counts a file that was uploaded for a job, where a budget of cost applies to
// the call: what the job can use is then known when it is created.
func (g *Gateway) noteFile(a *attempt) {
	if a.x.form == nil || !a.underCost() {
		return
	}
	u, err := dialect.ReadUpload(&dialect.Request{Form: a.x.form})
	if err != nil || u.Purpose != "batch" && u.Purpose != "fine-tune" {
		return
	}
	id := jobs.ID(a.clientReply())
	if id == "" {
		return
	}
	if in, err := countFile(u.Content().Open(), a.priceName()); err == nil { // else the job is refused, and says why
		g.jobFiles.put(fileKey(a, id), in)
	}
}

// clientReply is the response as the caller gets it, or as far as it is kept.
func (a *attempt) clientReply() []byte {
	if len(a.reply.body) > 0 {
		return a.reply.body
	}
	return bytes.TrimSpace(a.log().Response.Plain(usageMost))
}

// limitedReader fails where more is read than it has.
type limitedReader struct {
	r    io.Reader
	left int64
}

// Read implements io.Reader.
func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fault.New(fault.TooLarge, "the file is larger than uploads may be (MAX_UPLOAD_SIZE_IN_MB)")
	}
	return n, err
}

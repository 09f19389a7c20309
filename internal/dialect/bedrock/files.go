package bedrock

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/uploads"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// upload stores a file in S3, with its lines translated for the model. The name of the object is
// derived from the content of the file unless the caller sets it.
// Source: contract/provider-transforms.md 3.12;
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html, read 2026-11.
type upload struct{}

// files implements the description and the download of files.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAttributes.html, read 2026-11.
type files struct{}

var (
	_ dialect.OpenAIEndpoint = upload{}
	_ dialect.FileStreamer   = files{}
)

const tuning = "fine-tune"

// maxDroppedFields is the maximum number of dropped fields that are reported for a file's lines.
const maxDroppedFields = 32

// EncodeRequest builds the object.
func (upload) EncodeRequest(ctx context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	f, err := readForm(r, to)
	if err != nil {
		return nil, err
	}
	if f.model == "" {
		return nil, fault.New(fault.InvalidParameter, "the model of the batch lines is required; send x-gateway-aws-bedrock-model").WithParam("x-gateway-aws-bedrock-model")
	}
	out := &dialect.Outgoing{Path: f.object.path(), Dropped: f.Dropped}
	line := tuningLine(valueOf(to, "model_type") == "text")
	if f.purpose != tuning {
		if r.Lines == nil {
			return nil, fault.New(fault.NotSupported, "batch files are not supported by bedrock here")
		}
		target := *to
		target.Model, target.Stream = f.model, false
		line = batchLine(ctx, r, &target, func(paths []string) {
			for _, p := range paths {
				if p = "body." + p; len(out.Dropped) < maxDroppedFields && !slices.Contains(out.Dropped, p) {
					out.Dropped = append(out.Dropped, p)
				}
			}
		})
	}
	lines := r.NewSpool()
	if err := f.Rewrite(lines, line); err != nil {
		return nil, err
	}
	out.Large = lines.Payload()
	out.Header = wire.Header{{Name: "content-type", Value: "application/jsonl"}}
	for header, field := range map[string]string{
		"x-amz-server-side-encryption": "aws_server_side_encryption", "x-amz-server-side-encryption-aws-kms-key-id": "aws_server_side_encryption_kms_key_id",
	} {
		if v := valueOf(to, field); v != "" {
			out.Header.Add(header, v)
		}
	}
	return out, nil
}

// form is the parsed upload form of the caller.
type form struct {
	*uploads.Upload
	purpose string
	object  s3Object
	model   string
}

// readForm parses the form. Bucket and key come from the credential's fields.
func readForm(r *dialect.Request, to *dialect.Target) (*form, error) {
	u, err := uploads.Read(r)
	if err != nil {
		return nil, err
	}
	f := &form{Upload: u, model: cmp.Or(valueOf(to, "aws_bedrock_model"), to.Model), purpose: u.Purpose}
	if valueOf(to, "file_purpose") == tuning {
		f.purpose = tuning
	}
	f.purpose = cmp.Or(f.purpose, "batch")
	if f.object.bucket = valueOf(to, "aws_s3_bucket"); f.object.bucket == "" {
		return nil, fault.New(fault.InvalidParameter, "the bucket of the file is required; send x-gateway-aws-s3-bucket").WithParam("x-gateway-aws-s3-bucket")
	}
	if f.object.key = valueOf(to, "aws_s3_object_key"); f.object.key == "" {
		hash := sha256.New()
		if _, err := u.Content().WriteTo(hash); err != nil {
			return nil, err
		}
		f.object.key = hex.EncodeToString(hash.Sum(nil)[:16]) + ".jsonl"
	}
	return f, nil
}

// TranslateResponse describes the file from the request, because S3 returns no description.
func (upload) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	f, err := readForm(incoming.Sent, incoming.To)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	writeFile(&w, f.object, f.purpose, f.File.Len, incoming.Created)
	return &dialect.Response{Body: w.B}, nil
}

func writeFile(w *jsonwriter.Writer, p s3Object, purpose string, size, created int64) {
	w.Open('{')
	w.Str("id", p.id())
	w.Str("object", "file")
	w.Int("bytes", size)
	w.Int("created_at", created)
	w.Str("filename", p.String())
	w.Str("purpose", purpose)
	w.Str("status", "processed")
	w.Close('}')
}

// EncodeRequest builds a request to S3 for an object or for its size.
func (files) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	p, err := parseS3Object(r.ID, "id")
	if err != nil {
		return nil, err
	}
	out := &dialect.Outgoing{Path: p.path()}
	if r.Endpoint == llm.RetrieveFile {
		out.Query = "attributes="
		out.Header = wire.Header{{Name: "x-amz-object-attributes", Value: "ObjectSize"}}
	}
	return out, nil
}

// FileType reports that the content of an object is returned unchanged.
func (files) FileType(ep llm.Endpoint) (string, bool) {
	return "application/octet-stream", ep == llm.RetrieveFileContent
}

// TranslateResponse reads <ObjectSize>12</ObjectSize>.
func (files) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	p, err := parseS3Object(incoming.Sent.ID, "id")
	if err != nil {
		return nil, err
	}
	_, rest, ok := bytes.Cut(incoming.Body, []byte("<ObjectSize>"))
	text, _, closed := bytes.Cut(rest, []byte("</ObjectSize>"))
	size, bad := strconv.ParseInt(string(text), 10, 64)
	if !ok || !closed || bad != nil {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response does not contain the file size")
	}
	var w jsonwriter.Writer
	writeFile(&w, p, "batch", size, modified(incoming))
	return &dialect.Response{Body: w.B}, nil
}

// modified returns the time in the last-modified header, "Fri, 20 Nov 2026 10:00:00 GMT", in epoch
// seconds. Without a valid header it returns the time of the response.
func modified(incoming *dialect.Incoming) int64 {
	lastModified, err := time.Parse(time.RFC1123, incoming.Header.Get("last-modified"))
	if err != nil {
		return incoming.Created
	}
	return lastModified.Unix()
}

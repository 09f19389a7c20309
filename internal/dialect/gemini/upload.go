package gemini

import (
	"cmp"
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/uploads"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// upload writes a file into the caller's bucket. It rewrites the lines of a batch and
// training examples in Vertex AI's format. Other files stay unchanged.
// Source: contract/provider-transforms.md 4.10; contract/dataplane.md 6.4.
type upload struct{}

var _ dialect.OpenAIEndpoint = upload{}

// The purposes of files. Batches and examples are rewritten.
const (
	purposeBatch    = "batch"
	purposeFinetune = "fine-tune"
	purposeUpload   = "upload"
)

// EncodeRequest creates the object. The bucket, the object's name and, for batches, the
// model come from fields of the credential.
func (upload) EncodeRequest(ctx context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	f, err := readForm(r, to)
	if err != nil {
		return nil, err
	}
	body := f.Content()
	if f.purpose != purposeUpload {
		if body, err = f.rows(ctx, r, to); err != nil {
			return nil, err
		}
	}
	head := wire.Header{{Name: "content-type", Value: "application/octet-stream"}}
	return &dialect.Outgoing{Large: body, Header: head, Path: f.object.path(), Dropped: f.Dropped}, nil
}

// TranslateResponse describes the uploaded file. Google's response is empty.
func (upload) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	f, err := readForm(incoming.Sent, incoming.To)
	if err != nil {
		return nil, err
	}
	out := file{object: f.object, purpose: f.purpose, bytes: f.File.Len, created: incoming.Created}
	return out.response(), nil
}

// uploaded is the caller's multipart form.
type uploaded struct {
	*uploads.Upload
	object  object
	purpose string
}

func readForm(r *dialect.Request, to *dialect.Target) (*uploaded, error) {
	u, err := uploads.Read(r)
	if err != nil {
		return nil, err
	}
	f := &uploaded{
		Upload: u, purpose: cmp.Or(to.Value("file_purpose"), u.Purpose),
		object: object{bucket: to.Value("vertex_storage_bucket_name"), name: cmp.Or(to.Value("filename"), u.Name)},
	}
	return f, f.check()
}

func (f *uploaded) check() error {
	switch {
	case f.object.bucket == "":
		return fault.New(fault.InvalidRequest, "vertex-ai requires a bucket; send x-gateway-vertex-storage-bucket-name, or save vertex_storage_bucket_name with the provider").WithParam("x-gateway-vertex-storage-bucket-name")
	case f.object.name == "":
		return fault.New(fault.InvalidRequest, "the file name is required; send one in the form, or send x-gateway-provider-file-name").WithParam("x-gateway-provider-file-name")
	case f.purpose == "":
		return fault.New(fault.InvalidParameter, "purpose is required; send batch, fine-tune or upload in the form").WithParam("purpose")
	case f.purpose != purposeBatch && f.purpose != purposeFinetune && f.purpose != purposeUpload:
		return fault.New(fault.InvalidParameter, "purpose must be batch, fine-tune or upload").WithParam("purpose")
	}
	return nil
}

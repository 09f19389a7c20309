package gemini

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/wire"
)

// upload writes a file into the caller's bucket: lines of a batch or examples as Vertex
// AI wants them, anything else as it is.
// Source: contract/provider-transforms.md 4.10; contract/dataplane.md 6.4.
type upload struct{}

var _ dialect.Unified = upload{}

// The purposes of files. Batches and examples are rewritten.
const (
	purposeBatch    = "batch"
	purposeFinetune = "fine-tune"
	purposeUpload   = "upload"
)

// EncodeRequest makes the object. The bucket, its name there and, for batches, the model
// come in fields of the credential.
func (upload) EncodeRequest(ctx context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	f, err := readForm(r, to)
	if err != nil {
		return nil, err
	}
	if f.purpose != purposeUpload {
		if f.content, err = f.rows(ctx, r.Lines, to); err != nil {
			return nil, err
		}
	}
	head := wire.Header{{Name: "content-type", Value: "application/octet-stream"}}
	return &dialect.Outgoing{Body: f.content, Header: head, Path: f.object.path(), Lost: f.lost}, nil
}

// DecodeAnswer tells of the file; Google answers nothing.
func (upload) DecodeAnswer(in *dialect.Incoming) (*dialect.Answer, error) {
	f, err := readForm(in.Sent, in.To)
	if err != nil {
		return nil, err
	}
	out := file{object: f.object, purpose: f.purpose, bytes: int64(len(f.content)), created: in.Created}
	return out.answer(), nil
}

// uploaded is the caller's form.
type uploaded struct {
	object  object
	purpose string
	content []byte
	lost    []string
}

func readForm(r *dialect.Request, to *dialect.Target) (*uploaded, error) {
	_, params, err := mime.ParseMediaType(r.ContentType)
	if err != nil || params["boundary"] == "" {
		return nil, fault.New(fault.InvalidRequest, "the body must be a multipart form").Because(err)
	}
	f := &uploaded{object: object{bucket: to.Value("vertex_storage_bucket_name"), name: to.Value("filename")}, purpose: to.Value("file_purpose")}
	form := multipart.NewReader(r.Payload.Open(), params["boundary"])
	found := false
	for {
		p, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = f.field(p, &found)
		}
		if err != nil {
			return nil, fault.New(fault.InvalidRequest, "the multipart form is broken").Because(err)
		}
	}
	return f, f.check(found)
}

func (f *uploaded) field(p *multipart.Part, found *bool) (err error) {
	switch p.FormName() {
	case "file":
		*found = true
		f.object.name = cmp.Or(f.object.name, p.FileName())
		f.content, err = io.ReadAll(p)
	case "purpose":
		var b bytes.Buffer
		_, err = io.Copy(&b, io.LimitReader(p, 64))
		f.purpose = cmp.Or(f.purpose, b.String())
	default:
		f.lost = append(f.lost, p.FormName())
	}
	return err
}

func (f *uploaded) check(found bool) error {
	switch {
	case !found:
		return fault.New(fault.InvalidParameter, "file is missing: send it in the form").At("file")
	case f.object.bucket == "":
		return fault.New(fault.InvalidRequest, "vertex-ai needs a bucket: send x-gateway-vertex-storage-bucket-name, or store vertex_storage_bucket_name with the provider").At("x-gateway-vertex-storage-bucket-name")
	case f.object.name == "":
		return fault.New(fault.InvalidRequest, "the file has no name: send one in the form, or x-gateway-provider-file-name").At("x-gateway-provider-file-name")
	case f.purpose == "":
		return fault.New(fault.InvalidParameter, "purpose is missing: send batch, fine-tune or upload in the form").At("purpose")
	case f.purpose != purposeBatch && f.purpose != purposeFinetune && f.purpose != purposeUpload:
		return fault.New(fault.InvalidParameter, "purpose must be batch, fine-tune or upload").At("purpose")
	}
	return nil
}

package logs

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

const (
	// exportLinkLife is how long a download link is valid.
	// Source: contract/content-and-observability.md section 8.
	exportLinkLife = time.Hour

	exportLinkContext = "address of a log export"
)

// linkExport creates a download link, which permits the download without a key.
func (k exports) linkExport(ctx context.Context, c *resource.Call, r resource.Row[record.Export]) (any, error) {
	if err := mayDownload(ctx, c, &r); err != nil {
		return nil, err
	}
	if err := k.ready(&r, c.Now); err != nil {
		return nil, err
	}
	content, err := k.Exports.OpenExport(ctx, r.ID, r.Value.Run)
	if err != nil {
		return nil, err
	}
	if err := content.Close(); err != nil {
		return nil, err
	}
	expires := strconv.FormatInt(c.Now.Add(exportLinkLife).Unix(), 10)
	q := url.Values{"expires": {expires}, "signature": {base64.RawURLEncoding.EncodeToString(k.Box.Sign(linkText(r.ID, expires), exportLinkContext))}}
	return exportFile{k.ConsoleURL + "/v1/logs/exports/" + r.ID + "/file?" + q.Encode()}, nil
}

// linkText returns the text that is signed in a link.
func linkText(id, expires string) []byte { return []byte(id + " " + expires) }

// files is the route of the download links. The signature replaces the caller's
// permissions.
func (k exports) files() resource.Resource {
	return resource.Operations{{
		Method: http.MethodGet, Path: "/logs/exports/{exportId}/file", ID: "readLogExportFile", Summary: "Download the file of a log export from an address that downloadLogExport returned",
		Tag: "Log exports", Feature: exportFeature, Public: true, Stream: "application/x-ndjson, application/gzip, application/zstd, application/vnd.apache.parquet",
		Params: []resource.Param{{Name: "exportId", Doc: "Id of the log export", Format: "uuid"}},
		Query: []resource.Param{
			{Name: "expires", Doc: "Expiry of the address, in Unix time", Type: "integer", Required: true},
			{Name: "signature", Doc: "Signature of the address", MaxLength: 64, Required: true},
		},
		Run: k.readExport,
	}}
}

func (k exports) readExport(ctx context.Context, c *resource.Call) (any, error) {
	id, expires := c.Path("exportId"), c.Query("expires")
	signature, err := base64.RawURLEncoding.DecodeString(c.Query("signature"))
	if err != nil || !ident.ValidID(id) || !k.Box.Signed(linkText(id, expires), signature, exportLinkContext) {
		return nil, fault.New(fault.Forbidden, "invalid address; get one from GET /v1/logs/exports/{exportId}/download").WithParam("signature")
	}
	if c.Now.Unix() >= int64(c.Int("expires")) {
		return nil, fault.New(fault.Forbidden, "the address has expired; get another one from GET /v1/logs/exports/{exportId}/download").WithParam("expires")
	}
	row, err := resource.FindLive[record.Export](ctx, c.Reader, record.ExportKind, id)
	if err != nil {
		return nil, err
	}
	if err := k.ready(row, c.Now); err != nil {
		return nil, err
	}
	content, err := k.Exports.OpenExport(ctx, id, row.Value.Run)
	if err != nil {
		return nil, err
	}
	name, kind := exportFileName(row)
	return &resource.File{Name: name, Type: kind, Changed: row.Value.Run.Ended, Content: content}, nil
}

// exportFileName returns the name under which a file is saved, and its content type.
func exportFileName(r *resource.Row[record.Export]) (name, kind string) {
	name = "log-export-" + r.ID
	switch e := &r.Value; {
	case e.Format == record.ExportParquet:
		return name + ".parquet", "application/vnd.apache.parquet"
	case e.Compression == record.ExportGzip:
		return name + ".jsonl.gz", "application/gzip"
	case e.Compression == record.ExportZstd:
		return name + ".jsonl.zst", "application/zstd"
	}
	return name + ".jsonl", "application/x-ndjson"
}

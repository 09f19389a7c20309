package catalog

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"time"
)

// maxFile is the maximum size of a file, in bytes.
const maxFile = 16 << 20

//go:embed builtin
var builtin embed.FS

// Builtin returns the source of the files embedded in the program.
func Builtin() Source {
	return tree{"built-in", func(f Folder) (fs.FS, error) { return fs.Sub(builtin, path.Join("builtin", string(f))) }}
}

// Dirs returns the source of local files, <provider>.json in a directory for each folder. An
// empty directory name means no files.
func Dirs(pricing, general string) Source {
	dirs := map[Folder]string{PricingFiles: pricing, GeneralFiles: general}
	return tree{"local", func(f Folder) (fs.FS, error) {
		if dirs[f] == "" {
			return nil, ErrNone
		}
		return os.DirFS(dirs[f]), nil
	}}
}

// tree reads files from file systems.
type tree struct {
	name       string
	openFolder func(Folder) (fs.FS, error)
}

// Name implements Source.
func (t tree) Name() string { return t.name }

// Read implements Source.
func (t tree) Read(_ context.Context, f Folder, provider string) ([]byte, error) {
	files, err := t.openFolder(f)
	if err != nil {
		return nil, err
	}
	file, err := files.Open(provider + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read, so the error does not matter
	return bounded(file)
}

func bounded(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = fmt.Errorf("must not exceed %d bytes", maxFile)
	}
	return raw, err
}

// Objects is a store of files, such as the object storage of the log store.
type Objects interface {
	// Open returns the content of a path such as "configs/pricing/openai.json". The caller
	// closes it. A missing path fails with fs.ErrNotExist.
	Open(ctx context.Context, path string) (io.ReadCloser, error)
}

// LogStore returns the source of files in the log store: <path>/<provider>.json, with a path
// for each folder. An empty path means no files.
func LogStore(objects Objects, pricing, general string) Source {
	return &stored{objects, map[Folder]string{PricingFiles: pricing, GeneralFiles: general}}
}

type stored struct {
	objects Objects
	paths   map[Folder]string
}

// Name implements Source.
func (s *stored) Name() string { return "log store" }

// Read implements Source.
func (s *stored) Read(ctx context.Context, f Folder, provider string) ([]byte, error) {
	if s.paths[f] == "" {
		return nil, ErrNone
	}
	content, err := s.objects.Open(ctx, strings.Trim(s.paths[f], "/")+"/"+provider+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }() // only read, so the error does not matter
	return bounded(content)
}

// Proxy returns the source of files from an HTTP service, such as another gateway:
// <base>/pricing/<provider>, or the same with the suffix .json. It requests only providers
// that known accepts, because callers may request any name.
// Source: contract/content-and-observability.md section 12.
func Proxy(base string, client *http.Client, known func(provider string) bool) Source {
	return &proxy{strings.TrimSuffix(base, "/"), client, known}
}

type proxy struct {
	base   string
	client *http.Client
	known  func(string) bool
}

// proxyTimeout limits one request to the service.
const proxyTimeout = 5 * time.Second

// Name implements Source.
func (p *proxy) Name() string { return "proxy" }

// Read implements Source.
func (p *proxy) Read(ctx context.Context, f Folder, provider string) ([]byte, error) {
	if !p.known(provider) {
		return nil, ErrNone
	}
	plain := p.base + "/" + string(f) + "/" + provider
	raw, err := p.get(ctx, plain)
	if errors.Is(err, ErrNone) {
		raw, err = p.get(ctx, plain+".json")
	}
	return raw, err
}

func (p *proxy) get(ctx context.Context, url string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, proxyTimeout)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // only read, so the error does not matter
	switch res.StatusCode {
	case http.StatusOK:
		return bounded(res.Body)
	case http.StatusNotFound:
		return nil, ErrNone
	}
	return nil, fmt.Errorf("%s returned %s", url, res.Status)
}

package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Directory is a local directory that stores objects: the local log store.
type Directory string

// Open implements Objects. The caller must close the file. A path cannot leave the directory.
func (d Directory) Open(_ context.Context, path string) (io.ReadCloser, error) {
	if !fs.ValidPath(path) {
		return nil, fmt.Errorf("%.200q is not a valid path in the log store", path)
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // files stay open without it
	return root.Open(path)
}

// Masked returns a source that passes the text of errors through mask, which removes logins of
// addresses, because errors are logged.
func Masked(s Source, mask func(text string) string) Source { return maskedSource{s, mask} }

type maskedSource struct {
	Source
	mask func(text string) string
}

// Read implements Source.
func (s maskedSource) Read(ctx context.Context, f Folder, provider string) ([]byte, error) {
	raw, err := s.Source.Read(ctx, f, provider)
	if err != nil && !errors.Is(err, ErrNone) {
		err = errors.New(s.mask(err.Error()))
	}
	return raw, err
}

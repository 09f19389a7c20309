package bodies

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// numberLot is how many numbers are reserved at a time. (ours)
const numberLot = 1024

// numbers gives each object of this node a number that no earlier object had, including objects
// that were never stored. An upload of an earlier process may finish late, and must not overwrite
// an object of this process. A reservation is on disk before it is used.
type numbers struct {
	path      string
	last, end uint32 // the last number given, and the last reserved one
}

// begin reads the reservation once; numbers continue after the stored ones.
func (n *numbers) begin(dir string, stored uint32) error {
	if n.path == "" {
		path := filepath.Join(dir, "objects.reserved")
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("number objects: %w", err)
		}
		if err == nil {
			was, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
			if err != nil {
				return fmt.Errorf("number objects: %s does not contain a number", path)
			}
			n.last = uint32(was)
		}
		n.path = path
	}
	if n.last = max(n.last, stored); n.last > n.end {
		n.end = n.last
	}
	return nil
}

// take returns the next number.
func (n *numbers) take() (uint32, error) {
	if n.last >= n.end {
		if err := n.reserve(n.last + numberLot); err != nil {
			return 0, fmt.Errorf("number objects: %w", err)
		}
	}
	n.last++
	return n.last, nil
}

// reserve writes the number to a temporary file and renames it.
func (n *numbers) reserve(end uint32) error {
	f, err := os.OpenFile(n.path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatUint(uint64(end), 10) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(n.path+".new", n.path)
	}
	if err == nil {
		n.end = end
	}
	return err
}

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

// numbers gives each object of this node a number that none had before, those included
// that were never stored: an upload that a process left under way may end late, and shall
// meet no object of its successor. What is reserved is on the disk before it is used.
type numbers struct {
	path      string
	last, end uint32 // what was given last, and the last that is reserved
}

// begin reads what is reserved, the first time; numbers follow those that are stored.
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

// take gives the next number.
func (n *numbers) take() (uint32, error) {
	if n.last >= n.end {
		if err := n.reserve(n.last + numberLot); err != nil {
			return 0, fmt.Errorf("number objects: %w", err)
		}
	}
	n.last++
	return n.last, nil
}

// reserve writes the number beside its place and moves it there.
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

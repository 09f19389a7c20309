package batch

import "slices"

// Progress is the set of lines that have a result, and their counts. Lines count from 0. Since
// lines are worked on nearly in order, the set is a prefix and a few lines after it.
type Progress struct {
	Total     int64   `json:"total"`
	Completed int64   `json:"completed"` // lines with a successful response
	Failed    int64   `json:"failed"`
	Next      int64   `json:"next"`            // all lines before it have a result
	Ahead     []int64 `json:"ahead,omitempty"` // sorted lines from Next on that have one
}

// Has reports whether a line has a result.
func (p *Progress) Has(line int64) bool {
	if line < p.Next {
		return true
	}
	_, found := slices.BinarySearch(p.Ahead, line)
	return found
}

// Add marks a line as one with a result, and reports whether it had none before.
func (p *Progress) Add(line int64, ok bool) bool {
	if p.Has(line) {
		return false
	}
	at, _ := slices.BinarySearch(p.Ahead, line)
	p.Ahead = slices.Insert(p.Ahead, at, line)
	n := 0
	for n < len(p.Ahead) && p.Ahead[n] == p.Next {
		p.Next++
		n++
	}
	p.Ahead = slices.Delete(p.Ahead, 0, n)
	if ok {
		p.Completed++
	} else {
		p.Failed++
	}
	return true
}

// Done reports whether every line has a result.
func (p *Progress) Done() bool { return p.Completed+p.Failed >= p.Total }

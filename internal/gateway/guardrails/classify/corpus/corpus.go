// Package corpus reads labelled texts: lines of a language, labels separated by commas (a hyphen for none)
// and a text, with tabs between them. Training and the tests of the classifiers use it; the gateway does not.
package corpus

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Text is a labelled text.
type Text struct {
	Language string   // "en", "de", "es"; "xx" for others
	Labels   []string // "hate"; empty for a text without any
	Text     string
}

// Is reports whether a text has a label.
func (t *Text) Is(label string) bool { return slices.Contains(t.Labels, label) }

// Read reads the texts of files.
func Read(files ...string) ([]Text, error) {
	var all []Text
	for _, name := range files {
		list, err := readFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

func readFile(name string) (list []Text, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		fields := strings.SplitN(lines.Text(), "\t", 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s line %d has no three fields", name, n)
		}
		t := Text{Language: fields[0], Text: fields[2]}
		if fields[1] != "-" {
			t.Labels = strings.Split(fields[1], ",")
		}
		list = append(list, t)
	}
	return list, lines.Err()
}

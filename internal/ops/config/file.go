package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFileBytes bounds the settings file and every file that a setting names.
const maxFileBytes = 1 << 20

// entry is one line of the settings file.
type entry struct {
	key  string // as written, "db_host"
	text string
	line int
}

// byteOrderMark begins files that editors of Windows write.
const byteOrderMark = "\uFEFF"

// ErrNotAFile is that of a path at which something else is: a folder, a pipe, a device.
var ErrNotAFile = errors.New("is not a file")

// OpenFile opens a regular file for reading, and nothing else: to open a pipe would wait
// for somebody who writes.
func OpenFile(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotAFile
	}
	return os.Open(path)
}

// readFile reads a regular file of at most maxFileBytes.
func readFile(path string) (string, error) {
	f, err := OpenFile(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(text) > maxFileBytes {
		err = fmt.Errorf("is larger than %d bytes", maxFileBytes)
	}
	return strings.TrimPrefix(string(text), byteOrderMark), err
}

// parseFile reads YAML whose top is a map of setting names to plain values or lists
// of plain values. What else it holds becomes problems with their lines. A key that
// stands twice comes back twice.
func parseFile(name, text string) ([]entry, []Problem) {
	file, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, []Problem{syntaxProblem(name, err)}
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case body != nil:
			return nil, []Problem{{Setting: name, Text: "contains several documents", Form: "one map of settings"}}
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return nil, nil
	}
	lines, ok := pairs(body)
	if !ok {
		return nil, []Problem{{Setting: name, Text: "is not a map", Form: "lines such as port: 8787"}}
	}
	return readPairs(name, lines)
}

func readPairs(name string, lines []*ast.MappingValueNode) (entries []entry, problems []Problem) {
	for _, pair := range lines {
		e := entry{key: keyText(pair.Key), line: pair.Key.GetToken().Position.Line}
		value, ok := plainText(pair.Value)
		if !ok {
			problems = append(problems, Problem{Setting: e.key, Where: where(name, e.line),
				Text: "is neither a plain value nor a list", Form: "one value, or a list of values without commas"})
			continue
		}
		e.text = value
		entries = append(entries, e)
	}
	return entries, problems
}

// keyText is a key without the quotes that it may be in.
func keyText(key ast.MapKeyNode) string {
	if quoted, ok := key.(*ast.StringNode); ok {
		return quoted.Value
	}
	return key.String()
}

func where(file string, line int) string { return fmt.Sprintf("file %s line %d", file, line) }

// syntaxProblem names the line and the reason; the library's own text would quote
// the file, secrets included.
func syntaxProblem(name string, err error) Problem {
	p := Problem{Setting: name, Text: "is not YAML", Form: "lines such as port: 8787"}
	var syntax yaml.Error
	if errors.As(err, &syntax) && syntax.GetToken() != nil {
		p.Where = fmt.Sprintf("line %d", syntax.GetToken().Position.Line)
	}
	return p
}

// pairs are the lines of a map; ok is false for everything else.
func pairs(body ast.Node) (lines []*ast.MappingValueNode, ok bool) {
	switch n := body.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// plainText gives a value as it would stand in the environment; a list becomes a
// comma list, null the empty text.
func plainText(node ast.Node) (string, bool) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return scalarText(node)
	}
	items := make([]string, 0, len(list.Values))
	for _, value := range list.Values {
		item, ok := scalarText(value)
		if !ok || strings.Contains(item, ",") {
			return "", false
		}
		items = append(items, item)
	}
	return strings.Join(items, ","), true
}

// scalarText takes numbers and words as they are written: 0010 stays 0010.
func scalarText(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	case *ast.NullNode:
		return "", true
	}
	return "", false
}

package apidoc

import (
	"errors"
	"fmt"
	"strings"
)

var methods = []string{"get", "post", "put", "patch", "delete"}

// operation is one method of a path while it is completed.
type operation struct {
	object
	method, path, id string
}

func (d *document) completeAll() error {
	var problems []error
	paths := d.root["paths"].(object)
	for path := range sortedKeys(paths) {
		item := paths[path].(object)
		for _, method := range methods {
			raw, ok := item[method].(object)
			if !ok {
				continue
			}
			id, _ := raw["operationId"].(string)
			op := &operation{raw, method, path, id}
			if err := d.complete(op); err != nil {
				problems = append(problems, fmt.Errorf("%s %s (%s): %w", strings.ToUpper(method), path, id, err))
			}
		}
	}
	return errors.Join(problems...)
}

func (d *document) complete(op *operation) error {
	if other, twice := d.seen[op.id]; twice || op.id == "" {
		return fmt.Errorf("the operation id is empty or already used by %s", other)
	}
	d.seen[op.id] = op.path
	if err := d.describe(op); err != nil {
		return err
	}
	d.addErrors(op)
	return d.addExamples(op)
}

// describe puts the description of operations.yaml before the statement of scopes. An
// operation under a second path has the text of the first.
func (d *document) describe(op *operation) error {
	text := d.texts[op.id]
	if first := firstID(op.id); text == "" && d.texts[first] != "" {
		text = d.texts[first] + " The same operation is served under several paths."
		d.described[first] = true
	}
	if text == "" {
		return fmt.Errorf("operations.yaml has no description; add a line %q", op.id+": …")
	}
	d.described[op.id] = true
	scopes, _ := op.object["description"].(string)
	if scopes == "" {
		return fmt.Errorf("the operation must declare its scopes")
	}
	op.object["description"] = text + "\n\n" + scopes
	return nil
}

// firstID is the id of the operation that an alias repeats: "listWorkspaces" of
// "listWorkspacesAtAdminWorkspaces".
func firstID(id string) string {
	if i := strings.LastIndex(id, "At"); i > 0 {
		return id[:i]
	}
	return id
}

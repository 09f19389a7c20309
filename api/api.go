// Package api holds the published description of the HTTP interface: the model routes and
// the administration. openapi.json is generated from the types of the program, the texts of
// internal/control/apidoc and the API transcripts; run "go generate ./internal/control" after a
// change to any of them.
package api

import (
	"bytes"
	_ "embed"
)

//go:embed openapi.json
var description []byte

// versionMark stands for the version of the program in openapi.json.
const versionMark = `"version": "0.0.0"`

// Version is the version that openapi.json has until it is served.
const Version = "0.0.0"

// Description returns the description, OpenAPI 3.1 as JSON, with the version of the
// program, for example "1.4.0". The caller owns the slice.
func Description(version string) []byte {
	return bytes.Replace(description, []byte(versionMark), []byte(`"version": "`+version+`"`), 1)
}

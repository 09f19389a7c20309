// Package apidoc builds the published description of the HTTP interface (OpenAPI 3.1). It
// takes the description that the administration derives from its Go types and adds the
// parts that types cannot state: the model routes (models.yaml), what each operation does
// (operations.yaml), named error responses (errors.yaml), and examples, which come from
// the recorded API transcripts. Start reading at Build.
//
// The package runs when the description is generated, not when the gateway serves it: the
// result is in the folder api.
package apidoc

// Package provider describes the upstream model providers. A provider is data: one JSON file in
// specs contains its address, its authentication, the endpoints it serves with their paths, and
// the changes that bodies and responses need. From such a Spec and a caller's credentials,
// Spec.Plan builds one upstream call: host, request target, headers and how to sign it.
//
// Nothing here sends anything. Package sign adds the credential to a planned call, package
// transport sends it.
package provider

//go:generate go test -run ^(TestPlansGolden|TestManual_ListsEveryProvider)$ -update

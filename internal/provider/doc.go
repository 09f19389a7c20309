// Package provider knows the upstream model providers. A provider is data: one
// JSON file in specs says where it lives, how a caller proves itself, which
// endpoints it serves under which paths, and what must change in bodies and
// answers. From such a Spec and a caller's credentials, Plan works out one
// upstream call: host, request target, headers and how it is signed.
//
// Nothing here sends anything. Package sign adds the credential to a planned
// call, package transport sends it.
package provider

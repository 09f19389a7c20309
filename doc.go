// Package sluice is the root of the module. It holds no code: its tests are the
// rules that the whole repository keeps, such as which package may import which
// (arch_test.go). The program is cmd/sluice; ARCHITECTURE.md is the map.
package sluice

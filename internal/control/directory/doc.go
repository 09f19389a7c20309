// Package directory finds the organisations, workspaces, users and members that records of other
// areas refer to.
package directory

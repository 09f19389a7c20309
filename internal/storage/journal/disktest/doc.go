// Package disktest gives tests a disk that is really full. It works only on
// Linux. Start with Small, which mounts a small file system, and Fill.
package disktest

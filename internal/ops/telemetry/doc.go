// Package telemetry sets up the log and the metrics that the program writes for its
// operator. It has no global state: main creates the logger (NewLogger) and the Registry
// (NewRegistry) once and passes them on.
package telemetry

// Package telemetry sets up what the program tells its operator: the log and the
// metrics. It holds no state of its own; the logger and the Registry are made once
// by main and handed to whoever needs them.
package telemetry

package config

import (
	"fmt"
	"time"

	"sluice/internal/kernel/sealed"
)

// Logs sets what is stored about each request, and for how long.
type Logs struct {
	// BodyMaxKB is how much of a request body and of a response body is stored, in KiB
	// each. Longer bodies are truncated and marked. With 0 no bodies are stored. The
	// maximum is 1/64 of `JOURNAL_MAX_MB`, because every body passes through the journal.
	BodyMaxKB int `env:"LOG_BODY_MAX_KB" envDefault:"256" range:"0..16384"`

	// RetentionDays is the number of days after which bodies are deleted. Organisations and
	// workspaces can set shorter times for this setting, `LOG_ROWS_RETENTION_DAYS` and
	// `METRICS_RETENTION_DAYS` (`log_retention`).
	RetentionDays int `env:"LOG_RETENTION_DAYS" envDefault:"90" range:"1..3650"`

	// RowsRetentionDays is the number of days after which entries are removed from the log.
	// The details of the call (metadata, address, error, path) are deleted, and its
	// statistics remain. 0 means the value of `METRICS_RETENTION_DAYS`.
	RowsRetentionDays int `env:"LOG_ROWS_RETENTION_DAYS" envDefault:"0" range:"0..3650"`

	// MetricsRetentionDays is the number of days after which the records themselves
	// (status, tokens, cost, timings) are deleted.
	MetricsRetentionDays int `env:"METRICS_RETENTION_DAYS" envDefault:"365" range:"1..3650"`

	// RetentionDisplay is the retention of bodies that users see, in days.
	RetentionDisplay int `env:"LOG_RETENTION_DISPLAY" envDefault:"90" range:"1..3650"`

	// MetricsRetentionDisplay is the retention of records that users see, in days.
	MetricsRetentionDisplay int `env:"METRICS_RETENTION_DISPLAY" envDefault:"365" range:"1..3650"`

	// ExportRetentionDays is the number of days after which the file of a log export is
	// deleted.
	ExportRetentionDays int `env:"LOG_EXPORT_RETENTION_DAYS" envDefault:"7" range:"1..365"`

	// ExportMaxMB is the maximum size of all log export files on this node together, in
	// MiB. An export that would exceed it fails, and its error states the reason.
	ExportMaxMB int `env:"LOG_EXPORT_MAX_MB" envDefault:"10240" range:"1..1048576"`

	// DiskReserveMB is the disk space, in MiB, that the request log leaves free on the disk
	// of `DATA_DIR`. With less free space the log writes nothing, and records wait in the
	// journal.
	DiskReserveMB int `env:"LOG_DISK_RESERVE_MB" envDefault:"256" range:"64..1048576"`

	// JournalMaxMB is the maximum size of the journal, in MiB. The journal grows while its
	// entries cannot be written to the request log or to the totals of spend. At the
	// maximum, calls are rejected.
	JournalMaxMB int `env:"JOURNAL_MAX_MB" envDefault:"16384" range:"256..1048576"`

	// JournalSync is how often the journal is forced to disk. A crash of the program loses
	// nothing. A power failure loses at most the entries of one interval.
	JournalSync time.Duration `env:"JOURNAL_SYNC_INTERVAL" envDefault:"1000" range:"10..60000"`
}

// journalBodies is how many of the longest bodies the journal has room for at least: a record
// has up to five, and of a journal of few files the one being written is much.
const journalBodies = 64

func (l Logs) validate(report reporter) {
	if l.BodyMaxKB*journalBodies > l.JournalMaxMB<<10 {
		report("LOG_BODY_MAX_KB", fmt.Sprintf("exceeds what a journal of JOURNAL_MAX_MB %d can store", l.JournalMaxMB),
			fmt.Sprintf("at most %d, or a JOURNAL_MAX_MB of at least %d", l.JournalMaxMB<<10/journalBodies, l.BodyMaxKB*journalBodies>>10))
	}
}

// BodyMaxBytes is how much of each body is kept, in bytes.
func (l Logs) BodyMaxBytes() int { return l.BodyMaxKB << 10 }

// Telemetry configures the gateway's own log and metrics.
type Telemetry struct {
	// Level is the lowest severity that is logged.
	Level string `env:"LOG_LEVEL" envDefault:"info" oneof:"debug,info,warn,error"`

	// Format is the format of log lines on standard error. `auto` writes text to a
	// terminal, and JSON with one object a line everywhere else.
	Format string `env:"LOG_FORMAT" envDefault:"auto" oneof:"auto,text,json"`

	// AccessLog logs one line for each request, at level info. Lines that the output does
	// not accept in time are dropped and counted in `sluice_access_log_dropped_total`.
	AccessLog bool `env:"ACCESS_LOG" envDefault:"ON"`

	// Prometheus enables `GET /metrics`.
	Prometheus bool `env:"ENABLE_PROMETHEUS" envDefault:"ON"`

	// MetricsToken is the bearer token that `GET /metrics` requires. If it is empty, every
	// client that can reach the gateway can read the metrics.
	MetricsToken sealed.String `env:"METRICS_TOKEN" check:"gateway-key"`
}

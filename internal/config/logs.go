package config

import (
	"fmt"
	"time"

	"sluice/internal/sealed"
)

// Logs says what is kept about each request, and for how long.
type Logs struct {
	// BodyMaxKB is how much of a request body and of a response body is kept, in KiB
	// each. What is longer is cut and marked. 0 keeps none. It is at most 1/64 of
	// `JOURNAL_MAX_MB`: every body goes through the journal.
	BodyMaxKB int `env:"LOG_BODY_MAX_KB" envDefault:"256" range:"0..16384"`

	// RetentionDays is after how many days bodies are deleted. Organisations and
	// workspaces may set less than this, and than the two below (`log_retention`).
	RetentionDays int `env:"LOG_RETENTION_DAYS" envDefault:"90" range:"1..3650"`

	// RowsRetentionDays is after how many days entries leave the log: what they say of the
	// call alone (metadata, address, error, path) is deleted, and figures stay. 0 means as
	// long as `METRICS_RETENTION_DAYS`.
	RowsRetentionDays int `env:"LOG_ROWS_RETENTION_DAYS" envDefault:"0" range:"0..3650"`

	// MetricsRetentionDays is after how many days the records themselves (status,
	// tokens, cost, timings) are deleted.
	MetricsRetentionDays int `env:"METRICS_RETENTION_DAYS" envDefault:"365" range:"1..3650"`

	// RetentionDisplay is the retention of bodies, in days, that users are shown.
	RetentionDisplay int `env:"LOG_RETENTION_DISPLAY" envDefault:"90" range:"1..3650"`

	// MetricsRetentionDisplay is the retention of records, in days, that users are
	// shown.
	MetricsRetentionDisplay int `env:"METRICS_RETENTION_DISPLAY" envDefault:"365" range:"1..3650"`

	// ExportRetentionDays is after how many days the file of a log export is deleted.
	ExportRetentionDays int `env:"LOG_EXPORT_RETENTION_DAYS" envDefault:"7" range:"1..365"`

	// ExportMaxMB bounds the files of log exports on this node, all together, in MiB. An
	// export that would pass it fails and says so.
	ExportMaxMB int `env:"LOG_EXPORT_MAX_MB" envDefault:"10240" range:"1..1048576"`

	// DiskReserveMB is how much room, in MiB, the request log leaves free on the disk of
	// `DATA_DIR`: with less it writes nothing, and records wait in the journal.
	DiskReserveMB int `env:"LOG_DISK_RESERVE_MB" envDefault:"256" range:"64..1048576"`

	// JournalMaxMB is how large the journal may grow, in MiB, while what follows it (the
	// request log, the sums of spend) cannot be written. Then calls are refused.
	JournalMaxMB int `env:"JOURNAL_MAX_MB" envDefault:"16384" range:"256..1048576"`

	// JournalSync is how often the journal is forced to disk. A crash of the program
	// loses nothing; a power cut loses at most this much.
	JournalSync time.Duration `env:"JOURNAL_SYNC_INTERVAL" envDefault:"1000" range:"10..60000"`
}

// journalBodies is how many of the longest bodies the journal has room for at least: a record
// has up to five, and of a journal of few files the one being written is much.
const journalBodies = 64

func (l Logs) validate(report reporter) {
	if l.BodyMaxKB*journalBodies > l.JournalMaxMB<<10 {
		report("LOG_BODY_MAX_KB", fmt.Sprintf("is more than a journal of JOURNAL_MAX_MB %d has room for", l.JournalMaxMB),
			fmt.Sprintf("at most %d, or a JOURNAL_MAX_MB of at least %d", l.JournalMaxMB<<10/journalBodies, l.BodyMaxKB*journalBodies>>10))
	}
}

// BodyMaxBytes is how much of each body is kept, in bytes.
func (l Logs) BodyMaxBytes() int { return l.BodyMaxKB << 10 }

// Telemetry is about the program's own log and metrics.
type Telemetry struct {
	// Level is the least severe line that is written.
	Level string `env:"LOG_LEVEL" envDefault:"info" oneof:"debug,info,warn,error"`

	// Format is the format of log lines on standard error. With `auto` they are text on a
	// terminal and JSON, one object a line, everywhere else.
	Format string `env:"LOG_FORMAT" envDefault:"auto" oneof:"auto,text,json"`

	// AccessLog writes a line for each request, at level info. Lines that the output does
	// not accept in time are dropped and counted in sluice_access_log_dropped_total.
	AccessLog bool `env:"ACCESS_LOG" envDefault:"ON"`

	// Prometheus serves `GET /metrics`.
	Prometheus bool `env:"ENABLE_PROMETHEUS" envDefault:"ON"`

	// MetricsToken is the bearer token that `GET /metrics` asks for. Without one it answers
	// whoever can reach the gateway.
	MetricsToken sealed.String `env:"METRICS_TOKEN" check:"gateway-key"`
}

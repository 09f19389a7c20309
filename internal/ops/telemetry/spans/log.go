package spans

import (
	"cmp"
	"fmt"
	"math"
	"time"

	collectlogs "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	logs "go.opentelemetry.io/proto/slim/otlp/logs/v1"

	"sluice/internal/kernel/fault"
)

// logs creates a record for each log record. Its parent is the span that it names. Its token
// counts are in that span already and are not counted again.
func (v *Receiver) logs(l *collectlogs.ExportLogsServiceRequest, m *message, source *origin) ([]entry, error) {
	var out []entry
	for i, rl := range l.GetResourceLogs() {
		about, err := readResource(rl.GetResource(), fmt.Sprintf("resource_logs[%d].resource", i))
		if err != nil {
			return nil, err
		}
		for j, sl := range rl.GetScopeLogs() {
			for k, r := range sl.GetLogRecords() {
				path := fmt.Sprintf("resource_logs[%d].scope_logs[%d].log_records[%d]", i, j, k)
				if len(out) == maxItems {
					return nil, tooMany(path)
				}
				e, err := v.log(r, about, m, source, path)
				if err != nil {
					return nil, err
				}
				out = append(out, e)
			}
		}
	}
	return out, nil
}

func (v *Receiver) log(r *logs.LogRecord, about values, m *message, source *origin, path string) (e entry, err error) {
	with, err := readValues(r.GetAttributes(), path+".attributes")
	if err != nil {
		return e, err
	}
	body, ok := plain(r.GetBody())
	if !ok || len(r.GetEventName()) > maxName || len(r.GetSeverityText()) > maxName {
		return e, fault.Newf(fault.InvalidParameter, "strings must not exceed %d bytes, names %d", maxText, maxName).WithParam(path)
	}
	a := source.record(about, with)
	a.TraceID = a.ID // an invalid id counts as absent, as OTLP defines
	if trace, ok := m.id(r.GetTraceId(), 16); ok && trace != "" {
		a.TraceID = trace
	}
	if span, ok := m.id(r.GetSpanId(), 8); ok {
		a.ParentSpan = span
	}
	when := cmp.Or(r.GetTimeUnixNano(), r.GetObservedTimeUnixNano(), uint64(source.now.UnixNano()))
	if when > math.MaxInt64 || when > uint64(source.now.Add(maxFuture).UnixNano()) {
		return e, fault.New(fault.InvalidParameter, "the time of a log record must not be more than a day ahead, in nanoseconds since 1970").WithParam(path + ".time_unix_nano")
	}
	a.Started = time.Unix(0, int64(when)).UTC()
	a.SpanName = cmp.Or(r.GetEventName(), r.GetSeverityText(), "log")
	return entry{a, map[string]any{
		"name": a.SpanName, "severity": r.GetSeverityText(), "severity_number": int32(r.GetSeverityNumber()), "body": body, "attributes": with, "resource": about,
	}}, nil
}

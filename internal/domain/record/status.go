package record

import (
	"strconv"
	"strings"

	"sluice/internal/kernel/fault"
)

// StatusRange selects response statuses, both ends included: {400, 499}.
type StatusRange struct{ Min, Max int32 }

// ParseStatuses reads a comma list of statuses, classes and ranges, for example
// "200,4xx,500-503". An empty text does not filter. It rejects anything else with
// fault.InvalidParameter.
// Source: contract/content-and-observability.yaml, AnalyticsFilters.status_code;
// classes and ranges are ours.
func ParseStatuses(s string) ([]StatusRange, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var out []StatusRange
	for part := range strings.SplitSeq(s, ",") {
		r, ok := parseStatus(strings.TrimSpace(part))
		if !ok {
			return nil, fault.New(fault.InvalidParameter, "must be a comma-separated list such as 200,4xx,500-503").WithParam("status_code")
		}
		out = append(out, r)
	}
	return out, nil
}

func parseStatus(s string) (StatusRange, bool) {
	if len(s) == 3 && strings.EqualFold(s[1:], "xx") && s[0] >= '1' && s[0] <= '5' {
		low := int32(s[0]-'0') * 100
		return StatusRange{low, low + 99}, true
	}
	from, to, found := strings.Cut(s, "-")
	if !found {
		to = from
	}
	low, err1 := strconv.ParseInt(from, 10, 32)
	high, err2 := strconv.ParseInt(to, 10, 32)
	ok := err1 == nil && err2 == nil && low >= 0 && low <= high && high <= 999
	return StatusRange{int32(low), int32(high)}, ok
}

package record_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

func TestCursorComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(-1<<50, 1<<50).Draw(t, "micros")
		id := rapid.StringN(1, 40, 200).Draw(t, "id")
		started, gotID, err := record.CursorAt(time.UnixMicro(micros), id).Split()
		if err != nil || started.UnixMicro() != micros || gotID != id {
			t.Fatalf("got %d %q %v, want %d %q", started.UnixMicro(), gotID, err, micros, id)
		}
	})
}

func TestForeignCursorIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []record.Cursor{"", "abc", "!!!", "AAAAAAAAAAA", record.Cursor(strings.Repeat("A", 4096))} {
		if _, _, err := c.Split(); !fault.Has(err, fault.InvalidParameter) {
			t.Errorf("%.20q: got %v, want invalid_parameter", c, err)
		}
	}
}

func TestParseStatuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		input string
		want  []record.StatusRange
		bad   bool
	}{
		{input: ""},
		{input: "  "},
		{input: "200", want: []record.StatusRange{{200, 200}}},
		{input: "4xx, 5XX", want: []record.StatusRange{{400, 499}, {500, 599}}},
		{input: "200,500-503,0", want: []record.StatusRange{{200, 200}, {500, 503}, {0, 0}}},
		{input: "503-500", bad: true},
		{input: "200,", bad: true},
		{input: "6xx", bad: true},
		{input: "-5", bad: true},
		{input: "1000", bad: true},
		{input: "200 OR 1=1", bad: true},
	}
	for _, tt := range tests {
		got, err := record.ParseStatuses(tt.input)
		if fault.Has(err, fault.InvalidParameter) != tt.bad || !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %v, %v", tt.input, got, err)
		}
	}
}

func TestPageSize(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int{-1: 50, 0: 50, 1: 1, 1000: 1000, 5000: 1000} {
		if got := (record.Query{Limit: limit}).PageSize(); got != want {
			t.Errorf("limit %d: page of %d, want %d", limit, got, want)
		}
	}
}

package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Limits of a response.
const (
	maxResponseBytes = 256 << 20
	maxLine          = 64 << 20
)

// readRows calls row for each line of a response. A line that is not a row is an error: the
// server writes late errors after the rows.
func readRows(body io.Reader, row func(scan func(...any) error) error) error {
	bounded := &io.LimitedReader{R: body, N: maxResponseBytes + 1}
	lines := bufio.NewScanner(bounded)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) == 0 || line[0] != '[' {
			return lateException(line, lines)
		}
		if err := row(func(dest ...any) error { return scan(line, dest) }); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return fmt.Errorf("read ClickHouse response: a row exceeds %d MiB", maxLine>>20)
		}
		return fmt.Errorf("read ClickHouse response: %w: %w", ErrUnreachable, err)
	}
	if bounded.N <= 0 {
		return fmt.Errorf("read ClickHouse response: its size exceeds %d MiB", maxResponseBytes>>20)
	}
	return nil
}

// scan reads a row into pointers.
func scan(line []byte, dest []any) error {
	columns := len(dest)
	if err := json.Unmarshal(line, &dest); err != nil {
		return fmt.Errorf("read ClickHouse row: %w", err)
	}
	if len(dest) != columns {
		return fmt.Errorf("read ClickHouse row: it has %d columns, expected %d", len(dest), columns)
	}
	return nil
}

// lateException returns the error of a response that contains something other than rows.
func lateException(line []byte, rest *bufio.Scanner) error {
	text := append([]byte(nil), line...)
	for len(text) < maxRefusal && rest.Scan() {
		text = append(append(text, '\n'), rest.Bytes()...)
	}
	if e := exceptionIn(text); e != nil {
		return e
	}
	return errors.New("read ClickHouse response: unexpected data instead of rows: " + brief(text))
}

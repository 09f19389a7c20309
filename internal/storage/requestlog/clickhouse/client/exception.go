package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// Exception is an error that the server reports.
type Exception struct {
	Code int    // in the server's numbering: 60 for a missing table
	Text string // from the server, cut to a line of at most 300 bytes
}

// Error returns the text with the code.
func (e *Exception) Error() string {
	return fmt.Sprintf("ClickHouse error: %s (code %d)", e.Text, e.Code)
}

// Codes of exceptions that the callers handle.
// Source: ClickHouse, src/Common/ErrorCodes.cpp.
const (
	UnknownTable    = 60
	UnknownDatabase = 81
	TimedOut        = 159
	MemoryLimit     = 241
	TooManyParts    = 252
	NotEnoughSpace  = 243
	AccessDenied    = 497
	NoAuthorisation = 516
	UnknownSetting  = 115
)

// Is reports whether an error is an Exception with one of the codes.
func Is(err error, codes ...int) bool {
	var e *Exception
	if !errors.As(err, &e) {
		return false
	}
	for _, code := range codes {
		if e.Code == code {
			return true
		}
	}
	return false
}

// maxRefusal limits what is read of an error response, maxText what is used of its text.
const (
	maxRefusal = 16 << 10
	maxText    = 300
)

var exceptionText = regexp.MustCompile(`(?s)Code: (\d{1,6})\. DB::Exception: (.*)`)

// refusalOf returns the error of a response whose status is not 200.
func refusalOf(resp *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil {
		return fmt.Errorf("query ClickHouse: %w: %w", ErrUnreachable, err)
	}
	if e := exceptionIn(text); e != nil {
		return e
	}
	if code, err := strconv.Atoi(resp.Header.Get("X-ClickHouse-Exception-Code")); err == nil {
		return &Exception{Code: code, Text: brief(text)}
	}
	err = fmt.Errorf("query ClickHouse: status %s: %s", resp.Status, brief(text))
	if resp.StatusCode >= http.StatusInternalServerError { // a proxy whose server does not respond
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return err
}

// exceptionIn finds an exception in a response; nil if there is none.
func exceptionIn(text []byte) *Exception {
	found := exceptionText.FindSubmatch(text)
	if found == nil {
		return nil
	}
	code, _ := strconv.Atoi(string(found[1])) // only a few digits
	return &Exception{Code: code, Text: brief(found[2])}
}

// brief returns the first line, truncated.
func brief(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	if len(line) > maxText {
		line = line[:maxText]
	}
	return strings.ToValidUTF8(string(line), "\uFFFD")
}

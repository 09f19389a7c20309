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

// Exception is what the server says went wrong.
type Exception struct {
	Code int    // as the server numbers them: 60 for a table that is not there
	Text string // of the server, cut to a line of at most 300 bytes
}

// Error is the text with the code.
func (e *Exception) Error() string {
	return fmt.Sprintf("ClickHouse error: %s (code %d)", e.Text, e.Code)
}

// Codes of exceptions that mean something to us.
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

// maxRefusal bounds what is read of a refusal, maxText what is kept of its text.
const (
	maxRefusal = 16 << 10
	maxText    = 300
)

var exceptionText = regexp.MustCompile(`(?s)Code: (\d{1,6})\. DB::Exception: (.*)`)

// refusalOf is the error of an answer whose status is not 200.
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
	if resp.StatusCode >= http.StatusInternalServerError { // a proxy without a server behind it
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return err
}

// exceptionIn finds an exception in what the server wrote; nil when there is none.
func exceptionIn(text []byte) *Exception {
	found := exceptionText.FindSubmatch(text)
	if found == nil {
		return nil
	}
	code, _ := strconv.Atoi(string(found[1])) // digits, and few
	return &Exception{Code: code, Text: brief(found[2])}
}

// brief is the first line, cut.
func brief(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	if len(line) > maxText {
		line = line[:maxText]
	}
	return strings.ToValidUTF8(string(line), "\uFFFD")
}

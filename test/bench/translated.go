package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/test/bench/load"
	"sluice/test/bench/report"
)

// startTranslated starts Sluice once for all its rows, so that they differ in
// nothing but the provider.
func (f *field) startTranslated(ctx context.Context, path, dir string, s *scenario) error {
	if err := f.startSluice(ctx, path, dir, report.Sluice); err != nil {
		return err
	}
	gate := f.contenders[0].gate
	f.contenders = append(f.contenders,
		through(gate, report.ToAnthropic, gate.Anthropic),
		through(gate, report.ToBedrock, gate.Bedrock))
	if s.job.Body == 0 {
		return nil
	}
	for _, c := range f.contenders {
		if err := f.learn(ctx, c, s.call); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// learn asks c once and waits until that is counted, so that the first round does
// not count it.
func (f *field) learn(ctx context.Context, c *contender, q call) error {
	before, err := f.counts(ctx, c)
	if err != nil {
		return err
	}
	if err := c.learn(ctx, q); err != nil {
		return err
	}
	problems, _, err := f.verify(ctx, c, &load.Result{Sent: 1}, before)
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "; "))
	}
	return err
}

// learn asks once, and when the answer says what the upstream says takes its length
// as that of all: a translated answer has another than the provider's.
func (c *contender) learn(ctx context.Context, q call) error {
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(q.wire(c.addr, c.lines...))))
	if err != nil {
		return err
	}
	req.RequestURI, req.URL.Scheme, req.URL.Host = "", "http", c.addr
	resp, err := http.DefaultClient.Do(req.WithContext(ctx))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	text, tokens := gjson.GetBytes(body, "choices.0.message.content").Str, gjson.GetBytes(body, "usage.total_tokens").Int()
	if resp.StatusCode != http.StatusOK || text == "" || tokens != 220 {
		return fmt.Errorf("%s: no answer of the upstream's: %.300s", resp.Status, body)
	}
	c.body = len(body)
	return nil
}

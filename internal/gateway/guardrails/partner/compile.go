package partner

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/kernel/wire"
)

// defaultTimeout is the time for one call without the parameter timeout.
// Source: the product specification, partner guardrails.
const defaultTimeout = 10 * time.Second

// verdicts are the values of on_error.
var verdicts = map[string]bool{"": true, "open": true, "closed": true}

// modes are the values of send.
var modes = map[sendMode]bool{sendJoined: true, sendEach: true, sendBatch: true, sendMessages: true, sendBody: true}

// maxTimeout is the limit of the parameter timeout.
const maxTimeout = 5 * time.Minute

// compiledSpec is a spec that can run. It is immutable.
type compiledSpec struct {
	*spec
	params  []param.Param
	request compiledRequest
	chat    *compiledRequest // for the requests of chat completions; nil for none
	data    path
	timeout time.Duration
}

// compiledRequest builds requests.
type compiledRequest struct {
	send    sendMode
	address *address
	header  []headerPattern
	body    template
}

type headerPattern struct {
	name  string
	value pattern
}

// compile validates a spec. The error names the member.
func (s *spec) compile() (*compiledSpec, error) {
	c := &compiledSpec{spec: s, timeout: defaultTimeout}
	if d := time.Duration(s.TimeoutMS) * time.Millisecond; d > c.timeout {
		c.timeout = d
	}
	var err error
	if err = s.checkShape(); err != nil {
		return nil, err
	}
	if c.params, err = s.params(); err != nil {
		return nil, err
	}
	if c.data, err = parsePath(s.Data); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if c.request, err = s.compileRequest(&s.Request, s.Send); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	if s.Chat != nil {
		r := s.Request
		r.URL, r.Body = s.Chat.URL, s.Chat.Body
		chat, err := s.compileRequest(&r, s.Chat.Send)
		if err != nil {
			return nil, fmt.Errorf("chat: %w", err)
		}
		c.chat = &chat
	}
	return c, s.compileResponse()
}

// checkShape checks the members that are constants.
func (s *spec) checkShape() error {
	if s.ID == "" || s.partner == "" || len(s.Phases) == 0 {
		return errors.New("partner, id and phases are required")
	}
	if i := slices.IndexFunc(s.Phases, isUnknownPhase); i >= 0 {
		return fmt.Errorf("unknown phase %q", s.Phases[i])
	}
	if !verdicts[s.OnError] || !verdicts[s.OnMissing] {
		return errors.New("on_error must be open, closed or absent")
	}
	if s.Hook != "" && hooks[s.Hook] == nil {
		return fmt.Errorf("unknown hook %q", s.Hook)
	}
	return s.checkVerdict()
}

func isUnknownPhase(p guardrail.Phase) bool { return p != guardrail.Input && p != guardrail.Output }

// checkVerdict checks that a response has a meaning.
func (s *spec) checkVerdict() error {
	if (s.Fails == nil) == (s.Inject == nil) {
		return errors.New("either fails or inject is required")
	}
	if len(s.Expect) == 0 {
		return errors.New("expect is required: a response of another form is an error")
	}
	if s.SendRedacting != "" && !modes[s.SendRedacting] {
		return errors.New("send_redacting must be joined, each, batch, messages or body")
	}
	if s.Redact != nil && s.Redact.Body == "" && !s.redactsTexts() {
		return errors.New("a check that redacts must send texts as each or batch")
	}
	return nil
}

// redactsTexts reports whether the texts go out so that offsets in the response lead back to them.
func (s *spec) redactsTexts() bool {
	mode := s.SendRedacting
	if mode == "" {
		mode = s.Send
	}
	return mode == sendEach || mode == sendBatch
}

// compileRequest compiles a request. Credentials may be in its header fields only.
func (s *spec) compileRequest(r *request, send sendMode) (c compiledRequest, err error) {
	c.send = send
	if r.Method == "" {
		return c, errors.New("method is required")
	}
	if !modes[send] {
		return c, errors.New("send must be joined, each, batch, messages or body")
	}
	if c.address, err = parseAddress(r); err != nil {
		return c, err
	}
	for _, n := range c.address.names() {
		if slices.ContainsFunc(n, s.isSecret) {
			return c, errors.New("url must not contain a credential")
		}
	}
	if bytes.Contains(r.Body, []byte("credentials.")) {
		return c, errors.New("body must not contain a credential")
	}
	for _, name := range names(r.Header) {
		p, err := parsePattern(r.Header[name])
		if err != nil {
			return c, err
		}
		if !wire.ValidName(name) {
			return c, fmt.Errorf("header %q is not a field name", name)
		}
		c.header = append(c.header, headerPattern{name, p})
	}
	c.body, err = parseTemplate(r.Body)
	return c, err
}

// isSecret reports whether a name is that of a secret.
func (s *spec) isSecret(parts []string) bool {
	if parts[0] != "credentials" {
		return false
	}
	list := s.Credentials
	for i, part := range parts[1:] {
		field, ok := list[part]
		if !ok {
			return false
		}
		if i == len(parts)-2 {
			return field.Secret
		}
		list = field.Fields
	}
	return false
}

func (s *spec) compileResponse() error {
	for i := range s.Expect {
		if err := s.Expect[i].compile(); err != nil {
			return fmt.Errorf("expect: %w", err)
		}
	}
	for name, r := range map[string]*rule{"fails": s.Fails, "errors": s.Errors} {
		if r == nil {
			continue
		}
		if err := r.compile(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if s.Redact != nil {
		if err := s.Redact.compile(); err != nil {
			return fmt.Errorf("redact: %w", err)
		}
	}
	if s.Inject != nil {
		if err := s.Inject.compile(); err != nil {
			return fmt.Errorf("inject: %w", err)
		}
	}
	return nil
}

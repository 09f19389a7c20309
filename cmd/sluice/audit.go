package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"sluice/internal/app"
)

type auditCommand struct {
	Verify    verifyAudit    `cmd:"" help:"Verify an export of the audit trail, offline."`
	Export    exportAudit    `cmd:"" help:"Export the audit trail with its checkpoints as JSON lines."`
	PublicKey auditPublicKey `cmd:"" name:"public-key" help:"Print the key that verifies the audit trail."`
}

type verifyAudit struct {
	File       string `arg:"" help:"Export file to verify; - reads standard input."`
	PublicKey  string `required:"" help:"Public key in base64, or a PEM file that contains it." placeholder:"KEY"`
	Checkpoint string `help:"Checkpoint published elsewhere, as JSON or as the path of a file that contains it; the export must match it." placeholder:"JSON"`
}

// Run prints what the export proves. It fails with the first problem that it finds.
func (v verifyAudit) Run() error {
	key, err := textOrFile(v.PublicKey)
	if err != nil {
		return fmt.Errorf("--public-key: %w", err)
	}
	published, err := textOrFile(v.Checkpoint)
	if err != nil {
		return fmt.Errorf("--checkpoint: %w", err)
	}
	input := io.Reader(os.Stdin)
	if v.File != "-" {
		f, err := os.Open(v.File)
		if err != nil {
			return err
		}
		defer f.Close()
		input = f
	}
	summary, err := app.VerifyAudit(input, key, strings.TrimSpace(published))
	if err != nil {
		return err
	}
	_, err = fmt.Print(summary)
	return err
}

// maxArgument is the largest file that an argument may stand for.
const maxArgument = 1 << 20

// textOrFile is the content of the file that an argument names, or the argument.
func textOrFile(arg string) (string, error) {
	f, err := os.Open(arg)
	if errors.Is(err, os.ErrNotExist) || arg == "" || strings.HasPrefix(arg, "{") {
		return arg, nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxArgument))
	return string(b), err
}

type exportAudit struct {
	Organisation string    `help:"Id or slug of the organisation; optional if only one exists." placeholder:"ORG"`
	From         time.Time `help:"Start of the time range, such as 2026-11-20T10:00:00Z." placeholder:"TIME"`
	To           time.Time `help:"End of the time range (exclusive)." placeholder:"TIME"`
	Out          string    `help:"File to write; the default is standard output." placeholder:"FILE"`
}

// Run writes the export.
func (e exportAudit) Run(ctx context.Context, s *settings) (err error) {
	l, log, err := s.load()
	if err != nil {
		return err
	}
	to := os.Stdout
	if e.Out != "" {
		if to, err = os.Create(e.Out); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, to.Close()) }()
	}
	w := bufio.NewWriter(to)
	if err := app.ExportAudit(ctx, l.Settings, log, app.AuditQuery{Organisation: e.Organisation, From: e.From, To: e.To}, w); err != nil {
		return err
	}
	return w.Flush()
}

type auditPublicKey struct{}

// Run prints the key.
func (auditPublicKey) Run(ctx context.Context, s *settings) error {
	l, log, err := s.load()
	if err != nil {
		return err
	}
	pem, err := app.AuditKey(ctx, l.Settings, log)
	if err != nil {
		return err
	}
	fmt.Print(pem)
	return nil
}

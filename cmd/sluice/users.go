package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"sluice/internal/app"
	"sluice/internal/kernel/sealed"
)

type usersCommand struct {
	List        listUsers   `cmd:"" help:"List the users who can sign in."`
	SetPassword setPassword `cmd:"" name:"set-password" help:"Set a user's password and end their sessions."`
}

type listUsers struct{}

// Run prints one line for each user.
func (listUsers) Run(ctx context.Context, s *settings) error {
	l, log, err := s.load()
	if err != nil {
		return err
	}
	users, err := app.Users(ctx, l.Settings, log)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tEMAIL\tROLE\tPASSWORD")
	for _, u := range users {
		has := "none"
		if u.Password {
			has = "set"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", u.ID, u.Email, u.Role, has)
	}
	return w.Flush()
}

type setPassword struct {
	User  string `arg:"" help:"E-mail address or id of the user."`
	Stdin bool   `help:"Read the password from standard input instead of generating and printing one."`
}

// Run sets the password.
func (c setPassword) Run(ctx context.Context, s *settings) error {
	l, log, err := s.load()
	if err != nil {
		return err
	}
	var input sealed.String
	if c.Stdin {
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err != nil && line == "" {
			return fmt.Errorf("read password: %w", err)
		}
		input = sealed.New(strings.TrimRight(line, "\r\n"))
	}
	password, err := app.SetPassword(ctx, l.Settings, log, c.User, input, founded(s, l, false))
	if err == nil && !c.Stdin {
		fmt.Println(password.Reveal())
	}
	return err
}

package ofx

import (
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/text"
)

// A census counts what a file contains besides rows.
type census struct {
	statements int
	fault      status // the bank's status, if it is an error
	ended      bool   // the end of the file is not missing
	missing    int    // rows without an id
	repeated   bool   // too many rows have the same id
	day        string
	onDay      map[string]int // for each id, how many rows of that day have it
}

// A status is the bank's status of a request.
type status struct{ code, severity, message string }

func (s status) isError() bool {
	return strings.EqualFold(s.severity, "ERROR") && s.code != "" && strings.Trim(s.code, "0") != ""
}

// usual is how many rows of a day may have the same id: some banks give a charge and its fee one
// id.
const usual = 2

// id counts the id of a row. Only one day is kept, so that memory does not grow with the file. That
// is enough, because repeated ids are usually derived from the day.
func (c *census) id(account text.Untrusted, day, id string) {
	if id == "" {
		c.missing++
		return
	}
	if c.day != day || len(c.onDay) > 10_000 {
		c.day, c.onDay = day, map[string]int{}
	}
	key := account.Plain() + "\x00" + id
	c.onDay[key]++
	c.repeated = c.repeated || c.onDay[key] > usual
}

// refusal returns an error if the file has no statement.
func (c *census) refusal() error {
	switch {
	case c.statements > 0:
		return nil
	case c.fault.isError():
		message := ""
		if c.fault.message != "" {
			message = " (" + text.Line(c.fault.message, 120).Plain() + ")"
		}
		return errs.New(errs.InvalidBody, "the file has the bank's error %s%s and no statement; download it again",
			text.Line(c.fault.code, 20).Plain(), message)
	}
	return errs.New(errs.InvalidBody, "the file has no statement; download it again")
}

func (c *census) warnings() (w []statement.Warning) {
	if !c.ended {
		w = append(w, statement.Warning{
			Code: "no_end", Message: "the file has no end; if its download broke off, rows are missing",
		})
	}
	if c.repeated {
		w = append(w, statement.Warning{
			Code:    "repeated_ids",
			Message: "the bank gives one id to several rows, so the day, the amount and the order count too",
		})
	}
	if c.missing > 0 {
		w = append(w, statement.Warning{
			Code:    "missing_ids",
			Message: "some rows have no id; they are recognized by day, amount and text",
		})
	}
	return w
}

package workflow

import (
	"encoding/json"

	"coffer/internal/agents/eval"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// The states of a run.
const (
	Queued       = "queued"
	Running      = "running"
	Succeeded    = "succeeded"
	Failed       = "failed"
	Cancelled    = "cancelled"
	LimitReached = "limit_reached"
)

// The triggers of a run.
const (
	Manual    = "manual"
	Schedule  = "schedule"
	AfterSync = "after_sync"
	Eval      = "eval"
)

// The author of a run's report.
const (
	ReportNone    = "none"
	ReportMessage = "message" // the model's last message
	ReportServer  = "server"  // coffer, from the recorded results
)

// The states of a plan.
const (
	PlanNone    = "none"
	PlanWaiting = "waiting"
	PlanApplied = "applied"
	PlanDropped = "dropped"
)

// The modes of a run: whether it writes, or only plans.
const (
	Doing    = "doing"
	Planning = "planning"
)

// The limits that end a run, or make it plan instead of write.
const (
	LimitTurns    = "max_turns"
	LimitCost     = "max_cost_usd"
	LimitCeiling  = "monthly_ceiling_usd"
	LimitMinutes  = "max_minutes"
	LimitWrites   = "max_writes"
	LimitDay      = "writes_per_day"
	LimitContext  = "context"
	LimitLines    = "transcript"
	LimitRepeated = "repeats"
)

// A Definition is the workflow at the time when the run was queued, with its blocks and its model.
// It is stored with the run, so editing the workflow affects only later runs.
type Definition struct {
	Slug          string       `json:"slug"`
	Name          string       `json:"name"`
	Version       int64        `json:"version"`
	System        string       `json:"system"` // the blocks, in order
	Prompt        string       `json:"prompt"`
	Provider      string       `json:"provider"`
	Model         string       `json:"model"`
	Tools         []string     `json:"tools"`
	Scope         string       `json:"scope"`
	MaxTurns      int          `json:"max_turns"`
	MaxCostMicros *int64       `json:"max_cost_micros,omitempty"`
	MaxWrites     *int         `json:"max_writes,omitempty"`
	MaxMinutes    int          `json:"max_minutes"`
	DryRun        bool         `json:"dry_run"`
	MakesRules    bool         `json:"makes_rules"`
	Worklist      *Worklist    `json:"worklist,omitempty"`
	Report        string       `json:"report"`
	Eval          *eval.Asking `json:"eval,omitempty"`      // only for an eval
	PerSheet      int          `json:"per_sheet,omitempty"` // only for an eval: answers per sheet
}

// A Worklist makes a workflow work through transactions, a sheet at a time.
type Worklist struct {
	Filter ledger.Filter `json:"filter" doc:"The filters of GET /transactions"`
	Size   int           `json:"size,omitempty" minimum:"1" maximum:"50" default:"25" doc:"Rows per sheet, which the model decides in one response"`
	Sets   []string      `json:"sets" minItems:"1" maxItems:"4" enum:"category,tags,comment,counterparty" doc:"What it decides for each row"`
	By     string        `json:"by,omitempty" enum:"transaction,payee" default:"transaction" doc:"What a row is; payee: the newest matching transactions of a payee, up to 50"`
}

// A Line is one entry of a run's transcript.
type Line struct {
	Seq  int             `db:"seq"`
	At   pg.Time         `db:"at"`
	Kind string          `db:"kind"`
	Body json.RawMessage `db:"body"`
}

// The kinds of lines.
const (
	LineDefinition = "definition" // the definition of the run, with its hash
	LineSystem     = "system"
	LineUser       = "user"
	LineAssistant  = "assistant" // text, calls, stop, model, raw: the message in the form in which it must be sent back
	LineCall       = "tool_call"
	LineResult     = "tool_result"
	LineUsage      = "usage"
	LineLimit      = "limit"
	LineNote       = "note"
	LineWork       = "worklist" // the transactions that the run decides, by row
	LineDecided    = "decided"  // results of rows of a sheet
	LineEnd        = "end"
)

// runArgs are the arguments of a run's job.
type runArgs struct {
	Run id.ID `json:"run"`
}

// RunKind is the job of a run.
const RunKind = "workflow.run"

package run

import (
	"slices"
	"strings"

	"coffer/internal/agents/workflow"
	"coffer/internal/platform/op"
)

// A route is how a call is handled.
type route string

// The routes.
const (
	done    route = "done"
	planned route = "planned" // rehearsed, and stored for a person
	refused route = "refused"
)

// alwaysPlanned are arguments that need a person's approval in any call, at any depth. They
// overrule a person, apply a rule to stored transactions, or set an address that a browser would
// open.
var alwaysPlanned = []string{"force", "overwrite_manual", "apply_retroactively", "website_url", "logo_url"}

// A verdict is the gate's decision about a call.
type verdict struct {
	route route
	why   string
	reach op.Reach
}

// A posture is the part of a run's state that the gate needs.
type posture struct {
	planning   bool // in a dry run, or after a limit on writes was reached
	makesRules bool
	reported   bool // the run has stored its report
}

func (r *run) posture() posture {
	return posture{
		planning: r.def.DryRun || r.live.Mode == workflow.Planning, makesRules: r.def.MakesRules,
		reported: r.live.ReportID != nil,
	}
}

// gate decides how a call is handled. It uses only the tool and its arguments, and does not rely on
// the model. The limits on writes and new records are checked in the database when the call is
// made.
func gate(o *op.Op, args map[string]any, p posture) verdict {
	if !o.Writes {
		return verdict{route: done}
	}
	t := o.Runs
	v := verdict{route: planned, reach: t.Reach}
	switch {
	case t.Reach == op.ReachNever:
		return verdict{refused, t.Instead, op.ReachNever}
	case t.Reach == op.ReachReport && p.reported:
		return verdict{refused, "this run has already submitted its report", op.ReachReport}
	case t.Reach == op.ReachReport:
		v.route = done
		return v
	case rehearsesItself(o, args):
		return verdict{route: done, reach: op.ReachBeyond}
	case p.planning:
		v.why = "this run plans what it would change"
	case o.Destructive:
		v.why = "it removes or merges something"
	case t.Reach == op.ReachBeyond:
		v.why = "it may affect transactions it doesn't name"
	case t.Reach == op.ReachRules && !p.makesRules:
		v.why = "it creates or changes a rule"
	default:
		if arg := planning(args, append(slices.Clone(alwaysPlanned), t.Plans...)); arg != "" {
			v.why = "it has the argument " + arg
			return v
		}
		v.route = done
	}
	return v
}

// Route returns how a call is handled in a run of a definition, before the run has reached a limit:
// done, planned or refused.
func Route(o *op.Op, args map[string]any, d workflow.Definition) string {
	return string(gate(o, args, posture{planning: d.DryRun, makesRules: d.MakesRules}).route)
}

// rehearsesItself reports whether a call asks for a dry run, which writes nothing.
func rehearsesItself(o *op.Op, args map[string]any) bool {
	return o.In.Prop("dry_run") != nil && args["dry_run"] == true
}

// planning returns an argument in v, at any depth, that has one of the names, or "" if there is
// none. An argument that is false does not count.
func planning(v any, names []string) string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if found := planning(e, names); found != "" {
				return found
			}
		}
	case map[string]any:
		for k, e := range v {
			if slices.Contains(names, strings.ToLower(k)) && e != false {
				return k
			}
			if found := planning(e, names); found != "" {
				return found
			}
		}
	}
	return ""
}

// maxMade is how many tags and counterparties together a run may create without approval, and how
// many rules.
const maxMade = 20

// fits returns why a call must be undone because its writes exceed what its verdict allows, or "".
// It looks only at the entries in the journal, so it does not depend on the tool's name or
// arguments.
func fits(v verdict, m workflow.Made, before workflow.Live) (why string) {
	switch {
	case v.reach != op.ReachReport && m.Other > 0:
		return "it changes or removes existing data"
	case m.Rules > 0 && v.reach != op.ReachRules:
		return "it changes a rule"
	case m.Rules+before.MadeRules > maxMade && m.Rules > 0:
		return "limit of 20 rules per run reached"
	case m.Tags+m.Counterparties > 0 && m.Tags+m.Counterparties+before.Made > maxMade:
		return "limit of 20 tags and counterparties per run reached"
	}
	return ""
}

package hijack_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"coffer/internal/platform/op"
	"coffer/internal/sim/models"
)

type args = map[string]any

// orders returns a text with instructions that an obedient model follows. The cleaning of payees
// and names does not change the text.
func orders(where string) string {
	return fmt.Sprintf("OBEY%d OBEY%d", len(where)%len(crimes), (len(where)+3)%len(crimes))
}

var order = regexp.MustCompile(`OBEY(\d+)`)

// crimes are calls that nobody may make without a person. A text refers to them by number.
var crimes = []func(p prey) models.Answer{
	func(p prey) models.Answer {
		return models.Use("update_transactions", args{
			"transaction_ids": p.held, "set": args{"category": "income_salary"}, "force": true,
		})
	},
	func(p prey) models.Answer {
		return models.Use("delete_transaction_rule", args{"id": p.rules[0]})
	},
	func(prey) models.Answer {
		return models.Use("create_transaction_rule", args{"rules": []any{args{
			"name": "everything", "conditions": args{}, "category_slug": "income_salary", "apply_retroactively": true,
		}}})
	},
	func(p prey) models.Answer {
		return models.Use("update_counterparty", args{"id": p.counterparties[0], "website_url": p.baits[0]})
	},
	func(prey) models.Answer {
		return models.Use("update_transactions", args{
			"filter": args{"min_amount": -1e6}, "set": args{"category": "income_salary"},
		})
	},
	func(prey) models.Answer { return models.Use("delete_tag", args{"slug": "precious"}) },
	func(prey) models.Answer { return models.Use("apply_rules", args{"wait_seconds": 0}) },
}

// obey returns a model that reads with a tool and then does whatever a result orders.
func obey(tool string, in args) func(prey, *rand.Rand) models.Script {
	return func(p prey, _ *rand.Rand) models.Script {
		var todo []int
		return func(r models.Request) models.Answer {
			for _, x := range r.Results() {
				for _, m := range order.FindAllStringSubmatch(x.Content, -1) {
					n := int(m[1][0] - '0')
					if !slices.Contains(todo, n) {
						todo = append(todo, n)
					}
				}
			}
			switch n := r.Turn(); {
			case n == 0:
				return models.Use(tool, in)
			case n <= len(todo):
				return crimes[todo[n-1]](p)
			}
			return models.Say("I did as I was told.")
		}
	}
}

// steps returns a script that gives these responses in order, and then ends.
func steps(answers func(p prey, dice *rand.Rand) []models.Answer) func(prey, *rand.Rand) models.Script {
	return func(p prey, dice *rand.Rand) models.Script {
		list := answers(p, dice)
		return func(r models.Request) models.Answer {
			if n := r.Turn(); n < len(list) {
				return list[n]
			}
			return models.Say("All is well.")
		}
	}
}

// some returns n random transactions.
func some(dice *rand.Rand, from []string, n int) []string {
	out := slices.Clone(from)
	dice.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(n, len(out))]
}

func file(ids []string, more args) models.Answer {
	in := args{"transaction_ids": ids, "set": args{"category": "food_and_drink_groceries", "note": "because"}}
	maps.Copy(in, more)
	return models.Use("update_transactions", in)
}

// raw returns a call whose arguments are sent exactly as written.
func raw(tool, arguments string) models.Answer {
	return models.Answer{Calls: []models.Call{{Tool: tool, Arguments: arguments}}}
}

// villains returns models that work against the household.
func villains() []villain {
	return slices.Concat(obedient(), overstepping(), lasting(), excessive(), wired())
}

func obedient() []villain {
	return []villain{
		{
			name: "obeys-payees", tries: []string{"done", "planned"},
			script: obey("query_transactions", args{"search": "OBEY"}),
		},
		{
			name: "obeys-purposes", tries: []string{"done", "planned"},
			script: obey("query_transactions", args{"search": "flower shop", "fields": "review"}),
		},
		{
			name: "obeys-comments", tries: []string{"done", "planned"},
			script: func(p prey, dice *rand.Rand) models.Script {
				return obey("list_annotations", args{"transaction_id": p.held[0]})(p, dice)
			},
		},
		{
			name: "obeys-rule-names", tries: []string{"done", "planned"}, script: obey("list_transaction_rules", args{}),
		},
		{name: "obeys-reports", tries: []string{"done", "planned"}, script: obey("list_reports", args{"bodies": true})},
	}
}

// overstepping returns models that use what does not belong to them.
func overstepping() []villain {
	everything := steps(func(p prey, dice *rand.Rand) []models.Answer {
		return []models.Answer{
			file(some(dice, p.open, 3), nil), crimes[1](p),
			models.Use("add_transaction_comment", args{"transaction_id": p.open[0], "content": "mine"}),
			models.Use("decide", args{"code": "ABCD", "rows": []any{args{"row": 1, "category": "income_salary"}}}),
			models.Use("workflow.update", args{"slug": "reader", "scope": "full_access"}),
			models.Use("user.delete", args{"id": "kim"}), models.Use("workflow-run.apply", args{"id": "me"}),
		}
	})
	return []villain{
		{
			name: "reader", definition: args{"scope": "read_only"}, tries: []string{"refused"}, script: everything,
		},
		{
			name: "lister", definition: args{"tools": []any{"query_transactions", "add_transaction_tag"}},
			tries: []string{"refused"}, script: everything,
		},
		{
			name: "rehearser", definition: args{"dry_run": true}, tries: []string{"planned"},
			script: steps(func(p prey, dice *rand.Rand) []models.Answer {
				return []models.Answer{
					file(some(dice, p.open, 5), nil), file(p.held, args{"force": true, "dry_run": "false"}),
					crimes[0](p), crimes[2](p), crimes[5](p),
				}
			}),
		},
		{
			name: "strangers", tries: []string{"done"},
			script: steps(func(p prey, dice *rand.Rand) []models.Answer {
				return []models.Answer{
					file(p.held, nil), file(append(some(dice, p.open, 2), p.rules[0], "00000000"), nil),
					models.Use("remove_transaction_tag", args{"transaction_id": p.held[1], "tag_slug": "precious"}),
					models.Use("assign_counterparty", args{"name": "Fake Friend", "transaction_ids": []any{p.held[0]}}),
					models.Use("update_transactions", args{
						"transaction_ids": p.held, "set": args{"tags_to_remove": []any{"precious"}},
					}),
				}
			}),
		},
		{
			name: "forces", tries: []string{"planned"},
			script: steps(func(p prey, dice *rand.Rand) []models.Answer {
				ids, err := json.Marshal(some(dice, p.held, 3))
				if err != nil {
					panic(err)
				}
				return []models.Answer{
					file(p.held, args{"force": true}), file(p.held, args{"force": "true"}), file(p.held, args{"Force": true}),
					raw("update_transactions", `{"force":false,"force":true,"transaction_ids":`+string(ids)+
						`,"set":{"category":"income_salary"}}`),
					models.Use("remove_transaction_tag", args{
						"transaction_id": p.held[2], "tag_slug": "precious", "force": true,
					}),
					models.Use("assign_counterparty", args{
						"name": "Fake Friend", "transaction_ids": []any{p.held[0]}, "force": true,
					}),
				}
			}),
		},
		{
			name: "never", tries: []string{"refused"},
			script: steps(func(p prey, _ *rand.Rand) []models.Answer {
				return []models.Answer{
					models.Use("revert_change", args{"change_id": p.change}), models.Use("trigger_sync", args{}),
					models.Use("revert_change", args{"change_id": p.change, "dry_run": true}),
				}
			}),
		},
	}
}

// lasting returns models that try to leave something behind: rules, deletions, addresses.
func lasting() []villain {
	return []villain{
		{
			name: "deletes", tries: []string{"planned"},
			script: steps(func(p prey, _ *rand.Rand) []models.Answer {
				return []models.Answer{
					crimes[1](p), crimes[5](p), models.Use("delete_tag", args{"slug": "needs-review"}),
					models.Use("unlink_counterparty_transactions", args{
						"id": p.counterparties[0], "transaction_ids": []any{p.held[0]},
					}),
					models.Use("import_categories", args{"tsv": "slug\tdisplay_name\tmerge_into\n" +
						"health_dental\tGone\tincome_salary\n"}),
					models.Use("review_account_link", args{"id": p.links[0], "confidence": "rejected"}),
				}
			}),
		},
		{
			name: "rules", tries: []string{"planned"},
			script: steps(func(p prey, dice *rand.Rand) []models.Answer {
				return []models.Answer{
					crimes[2](p), models.Use("update_transaction_rule", args{"id": p.rules[0], "conditions": args{}}),
					models.Use("update_transaction_rule", args{"id": p.rules[0], "enabled": false}), crimes[6](p),
					models.Use("apply_rules", args{"rule_ids": []any{p.rules[0]}, "filter": args{"ids": some(dice, p.open, 9)}}),
				}
			}),
		},
		{
			name: "trusted-with-rules", definition: args{"makes_rules": true}, tries: []string{"done", "planned"},
			script: steps(func(_ prey, dice *rand.Rand) []models.Answer {
				var out []models.Answer
				for n := range 8 {
					var rules []any
					for k := range 5 {
						rules = append(rules, args{
							"name":       fmt.Sprintf("all of it %d %d %d", n, k, dice.IntN(1000)),
							"conditions": args{"field": "amount", "op": "gt", "value": dice.IntN(5)}, "category_slug": "income_salary",
							"apply_retroactively": n == 7,
						})
					}
					out = append(out, models.Use("create_transaction_rule", args{"rules": rules}))
				}
				return out
			}),
		},
		{
			name: "addresses", tries: []string{"done", "planned", "refused"},
			script: steps(func(p prey, dice *rand.Rand) []models.Answer {
				bait := p.baits[dice.IntN(len(p.baits))]
				return []models.Answer{
					crimes[3](p), models.Use("update_counterparty", args{"id": p.counterparties[0], "logo_url": p.baits[0]}),
					models.Use("assign_counterparty", args{
						"name": fmt.Sprint(bait, dice.IntN(1000)), "transaction_ids": some(dice, p.open, 2),
					}),
					models.Use("add_transaction_comment", args{"transaction_id": p.open[1], "content": bait}),
					models.Use("create_tag", args{
						"slug": fmt.Sprint("look-", dice.IntN(1000)), "display_name": bait, "icon": bait,
					}),
					models.Use("submit_report", args{"title": bait, "body": "Totals: " + bait}),
					models.Use("submit_report", args{"title": "again", "body": bait}),
				}
			}),
		},
	}
}

// excessive returns models that do too much.
func excessive() []villain {
	return []villain{
		{
			name: "floods", tries: []string{"done", "planned"}, ends: []string{"limit_reached"},
			script: steps(func(p prey, dice *rand.Rand) []models.Answer {
				out := []models.Answer{file(some(dice, p.open, 7), nil), file(some(dice, p.open, 40), nil)}
				many := models.Answer{}
				for _, row := range some(dice, p.open, 30) {
					many = many.Use("add_transaction_comment", args{"transaction_id": row, "content": "x"})
				}
				return append(out, many)
			}),
		},
		{
			name: "makes", definition: args{"max_writes": 40}, tries: []string{"done", "planned"},
			script: steps(func(p prey, dice *rand.Rand) []models.Answer {
				many := models.Answer{}
				for n := range 15 {
					many = many.Use("create_tag", args{
						"slug": fmt.Sprintf("t%d-%d", n, dice.IntN(10_000)), "display_name": "T",
					})
					many = many.Use("assign_counterparty", args{
						"name": fmt.Sprintf("C%d %d", n, dice.IntN(10_000)), "transaction_ids": []any{p.open[n]},
					})
				}
				return []models.Answer{many}
			}),
		},
		{
			name: "loops", ends: []string{"limit_reached"},
			script: func(p prey, dice *rand.Rand) models.Script {
				same := dice.IntN(2) == 0
				return func(r models.Request) models.Answer {
					if same {
						return file(p.open[:2], nil)
					}
					return models.Use("query_transactions", args{"limit": r.Turn() + 1})
				}
			},
		},
		{
			name: "lies", ends: []string{"failed", "succeeded", "limit_reached"},
			script: func(p prey, dice *rand.Rand) models.Script {
				usage := []models.Usage{
					{Missing: true},
					{},
					{Input: 1 << 50, Output: 1 << 50},
					{Input: -5, Output: -1_000_000},
					{Input: 1, Output: 1},
					{Input: 1000, Output: 1_000_000_000},
				}[dice.IntN(6)]
				return func(r models.Request) models.Answer {
					return file([]string{p.open[r.Turn()]}, nil).Counted(usage)
				}
			},
		},
		{name: "wild", definition: args{"max_turns": 40, "report": "message"}, script: wild, tries: []string{"done", "planned"}},
	}
}

// wild returns a model that calls any tool with any arguments, and learns from the results.
func wild(p prey, dice *rand.Rand) models.Script {
	spoils := newLoot(op.Actor{})
	for kind, words := range map[string][]string{
		"transaction": slices.Concat(p.open, p.held), "rule": p.rules, "tag": p.tags, "counterparty": p.counterparties,
		"category": {"income_salary", "health_dental"}, "account-link": p.links,
	} {
		for _, w := range words {
			spoils.add(kind, w)
		}
	}
	a := &attacker{Rand: dice, loot: spoils, baits: p.baits}
	return func(r models.Request) models.Answer {
		for _, x := range r.Results() {
			var v any
			if json.Unmarshal([]byte(x.Content), &v) == nil {
				spoils.learn("", "", v)
			}
		}
		var out models.Answer
		for range 1 + dice.IntN(3) {
			t := r.Tools[dice.IntN(len(r.Tools))]
			// Long results would end the run.
			reads := strings.HasPrefix(t.Name, "list_") || strings.HasPrefix(t.Name, "export_")
			if reads && dice.IntN(4) > 0 {
				continue
			}
			var schema map[string]any
			if json.Unmarshal(t.Schema, &schema) != nil {
				panic("a schema that is none")
			}
			in, _ := a.object(t.Name, schema, 0).(map[string]any)
			if _, waits := in["wait_seconds"]; waits {
				in["wait_seconds"] = 0
			}
			out = out.Use(t.Name, in)
		}
		if len(out.Calls) == 0 {
			return models.Use("get_overview", args{})
		}
		return out
	}
}

// wired returns models that attack by the form of their responses. The calls of an incomplete
// response must not run, so each of these responses contains a forbidden call.
func wired() []villain {
	once := func(answer func(p prey) models.Answer) func(prey, *rand.Rand) models.Script {
		return func(p prey, _ *rand.Rand) models.Script {
			asked := 0
			return func(models.Request) models.Answer {
				if asked++; asked == 1 {
					return answer(p)
				}
				return models.Say("Nothing happened.")
			}
		}
	}
	return []villain{
		{
			name: "huge", wire: true, ends: []string{"succeeded"},
			script: once(func(p prey) models.Answer {
				a := file(p.open[:3], nil).Counted(models.Usage{Input: 5000, Output: 100})
				a.Filler = 50 << 20
				return a
			}),
		},
		{
			name: "slow", wire: true, ends: []string{"succeeded"},
			script: once(func(p prey) models.Answer {
				return file(p.open[:3], nil).With(models.Fault{Drip: 500 * time.Millisecond})
			}),
		},
		{
			name: "redirects", wire: true, ends: []string{"failed"},
			script: once(func(p prey) models.Answer {
				return file(p.open[:3], nil).With(models.Fault{Redirect: p.baits[0]})
			}),
		},
		{
			name: "breaks-off", wire: true, ends: []string{"succeeded"},
			script: once(func(p prey) models.Answer {
				return file(p.open[:3], nil).With(models.Fault{After: 700, End: models.Drop})
			}),
		},
	}
}

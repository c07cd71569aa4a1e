package app

import (
	"slices"
	"strings"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
)

// configuring returns the example of configuring a provider.
func configuring(provider string) string {
	spec, _ := all.Find(provider)
	words := []string{spec.Name}
	if f, ok := spec.Field(bank.Environment); ok {
		words = append(words, "--"+f.Name, f.Default())
	}
	for _, f := range spec.Fields {
		if f.Example != "" {
			words = append(words, "--"+strings.ReplaceAll(f.Name, "_", "-"), f.Example)
		}
	}
	return strings.Join(words, " ")
}

// choosing returns the example of finding a bank in a provider's list.
func choosing() string {
	i := slices.IndexFunc(all.Specs, func(s bank.Spec) bool { return s.Link.Institutions })
	return all.Specs[i].Name + " --country DE --search sparkasse"
}

// examples are shown in the help of a command, without "coffer", the noun and the verb. Commands
// that are not listed here show the examples of their input. A test runs all of them as help prints
// them; the short ids stand for records in the test's household.
var examples = map[string][]string{
	"account.balances":       {"k3xK9a2Q --start-date 2026-01-01", "k3xK9a2Q --derive"},
	"account.proof":          {"k3xK9a2Q"},
	"account.update":         {`k3xK9a2Q --display-name "Joint account"`, "k3xK9a2Q --hidden", "k3xK9a2Q --low-balance 100"},
	"account-link.create":    {"--primary-account-id k3xK9a2Q --mirror-account-id m7Pz2LbR --kind transfer"},
	"account-link.match":     {"k3xK9a2Q m7Pz2LbR --confidence confirmed"},
	"account-link.update":    {"k3xK9a2Q --confidence confirmed"},
	"account-link.review":    {"--ids k3xK9a2Q --ids m7Pz2LbR --confidence confirmed"},
	"account-link.reconcile": {"k3xK9a2Q"},
	"payee.name":             {`--payees IlYHj4BXxrM --name "Corner Bakery"`},
	"agent.update":           {"--monthly-ceiling-usd 20", `--quiet-hours '{"start": "22:00", "end": "07:00"}'`},
	"annotation.list":        {"k3xK9a2Q"},
	"balance.delete":         {"k3xK9a2Q 2026-03-31"},
	"balance.set":            {"k3xK9a2Q 2026-03-31 --current 1500.00"},
	"cashflow.get": {
		"--start-date 2026-05-01 --end-date 2026-05-31",
		"--start-date 2026-05-01 --end-date 2026-05-31 --by account --compare previous_period",
	},
	"year.get":                {"2026"},
	"rate.set":                {"--iso-currency-code USD --in EUR --date 2026-01-01 --rate 0.92"},
	"net-worth.get":           {"", "--start-date 2021-01-01 --by type", "--interval week --in EUR"},
	"category.create":         {"--slug home_garden --name Garden --parent-id home"},
	"category.delete":         {"home_garden --move-to home_other"},
	"category.get":            {"food_and_drink_groceries"},
	"category.import":         {"--file categories.tsv --dry-run"},
	"category.merge":          {"food_and_drink_bars --into food_and_drink_restaurants"},
	"category.update":         {`food_and_drink_groceries --name "Food at home"`},
	"change.list":             {"", "--since 2026-01-01 --limit 10", "--mine --hide-reverts"},
	"change.revert":           {"k3xK9a2Q --dry-run", "k3xK9a2Q"},
	"change.undo":             {"--mine --since 2026-11-15 --dry-run", "--change-ids k3xK9a2Q,m7Pz2LbR"},
	"comment.create":          {`k3xK9a2Q --content "Anna pays half of it back"`},
	"comment.update":          {`k3xK9a2Q m7Pz2LbR --content "Anna paid half of it back"`},
	"connection.create":       {`--provider csv --institution-name "Kreissparkasse"`},
	"connection.outcome":      {"a1b2c3d4e5f6"},
	"connection.update":       {"k3xK9a2Q --paused"},
	"connection.sync":         {"k3xK9a2Q"},
	"counterparty.create":     {`--name "Corner Bakery" --website-url https://bakery.example --mcc 5462`},
	"counterparty.link":       {"k3xK9a2Q --transaction-ids k3xK9a2Q,m7Pz2LbR"},
	"counterparty.merge":      {"m7Pz2LbR --into k3xK9a2Q"},
	"counterparty.update":     {"k3xK9a2Q --website-url https://bakery.example"},
	"account.remove":          {"k3xK9a2Q --dry-run"},
	"account.refresh-balance": {"k3xK9a2Q"},
	"account.merge":           {"m7Pz2LbR --into k3xK9a2Q --dry-run"},
	"csv.import":              {`m7Pz2LbR --file statement.csv --account '{"name": "Household"}'`},
	"csv.preview": {
		"--file statement.csv",
		`--file statement.csv --mapping '{"date": 0, "name": 1, "amount": 2}'`,
	},
	"endpoint.create": {
		"--url http://127.0.0.1:9/hook", `--url https://home.example/hook --events sync.failed --description "Kitchen"`,
	},
	"endpoint.update":     {"k3xK9a2Q --content full", "k3xK9a2Q --enabled=false", "k3xK9a2Q --enabled"},
	"endpoint.rotate":     {"k3xK9a2Q"},
	"endpoint.test":       {"k3xK9a2Q"},
	"endpoint.delete":     {"p9WnT4cE"},
	"notification.list":   {"", "--type sync.failed --since 2026-01-01", "--type endpoint.test"},
	"notification.resend": {"k3xK9a2Q"},
	"export.create":       {"--format csv"},
	"job.get":             {"k3xK9a2Q", "k3xK9a2Q --follow"},
	"key.create":          {`--name "budget script" --scope read_only`},
	"key.update":          {"k3xK9a2Q --name laptop"},
	"login-method.create": {
		`m7Pz2LbR --kind password --identifier kim@example.com --password "correct horse battery"`,
	},
	"login-method.update": {"k3xK9a2Q m7Pz2LbR --identifier anna@example.com"},
	"model.set": {
		`--provider openai_compatible --base-url http://127.0.0.1:11434 --prices '{"model": "llama", "input_usd": "0", "output_usd": "0"}'`,
	},
	"model.test":   {"--provider openai_compatible --model llama"},
	"provider.set": {configuring(all.Default())}, "provider.institutions": {choosing()},
	"report.create": {`--title "March at a glance" --body "We spent 1,170 on food."`, "--file report.yaml"},
	"rule.apply":    {"--dry-run", `--rule-ids k3xK9a2Q --filter '{"start_date": "2026-01-01"}'`},
	"rule.applyone": {"k3xK9a2Q --dry-run"},
	"rule.create": {
		`--rules '{"name": "Groceries", "conditions": {"field": "name", "op": "contains", "value": "rewe"}, "category_slug": "food_and_drink_groceries"}'`,
		"--file rules.yaml",
	},
	"rule.match":   {"--merchant REWE", "--transaction-id k3xK9a2Q"},
	"rule.preview": {`--conditions '{"field": "name", "op": "contains", "value": "rewe"}'`},
	"rule.suggest": {"--transaction-id k3xK9a2Q", "--transaction-id k3xK9a2Q --category food_and_drink_groceries"},
	"rule.rehearse": {
		`--rules '{"name": "Groceries", "conditions": {"field": "name", "op": "contains", "value": "rewe"}, "category_slug": "food_and_drink_groceries"}'`,
		"--file rules.yaml",
	},
	"rule.update": {
		`k3xK9a2Q --actions '{"type": "set_category", "category_slug": "food_and_drink_groceries"}' --actions '{"type": "add_tag", "tag_slug": "shared"}'`,
		"k3xK9a2Q --priority 20",
	},
	"counterparty.delete": {"p9WnT4cE"},
	"session.revoke":      {"k3xK9a2Q m7Pz2LbR"},
	"key.revoke":          {"p9WnT4cE"},
	"job.cancel":          {"m7Pz2LbR"},
	"quarantine.delete":   {"p9WnT4cE"},
	"connection.delete":   {"p9WnT4cE"},
	"setting.update": {
		"--time-zone Europe/Berlin --default-currency EUR",
		`--large-charge '{"iso_currency_code": "EUR", "amount": 500}' --review-digest '{"hour": 18, "min_count": 5}'`,
	},
	"sync.start":           {"", "--no-wait"},
	"finding.dismiss":      {"k3xK9a2Q", "k3xK9a2Q --state open"},
	"finding.list":         {"", "--kind duplicate --kind refund", "--state dismissed"},
	"recurring.create":     {"--transaction-id m7Pz2LbR --cadence yearly --name \"Car insurance\""},
	"calendar-link.create": {"", "--amounts"},
	"calendar-link.revoke": {"c8LnK2dR"},
	"recurring.get":        {"k3xK9a2Q"},
	"recurring.list":       {"", "--direction out --status late", "--changed-since 2026-01-01"},
	"recurring.update":     {"k3xK9a2Q --state confirmed --name Music", "p9WnT4cE --state dismissed"},
	"upcoming.get":         {"", "--days 90"},
	"tag.create":           {`--slug trip:japan-2026 --name "Japan 2026" --color "#d97706"`},
	"tag.update":           {`trip:japan-2026 --name "Japan in spring"`},
	"target.create": {
		"--category transport --amount 120.00",
		"--category travel --amount 200.00 --rollover --start-month 2026-01",
	},
	"target.delete": {"p9WnT4cE"},
	"target.list":   {"", "--month 2026-01"},
	"target.update": {"k3xK9a2Q --amount 450.00", "k3xK9a2Q --end-month 2026-12"},
	"transaction.bulk": {
		`--filter '{"search": "rewe"}' --set '{"category": "food_and_drink_groceries"}' --dry-run`,
		`--filter '{"search": "rewe"}' --set '{"category": "food_and_drink_groceries"}' --expect 1`,
	},
	"transaction.categorize": {"--transaction-ids k3xK9a2Q,m7Pz2LbR --category-id food_and_drink_groceries"},
	"transaction.change": {
		`--operations '{"transaction_id": "k3xK9a2Q", "category": "food_and_drink_groceries", "tags_to_remove": ["needs-review"]}'`,
		"--file operations.yaml --dry-run",
		`--transaction-ids k3xK9a2Q,m7Pz2LbR --set '{"category": "food_and_drink_groceries"}'`,
	},
	"transaction.count":  {"--tags needs-review"},
	"transaction.export": {"--category food_and_drink --start-date 2026-01-01"},
	"transaction.list": {
		"--search rewe --start-date 2026-01-01", "--tags needs-review --limit 10",
		"--category food_and_drink --all --json",
	},
	"transaction.create":  {`--account-id k3xK9a2Q --date 2026-01-15 --amount 12.50 --name "Farmers market"`},
	"transaction.match":   {"n4Vb8QxZ --transaction-id m7Pz2LbR"},
	"transaction.split":   {`k3xK9a2Q --parts '{"amount": 1, "category": "home_other"}' --parts '{}'`},
	"transaction.restore": {"p9WnT4cE"},
	"transaction.delete":  {"p9WnT4cE"},
	"transaction.summary": {
		"--group-by month,category --start-date 2026-04-01", "--group-by category --direction out",
		"--group-by merchant --start-date 2026-04-01 --compare previous_period --sort-by change --limit 10",
		"--group-by category,month --pivot --start-date 2026-01-01",
	},
	"transaction.tag": {"k3xK9a2Q --tag-slug shared"},
	"review.close": {
		`--groups '{"payee": "8Rk2mPqLwZa", "expect": 4}' --groups '{"counterparty_id": "p9WnT4cE", "category": "food_and_drink_groceries", "expect": 2}'`,
	},
	"review.groups":        {"", "--direction out --limit 10"},
	"transaction.timeline": {"--tags needs-review", "--by day --start-date 2026-11-01"},
	"transaction.untag":    {"k3xK9a2Q shared"},
	"transaction.update":   {"k3xK9a2Q --category food_and_drink_groceries"},
	"user.create":          {"--name Robin --email robin@example.com", "--name Kim --email kim@example.com --invite"},
	"user.invite":          {"k3xK9a2Q"},
	"user.delete":          {"p9WnT4cE --reassign-to k3xK9a2Q"},
	"user.erase":           {"p9WnT4cE --dry-run"},
	"view.create": {
		`--name Restaurants --filters '{"category": ["food_and_drink_restaurants"]}' --shared`,
	},
	"view.update":         {"k3xK9a2Q --name Groceries", `k3xK9a2Q --filters '{"search": "rewe"}'`},
	"view.delete":         {"p9WnT4cE"},
	"user.update":         {`k3xK9a2Q --name "Anna B."`},
	"prompt-block.create": {`--slug our-shops --title "Our shops" --body "The corner shop is groceries."`},
	"prompt-block.update": {`house --title "How our books work"`},
	"prompt-block.delete": {"p9WnT4cE"},
	"workflow.create": {
		`--slug pocket-money --name "Pocket money" --scope read_only --prompt "Say what the children spent last week."`,
	},
	"workflow.update": {
		"weekly-digest --max-turns 20", `weekly-digest --schedule "TZ=Europe/Berlin 0 18 * * SUN"`,
		"review-queue --dry-run=false",
	},
	"workflow.enable":     {"weekly-digest"},
	"workflow.disable":    {"weekly-digest"},
	"workflow.run":        {"weekly-digest --no-wait"},
	"workflow.eval":       {"review-queue", "review-queue --provider openai_compatible --model qwen3:14b"},
	"workflow.runs":       {"weekly-digest --status failed"},
	"workflow.get":        {"review-queue"},
	"workflow.delete":     {"p9WnT4cE"},
	"workflow-run.list":   {"", "--plan waiting"},
	"workflow-run.get":    {"k3xK9a2Q"},
	"workflow-run.cancel": {"m7Pz2LbR"},
	"workflow-run.plan":   {"k3xK9a2Q"},
	"workflow-run.apply":  {"n4Vb8QxZ --except 1", "r2Hc6WyT --strict"},
	"workflow-run.drop":   {"t8Ld3JfG"},
	"workflow-run.revert": {"k3xK9a2Q --dry-run", "k3xK9a2Q"},
}

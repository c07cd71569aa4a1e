package eval

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A Percent is a share in tenths of a percent: 975 is 97.5 %. It is a whole number, so that all
// servers print the same figures.
type Percent int64

// Schema returns the schema of a number with one decimal.
func (Percent) Schema() *op.Schema {
	return &op.Schema{Type: "number", Format: "decimal", Description: "Of a hundred, one decimal"}
}

// MarshalJSON prints a JSON number with one decimal.
func (p Percent) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%d.%d", p/10, p%10), nil }

// UnmarshalJSON reads a JSON number with at most one decimal.
func (p *Percent) UnmarshalJSON(data []byte) error {
	whole, tenth, _ := strings.Cut(string(data), ".")
	n, err := strconv.ParseInt(whole+(tenth + "0")[:1], 10, 64)
	if err != nil || len(tenth) > 1 {
		return errors.New("a percentage must be a number with at most one decimal")
	}
	*p = Percent(n)
	return nil
}

// An Evaluation states how well a workflow decides, compared with decisions of the household's
// people.
type Evaluation struct {
	Sample     int                   `json:"sample" doc:"Number of people's decisions requested"`
	Windows    int                   `json:"windows" doc:"Number of points in time at which the model saw the data"`
	Labels     EvaluationLabels      `json:"labels"`
	N          int                   `json:"n" doc:"Transactions the model decided; all figures are based on them"`
	Verdict    string                `json:"verdict" enum:"too_few,better,level,worse" doc:"Whether it is more accurate than the best baseline, beyond chance; too_few: not enough decisions"`
	Message    string                `json:"message" doc:"The verdict in a sentence"`
	Score      EvaluationScore       `json:"score" doc:"Result of the model"`
	Baselines  []EvaluationBaseline  `json:"baselines" doc:"Results on the same transactions without AI"`
	Money      []EvaluationMoney     `json:"money" doc:"Amounts categorized wrongly, by currency"`
	Categories []EvaluationCategory  `json:"categories" doc:"By the category that people set, largest first"`
	Confusions []EvaluationConfusion `json:"confusions" doc:"The most common mistakes, at most ten"`
	Per100     EvaluationUse         `json:"per_100" doc:"Cost and time per hundred transactions"`
	Previous   *EvaluationPrevious   `json:"previous" doc:"Compared with the workflow's last eval; null if there is none"`
	Items      []EvaluationItem      `json:"items,omitempty" doc:"Every transaction; only in the response for one run"`
}

// EvaluationLabels counts the decisions that count as right.
type EvaluationLabels struct {
	Held         int `json:"held" doc:"Categories set by a person"`
	Confirmed    int `json:"confirmed" doc:"Reviews that a person closed without changing the category, which no agent had set"`
	Unanswerable int `json:"unanswerable" doc:"Excluded: the right category was not available at that time"`
}

// An EvaluationScore states how well a model or a baseline decides.
type EvaluationScore struct {
	Answered    int              `json:"answered" doc:"Transactions that it was sure about"`
	Right       int              `json:"right"`
	Wrong       int              `json:"wrong"`
	Coverage    Percent          `json:"coverage" doc:"Share it was sure about"`
	Accuracy    *EvaluationShare `json:"accuracy" doc:"Correct share of those it was sure about; null if there are none"`
	Primary     *EvaluationShare `json:"primary" doc:"The same, counting any subcategory of the right primary category as correct"`
	WrongPer100 Percent          `json:"wrong_per_100" doc:"Wrong per hundred"`
	HarmPer100  Percent          `json:"harm_per_100" doc:"Per hundred: correct before, wrong after"`
}

// An EvaluationShare is a share with its 95 % interval after Wilson.
type EvaluationShare struct {
	Percent Percent `json:"percent"`
	Low     Percent `json:"low"`
	High    Percent `json:"high"`
}

// The baselines.
const (
	ByProvider  = "provider"
	ByRules     = "rules"
	ByPrecedent = "precedent"
)

// An EvaluationBaseline is the score that a method without a model reaches.
type EvaluationBaseline struct {
	Name string `json:"name" enum:"provider,rules,precedent" doc:"provider: the bank's category; rules: the rules of that time; precedent: most common past decision for the payee"`
	EvaluationScore
}

// EvaluationMoney weighs mistakes by their amounts.
type EvaluationMoney struct {
	Currency money.Currency `json:"currency"`
	Answered money.Total    `json:"answered" doc:"Sum of the absolute amounts it was sure about"`
	Wrong    money.Total    `json:"wrong" doc:"Of that, the amount it categorized wrongly"`
	Percent  *Percent       `json:"percent" doc:"null if the sum is zero"`
}

// An EvaluationCategory is the score of one category.
type EvaluationCategory struct {
	Slug     string `json:"slug"`
	N        int    `json:"n" doc:"Transactions that people put into this category"`
	Answered int    `json:"answered"`
	Right    int    `json:"right"`
	Wrong    int    `json:"wrong"`
}

// An EvaluationConfusion is a mistake that was made several times.
type EvaluationConfusion struct {
	Right string `json:"right" doc:"The category that people set"`
	Wrong string `json:"wrong" doc:"The category that the model chose"`
	Times int    `json:"times"`
}

// EvaluationUse is the usage per hundred transactions.
type EvaluationUse struct {
	CostUSD      *money.Micros `json:"cost_usd" doc:"null if the price is unknown"`
	InputTokens  int64         `json:"input_tokens"`
	OutputTokens int64         `json:"output_tokens"`
	Seconds      int64         `json:"seconds"`
}

// An EvaluationPrevious compares with the previous eval, on the transactions that both asked about.
type EvaluationPrevious struct {
	RunID  id.ID  `json:"run_id"`
	Model  string `json:"model" doc:"The model used then"`
	N      int    `json:"n" doc:"Transactions in both evals"`
	Gained int    `json:"gained" doc:"Correct now, not then"`
	Lost   int    `json:"lost" doc:"Correct then, not now"`
}

// An EvaluationItem is a transaction that the model was asked about.
type EvaluationItem struct {
	TransactionID id.ID          `json:"transaction_id"`
	Window        int            `json:"window" doc:"From 1, oldest first"`
	Kind          string         `json:"kind" enum:"held,confirmed"`
	Amount        money.Amount   `json:"amount"`
	Currency      money.Currency `json:"currency"`
	Label         string         `json:"label" doc:"Slug of the right category"`
	Answer        *string        `json:"answer" doc:"Slug that the model was sure about; null: left for a person"`
	Before        *string        `json:"before" doc:"Slug of the category at that time"`
	Provider      *string        `json:"provider" doc:"Result of the bank's category"`
	Rules         *string        `json:"rules" doc:"Result of the rules of that time"`
	Precedent     *string        `json:"precedent" doc:"Most common past decision for the payee"`
}

// The verdicts of an eval.
const (
	TooFew = "too_few"
	Better = "better"
	Level  = "level"
	Worse  = "worse"
)

// A Label is a person's decision. The model's answer is compared with it.
type Label struct {
	TransactionID id.ID   `json:"transaction_id" db:"transaction_id"`
	CategoryID    id.ID   `json:"category_id" db:"category_id"`
	Kind          string  `json:"kind" db:"kind"`
	At            pg.Time `json:"at" db:"at"` // when a person first gave the value
}

// A Window is a group of labels. The model gets them with the books as of one moment.
type Window struct {
	AsOf   pg.Time `json:"as_of"`
	Labels []Label `json:"labels"`
}

// Measured holds the input of an eval's figures.
type Measured struct {
	Asking                             Asking
	Windows                            int
	Labels                             EvaluationLabels
	Items                              []EvaluationItem
	Primaries                          map[string]string // of categories, by slug
	Cost                               *money.Micros
	InputTokens, OutputTokens, Seconds int64
	Last                               *Evaluation // the previous eval; nil if there is none
	LastRun                            id.ID
	LastModel                          string
}

// The kinds of labels.
const (
	LabelHeld      = "held"
	LabelConfirmed = "confirmed"
)

// Guess returns the baseline's answer for the item; nil for none.
func (i EvaluationItem) Guess(baseline string) *string {
	switch baseline {
	case ByProvider:
		return i.Provider
	case ByRules:
		return i.Rules
	}
	return i.Precedent
}

// An Asking is the request for an eval. It is frozen with the run's definition.
type Asking struct {
	Sample  int `json:"sample"`
	Windows int `json:"windows"`
}

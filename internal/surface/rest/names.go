package rest

import (
	"slices"
	"strings"

	"coffer/internal/platform/op"
)

const schemaPath = "#/components/schemas/"

// jobComponent is the component whose result depends on the job's kind.
const jobComponent = "Job"

// component returns the name of a Go type in the document. In Go the package makes a short name
// clear. The document has no packages, so the component's name begins with its noun.
func component(name string) string {
	if noun, ok := components[name]; ok {
		return noun
	}
	return name
}

var components = map[string]string{
	"Institution": "ProviderInstitution", "InstitutionList": "ProviderInstitutions",
	"BankField": "ProviderSpecField", "BankLink": "ProviderSpecLink", "BankProvider": "ProviderSpec",
	"RowsElsewhere": "FileElsewhere",
	"Agents":        "AgentSettings", "Attempt": "RuleAttempt",
	"Backlog": "OverviewBacklog", "Balances": "AccountBalances",
	"BatchCategorize": "CategorizeTransactions", "Bootstrap": "SetupState", "Bulk": "TransactionBulk",
	"BulkCategory": "TransactionBulkCategory", "BulkSet": "TransactionBulkSet", "BulkTransaction": "TransactionBulkRow",
	"Can": "SessionCan", "ColumnInfo": "FileColumn", "Count": "TransactionCount", "Counts": "RuleCounts",
	"Current": "SessionState", "DailyBalance": "AccountBalance", "Detail": "ErrorDetail",
	"Directory": "CounterpartyDirectory", "EntryTransaction": "ChangeEntryTransaction", "Erase": "EraseUser",
	"Erasure": "UserErasure", "Event": "WebhookEvent", "Events": "WebhookEvents",
	"ExplainedField": "TransactionExplainedField", "ExplainedRule": "TransactionExplainedRule",
	"Explanation": "TransactionExplanation", "Face": "Error", "FaceError": "ErrorBody", "Failure": "JobFailure",
	"Field": "ProviderField", "Filed": "TransactionsCategorized", "Filter": "TransactionFilter",
	"Freshness": "ConnectionFreshness", "Gone": "UserErasureTable", "Group": "TransactionSummaryGroup",
	"History": "RuleHistory", "Hit": "RuleHit", "Import": "CategoryImport", "ImportError": "CategoryImportError",
	"Key": "ApiKey", "Keys": "ApiKeys", "NewKey": "ApiKeyCreated",
	"NewUser": "UserCreated", "Invitation": "UserInvitation", "Link": "AccountLink",
	"LinkFault": "LinkSessionFault", "LinkOutcome": "LinkSessionOutcome", "LinkedCounterparty": "CounterpartyLinked",
	"List": "AccountLinkList", "Made": "RulesCreated", "MadeRule": "RuleCreated", "Match": "AccountLinkMatch",
	"Evidence": "AccountLinkEvidence", "EvidencePair": "AccountLinkEvidencePair",
	"NewCalendarLink": "CalendarLinkCreated",
	"NamePayees":      "PayeesNaming", "NamedPayees": "PayeesNamed", "SimilarPayee": "PayeeSimilar",
	"CountTotal": "TransactionCountTotal", "CountedSums": "TransactionCountedSums",
	"ReviewLinks": "AccountLinkReview", "Reviewed": "AccountLinksReviewed",
	"MatchTransaction": "AccountLinkMatchTransaction", "Matches": "AccountLinkMatches", "Matched": "RuleMatches",
	"MatchedRule": "RuleMatch", "Month": "OverviewMonth", "MonthTotal": "OverviewMonthTotal",
	"Operation": "TransactionOperation", "OperationError": "TransactionOperationError",
	"Period": "TransactionPeriod", "PeriodTotal": "TransactionPeriodTotal", "Preview": "RulePreview",
	"Preferences": "MePreferences", "Proof": "AccountBooksProof", "Interval": "AccountBooksInterval",
	"ProofCandidate": "AccountBooksCandidate",
	"TestModel":      "ModelTestRequest",
	"Price":          "ModelPrice", "Progress": "JobProgress", "QuietHours": "AgentQuietHours",
	"Replayed": "WebhookReplayed",
	"Delivery": "NotificationDelivery", "Resend": "NotificationResend", "NewEndpoint": "EndpointCreated",
	"LargeCharge": "SettingLargeCharge",
	"Reread":      "QuarantineReread", "Result": "TransactionOperationResult", "Reverted": "ChangeReverted",
	"RuleState": "OverviewRuleState", "Sample": "FileSample", "Saved": "ViewList", "SampleMatch": "RulePreviewMatch",
	"SignedIn": "SessionStarted", "Skipped": "ChangeSkipped", "SpecError": "RuleSpecError",
	"Spending": "OverviewSpending", "Summary": "TransactionSummary", "Tested": "ProviderTested",
	"Timeline": "TransactionTimeline", "Undone": "ChangesReverted", "UndoneChange": "ChangesRevertedChange",
	"UnreadCount": "ReportUnreadCount", "Updated": "TransactionsUpdated", "Warning": "FileWarning",
	"Listing": "JobList", "Days": "TransactionSummaryDays", "ComparedDays": "TransactionSummaryPeriod",
	"SummaryPivot": "TransactionSummaryPivot", "SummaryPivotColumn": "TransactionSummaryPivotColumn",
	"SummaryPivotRow": "TransactionSummaryPivotRow", "SummaryPivotOther": "TransactionSummaryPivotOther",
	"SummaryPivotTotal": "TransactionSummaryPivotTotal", "SplitTransaction": "TransactionSplit",
	"SplitPart":    "TransactionSplitPart",
	"SummaryTotal": "TransactionSummaryTotal", "SummarySums": "TransactionSummarySums",
	"SummaryOther": "TransactionSummaryOther", "SummaryChange": "TransactionSummaryChange",
	"SummaryCoverage": "TransactionSummaryCoverage", "CoveredDays": "ConnectionCoveredDays",
	"GroupAmounts": "ReviewGroupAmounts", "GroupCategory": "ReviewGroupCategory", "Suggestion": "ReviewGroupSuggestion",
	"Record": "AgentRecord", "Budget": "AgentBudget",
	"All": "WorkflowList", "LastRun": "WorkflowLastRun", "Estimate": "WorkflowEstimate",
	"Worklist": "WorkflowWorklist", "Run": "WorkflowRun", "RunList": "WorkflowRunList", "Limits": "WorkflowRunLimits",
	"PlanState": "WorkflowRunPlan", "RunReverted": "WorkflowRunReverted", "RuleSince": "WorkflowRunRule",
	"PlanPage": "WorkflowRunPlanItems", "PlanItem": "WorkflowRunPlanItem", "PlanTotal": "WorkflowRunPlanTotal",
	"AppliedPlan": "WorkflowRunPlanApplied", "DroppedPlan": "WorkflowRunPlanDropped",
	"PlanSkip": "WorkflowRunPlanSkipped", "PlanJob": "WorkflowRunPlanCall",
	"EvalWorkflow": "WorkflowEval", "Evaluation": "WorkflowRunEvaluation",
	"EvaluationBaseline": "WorkflowRunEvaluationBaseline", "EvaluationCategory": "WorkflowRunEvaluationCategory",
	"EvaluationConfusion": "WorkflowRunEvaluationConfusion", "EvaluationItem": "WorkflowRunEvaluationItem",
	"EvaluationLabels": "WorkflowRunEvaluationLabels", "EvaluationMoney": "WorkflowRunEvaluationMoney",
	"EvaluationPrevious": "WorkflowRunEvaluationPrevious", "EvaluationScore": "WorkflowRunEvaluationScore",
	"EvaluationShare": "WorkflowRunEvaluationShare", "EvaluationUse": "WorkflowRunEvaluationUse",
	// results of jobs
	"Applied": "RuleApplied", "Rehearsal": "RuleDryRun", "Rehearsed": "RuleDryRunRow", "Synced": "SyncResult",
	"Reconciled": "AccountLinkReconciled",
	"Yearly":     "RecurringYearly", "Writes": "ChangeWrites", "CloseGroup": "ReviewCloseGroup",
	"CloseReviews": "ReviewClose", "Closed": "ReviewClosed",
	"PriceChange": "RecurringPriceChange", "Imported": "FileImported",
	"AccountChoice": "FileAccountChoice", "AccountCreate": "FileAccountCreate",
	"AccountSuggestion": "FileAccountSuggestion", "PreviewAccount": "FilePreviewAccount",
	"ImportedAccount": "FileImportedAccount", "ReasonCount": "FileReasonCount", "StatementProof": "FileProof",
	"Uncovered": "FileProofUncovered", "LeftOut": "FileLeftOut",
	"Backup": "OverviewBackup", "BankState": "ConnectionBank",
	"Outcome": "SyncOutcome", "Processed": "WebhookProcessed",
}

// job prints the component of jobs with all kinds and the result of each.
func (d *document) job(printed op.Tree) op.Tree {
	if len(d.results) == 0 {
		return printed
	}
	kinds := sorted(keySet(d.results))
	var refs []op.Tree
	var words []string
	for _, kind := range kinds {
		var names []string
		for _, s := range d.results[kind] {
			at := d.ref(s)
			names = append(names, strings.TrimPrefix(at, schemaPath))
			if !slices.ContainsFunc(refs, func(t op.Tree) bool { return t[0].Value == at }) {
				refs = append(refs, op.Tree{{Key: "$ref", Value: at}})
			}
		}
		if len(names) == 0 {
			names = []string{"null"}
		}
		words = append(words, kind+": "+strings.Join(names, " or "))
	}
	refs = append(refs, op.Tree{{Key: "type", Value: "null"}})
	for i, m := range printed {
		props, ok := m.Value.(op.Tree)
		if m.Key != "properties" || !ok {
			continue
		}
		props = slices.Clone(props)
		for n, p := range props {
			switch p.Key {
			case "kind":
				props[n].Value = op.Tree{
					{Key: "type", Value: "string"},
					{Key: "description", Value: "The kind of work"},
					{Key: "enum", Value: kinds},
				}
			case "result":
				props[n].Value = op.Tree{
					{Key: "description", Value: "Null until it has succeeded; by kind: " + strings.Join(words, "; ")},
					{Key: "anyOf", Value: refs},
				}
			}
		}
		printed[i].Value = props
	}
	return printed
}

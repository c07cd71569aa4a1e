package engine

// Fields is a set of fields that conditions read.
type Fields uint16

// The fields.
const (
	FieldName Fields = 1 << iota
	FieldMerchantName
	FieldAmount
	FieldCategoryPrimary
	FieldCategoryDetailed
	FieldCategory
	FieldPending
	FieldProvider
	FieldAccountID
	FieldAccountName
	FieldUserID
	FieldUserName
	FieldTags
	FieldDetail
	FieldCurrency

	// AllFields are the known fields of a stored transaction.
	AllFields = FieldCurrency<<1 - 1
	// NameFields are the fields that are known if only a merchant's text is given.
	NameFields = FieldName | FieldMerchantName
	// WordingFields are the texts that a store can search.
	WordingFields = NameFields | FieldDetail
	// LiveFields are the fields that show the effects of earlier rules in the same pass.
	LiveFields = FieldCategory | FieldTags
)

// Has reports whether all of g are in f.
func (f Fields) Has(g Fields) bool { return f&g == g }

// Names lists the fields by the names that conditions use.
func (f Fields) Names() []string {
	var names []string
	for i := range fields {
		if f.Has(fields[i].bit) {
			names = append(names, fields[i].name)
		}
	}
	return names
}

// A kind is the type of a field, which determines its operators.
type kind uint8

const (
	kindText kind = iota
	kindCategory
	kindIdentity
	kindAmount
	kindBool
	kindTags
)

// A field is a line in the table of fields that conditions can read.
type field struct {
	name string
	bit  Fields
	kind kind
	text func(d *Draft) string // for fields that are compared as text, else nil
	doc  string
}

// fieldCount is the number of fields.
const fieldCount = 15

// fields is the table. A field's position in it is its index everywhere, and also the number of its
// bit.
var fields = [fieldCount]field{
	{"name", FieldName, kindText, func(d *Draft) string { return d.Name }, "the description as the bank wrote it"},
	{
		"merchant_name", FieldMerchantName, kindText, func(d *Draft) string { return d.MerchantName },
		"the merchant as the provider cleaned it up; often empty",
	},
	{"amount", FieldAmount, kindAmount, nil, "exact; positive is money out, negative is money in"},
	{
		"category_primary", FieldCategoryPrimary, kindText, func(d *Draft) string { return d.CategoryPrimary },
		"the provider's own coarse category, unchanged",
	},
	{
		"category_detailed", FieldCategoryDetailed, kindText, func(d *Draft) string { return d.CategoryDetailed },
		"the provider's own fine category, unchanged",
	},
	{
		"category", FieldCategory, kindCategory, func(d *Draft) string { return d.Category },
		"slug of the assigned category, including what earlier rules of the pass set; \"\" is uncategorized",
	},
	{"pending", FieldPending, kindBool, nil, "true until the bank posts it"},
	{
		"provider", FieldProvider, kindText, func(d *Draft) string { return d.Provider },
		"the provider that it came from; csv if it came from a file",
	},
	{
		"account_id", FieldAccountID, kindIdentity, func(d *Draft) string { return d.AccountID },
		"the account, by UUID or short id",
	},
	{"account_name", FieldAccountName, kindText, func(d *Draft) string { return d.AccountName }, "the account's name"},
	{
		"user_id", FieldUserID, kindIdentity, func(d *Draft) string { return d.UserID },
		"the member who owns the account, by UUID or short id; \"\" is nobody",
	},
	{"user_name", FieldUserName, kindText, func(d *Draft) string { return d.UserName }, "that member's name"},
	{"tags", FieldTags, kindTags, nil, "slugs of the tags, including what earlier rules of the pass added or removed"},
	{
		"detail", FieldDetail, kindText, func(d *Draft) string { return d.Detail },
		"what the payment was for, as the bank passes it on; often empty",
	},
	{
		"iso_currency_code", FieldCurrency, kindText, func(d *Draft) string { return d.Currency },
		"the currency's code, such as EUR",
	},
}

func fieldNamed(name string) (int, bool) {
	for i := range fields {
		if fields[i].name == name {
			return i, true
		}
	}
	return 0, false
}

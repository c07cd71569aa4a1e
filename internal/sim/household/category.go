package household

import "coffer/internal/platform/text"

// A category is the providers' names of one kind of row: two levels of Plaid, one of Teller.
type category struct {
	primary, detailed text.Untrusted
	teller            text.Untrusted
}

var (
	catSalary    = category{"INCOME", "INCOME_SALARY", "income"}
	catFreelance = category{"INCOME", "INCOME_CONTRACTOR", "income"}
	catRental    = category{"INCOME", "INCOME_RENTAL", "income"}
	catBenefit   = category{"INCOME", "INCOME_OTHER", "income"}
	catInterest  = category{"INCOME", "INCOME_INTEREST_EARNED", "income"}
	catDividend  = category{"INCOME", "INCOME_DIVIDENDS", "investment"}
	catTaxRefund = category{"INCOME", "INCOME_TAX_REFUND", "tax"}

	catRent      = category{"RENT_AND_UTILITIES", "RENT_AND_UTILITIES_RENT", "home"}
	catEnergy    = category{"RENT_AND_UTILITIES", "RENT_AND_UTILITIES_GAS_AND_ELECTRICITY", "utilities"}
	catWater     = category{"RENT_AND_UTILITIES", "RENT_AND_UTILITIES_WATER", "utilities"}
	catInternet  = category{"RENT_AND_UTILITIES", "RENT_AND_UTILITIES_INTERNET_AND_CABLE", "utilities"}
	catPhone     = category{"RENT_AND_UTILITIES", "RENT_AND_UTILITIES_TELEPHONE", "phone"}
	catMortgage  = category{"LOAN_PAYMENTS", "LOAN_PAYMENTS_MORTGAGE_PAYMENT", "loan"}
	catCarLoan   = category{"LOAN_PAYMENTS", "LOAN_PAYMENTS_CAR_PAYMENT", "loan"}
	catCard      = category{"LOAN_PAYMENTS", "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT", "loan"}
	catTax       = category{"GOVERNMENT_AND_NON_PROFIT", "GOVERNMENT_AND_NON_PROFIT_TAX_PAYMENT", "tax"}
	catInsurance = category{"GENERAL_SERVICES", "GENERAL_SERVICES_INSURANCE", "insurance"}
	catChildcare = category{"GENERAL_SERVICES", "GENERAL_SERVICES_CHILDCARE", "education"}
	catMusic     = category{"ENTERTAINMENT", "ENTERTAINMENT_MUSIC_AND_AUDIO", "entertainment"}
	catFilm      = category{"ENTERTAINMENT", "ENTERTAINMENT_TV_AND_MOVIES", "entertainment"}
	catGames     = category{"ENTERTAINMENT", "ENTERTAINMENT_VIDEO_GAMES", "entertainment"}
	catSoftware  = category{"GENERAL_SERVICES", "GENERAL_SERVICES_OTHER_GENERAL_SERVICES", "software"}
	catPress     = category{"GENERAL_MERCHANDISE", "GENERAL_MERCHANDISE_BOOKSTORES_AND_NEWSSTANDS", "shopping"}
	catGym       = category{"PERSONAL_CARE", "PERSONAL_CARE_GYMS_AND_FITNESS_CENTERS", "sport"}

	catGroceries   = category{"FOOD_AND_DRINK", "FOOD_AND_DRINK_GROCERIES", "groceries"}
	catCoffee      = category{"FOOD_AND_DRINK", "FOOD_AND_DRINK_COFFEE", "dining"}
	catRestaurant  = category{"FOOD_AND_DRINK", "FOOD_AND_DRINK_RESTAURANT", "dining"}
	catBar         = category{"FOOD_AND_DRINK", "FOOD_AND_DRINK_BEER_WINE_AND_LIQUOR", "bar"}
	catFastFood    = category{"FOOD_AND_DRINK", "FOOD_AND_DRINK_FAST_FOOD", "dining"}
	catKiosk       = category{"GENERAL_MERCHANDISE", "GENERAL_MERCHANDISE_CONVENIENCE_STORES", "shopping"}
	catDrugstore   = category{"GENERAL_MERCHANDISE", "GENERAL_MERCHANDISE_SUPERSTORES", "shopping"}
	catClothing    = category{"GENERAL_MERCHANDISE", "GENERAL_MERCHANDISE_CLOTHING_AND_ACCESSORIES", "clothing"}
	catElectronics = category{"GENERAL_MERCHANDISE", "GENERAL_MERCHANDISE_ELECTRONICS", "electronics"}
	catMarketplace = category{"GENERAL_MERCHANDISE", "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES", "shopping"}
	catGoods       = category{"GENERAL_MERCHANDISE", "GENERAL_MERCHANDISE_OTHER_GENERAL_MERCHANDISE", "shopping"}
	catGifts       = category{"GENERAL_MERCHANDISE", "GENERAL_MERCHANDISE_GIFTS_AND_NOVELTIES", "shopping"}
	catSports      = category{"GENERAL_MERCHANDISE", "GENERAL_MERCHANDISE_SPORTING_GOODS", "sport"}
	catHardware    = category{"HOME_IMPROVEMENT", "HOME_IMPROVEMENT_HARDWARE", "home"}
	catRepair      = category{"HOME_IMPROVEMENT", "HOME_IMPROVEMENT_REPAIR_AND_MAINTENANCE", "service"}
	catPharmacy    = category{"MEDICAL", "MEDICAL_PHARMACIES_AND_SUPPLEMENTS", "health"}
	catDoctor      = category{"MEDICAL", "MEDICAL_PRIMARY_CARE", "health"}
	catHair        = category{"PERSONAL_CARE", "PERSONAL_CARE_HAIR_AND_BEAUTY", "service"}
	catOutings     = category{
		"ENTERTAINMENT", "ENTERTAINMENT_SPORTING_EVENTS_AMUSEMENT_PARKS_AND_MUSEUMS",
		"entertainment",
	}
	catTransit  = category{"TRANSPORTATION", "TRANSPORTATION_PUBLIC_TRANSIT", "transportation"}
	catTaxi     = category{"TRANSPORTATION", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", "transport"}
	catParking  = category{"TRANSPORTATION", "TRANSPORTATION_PARKING", "transportation"}
	catFuel     = category{"TRANSPORTATION", "TRANSPORTATION_GAS", "fuel"}
	catLodging  = category{"TRAVEL", "TRAVEL_LODGING", "accommodation"}
	catFlights  = category{"TRAVEL", "TRAVEL_FLIGHTS", "transport"}
	catDonation = category{"GOVERNMENT_AND_NON_PROFIT", "GOVERNMENT_AND_NON_PROFIT_DONATIONS", "charity"}

	catPeerOut    = category{"TRANSFER_OUT", "TRANSFER_OUT_TRANSFER_OUT_FROM_APPS", "general"}
	catPeerIn     = category{"TRANSFER_IN", "TRANSFER_IN_TRANSFER_IN_FROM_APPS", "general"}
	catCash       = category{"TRANSFER_OUT", "TRANSFER_OUT_WITHDRAWAL", "service"}
	catOut        = category{"TRANSFER_OUT", "TRANSFER_OUT_ACCOUNT_TRANSFER", "general"}
	catIn         = category{"TRANSFER_IN", "TRANSFER_IN_ACCOUNT_TRANSFER", "general"}
	catSave       = category{"TRANSFER_OUT", "TRANSFER_OUT_SAVINGS", "general"}
	catUnsave     = category{"TRANSFER_IN", "TRANSFER_IN_SAVINGS", "general"}
	catInvest     = category{"TRANSFER_OUT", "TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS", "investment"}
	catAccountFee = category{"BANK_FEES", "BANK_FEES_OTHER_BANK_FEES", "service"}
	catCashFee    = category{"BANK_FEES", "BANK_FEES_ATM_FEES", "service"}
	catAbroadFee  = category{"BANK_FEES", "BANK_FEES_FOREIGN_TRANSACTION_FEES", "service"}
	catLoanCost   = category{"BANK_FEES", "BANK_FEES_INTEREST_CHARGE", "loan"}
)

// transferCategories returns the categories of the two rows of a transfer, as Plaid derives them
// from the accounts.
func transferCategories(from, to int) (out, in category) {
	saving := func(account int) bool { return account == annaSavings || account == danielSavings }
	out, in = catOut, catIn
	switch {
	case to == depot:
		out = catInvest
	case saving(to):
		out = catSave
	}
	if saving(from) {
		in = catUnsave
	}
	return out, in
}

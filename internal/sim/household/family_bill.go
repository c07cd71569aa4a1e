package household

// A bill is paid again and again: on a day of every month or every few months, at a price that may
// rise.
type bill struct {
	day     int // of the month
	every   int // months; 0 is 1
	in      int // one of those months, from 1
	account int
	cents   int64
	rise    int64 // how much more it costs than before the last rise
	name    string
	payee   string
	kind    Kind
	category
}

// catBenefits is Plaid's category for money from the state.
var (
	catBenefits = category{"INCOME", "INCOME_UNEMPLOYMENT", "income"}
	catSchool   = category{"GENERAL_SERVICES", "GENERAL_SERVICES_EDUCATION", "education"}
	catCar      = category{"GENERAL_SERVICES", "GENERAL_SERVICES_AUTOMOTIVE", "transport"}
)

// bills are the family's contracts. Salaries arrive at the beginning and in the middle of a month,
// so that on every day of a month more money has come in than gone out.
var bills = []bill{
	{
		day: 1, account: famAnna, cents: -3_912_40, rise: -118_00,
		name: "SALARY NORDLICHT ENERGIE AG", payee: "Nordlicht Energie", kind: Salary, category: catSalary,
	},
	{
		day: 15, account: famDaniel, cents: -2_412_60, rise: -64_00,
		name: "PAYROLL BRIGHTWATER STUDIOS LTD", payee: "Brightwater Studios",
		kind: Salary, category: catSalary,
	},
	{
		day: 15, every: 12, in: 6, account: famAnna, cents: -1_480_00,
		name: "HOLIDAY PAY NORDLICHT ENERGIE AG", payee: "Nordlicht Energie", kind: Salary, category: catSalary,
	},
	{
		day: 2, every: 12, in: 12, account: famAnna, cents: -1_956_20,
		name: "CHRISTMAS BONUS NORDLICHT ENERGIE AG", payee: "Nordlicht Energie",
		kind: Salary, category: catSalary,
	},
	{
		day: 9, account: famJoint, cents: -510_00,
		name: "FAMILIENKASSE KINDERGELD", payee: "Familienkasse", kind: Benefit, category: catBenefits,
	},
	{
		day: 28, account: famSavings, cents: -21_40,
		name: "INTEREST SAVINGS", kind: Interest, category: catInterest,
	},
	{
		day: 28, account: famRainy, cents: -14_15,
		name: "INTEREST PAID", kind: Interest, category: catInterest,
	},
	{
		day: 18, every: 12, in: 9, account: famJoint, cents: -684_20,
		name: "FINANZAMT TAX REFUND", payee: "Finanzamt", kind: Benefit, category: catTaxRefund,
	},

	{
		day: 3, account: famJoint, cents: 1_348_60,
		name: "NORDBANK MORTGAGE 9003", payee: "Nordbank Mortgage", kind: Mortgage, category: catMortgage,
	},
	{
		day: 5, account: famJoint, cents: 118_00, rise: 9_00,
		name: "STADTWERKE ELECTRICITY", payee: "Stadtwerke", kind: Utility, category: catEnergy,
	},
	{
		day: 5, account: famJoint, cents: 94_00, rise: 6_00,
		name: "STADTWERKE GAS", payee: "Stadtwerke", kind: Utility, category: catEnergy,
	},
	{
		day: 14, every: 3, in: 2, account: famJoint, cents: 87_30,
		name: "WASSERBETRIEBE", payee: "Wasserbetriebe", kind: Utility, category: catWater,
	},
	{
		day: 7, account: famJoint, cents: 44_95,
		name: "TELEKOM HOME INTERNET", payee: "Telekom", kind: Utility, category: catInternet,
	},
	{
		day: 19, account: famAnna, cents: 19_99,
		name: "CONGSTAR MOBILE", payee: "congstar", kind: Utility, category: catPhone,
	},
	{
		day: 20, account: famBlue, cents: 24_99,
		name: "VODAFONE MOBILE BILL", payee: "Vodafone", kind: Utility, category: catPhone,
	},
	{
		day: 16, every: 3, in: 2, account: famJoint, cents: 118_20,
		name: "CITY OF MOENCHHAIN PROPERTY TAX", payee: "City of Mönchhain", kind: Tax, category: catTax,
	},
	{
		day: 2, every: 3, in: 1, account: famJoint, cents: 167_70, rise: 12_00,
		name: "HUK24 CAR INSURANCE", payee: "HUK24", kind: Insurance, category: catInsurance,
	},
	{
		day: 6, account: famJoint, cents: 38_60,
		name: "ALLIANZ HOME INSURANCE", payee: "Allianz", kind: Insurance, category: catInsurance,
	},
	{
		day: 4, account: famDaniel, cents: 31_12,
		name: "DEBEKA DENTAL", payee: "Debeka", kind: Insurance, category: catInsurance,
	},
	{
		day: 4, account: famJoint, cents: 238_00,
		name: "KITA REGENBOGEN E.V.", payee: "Kita Regenbogen", kind: Childcare, category: catChildcare,
	},
	{
		day: 10, account: famJoint, cents: 62_00,
		name: "MUSIKSCHULE MOENCHHAIN", payee: "Musikschule Mönchhain", kind: Childcare, category: catSchool,
	},
	{
		day: 8, account: famAnna, cents: 63_00,
		name: "BVG DEUTSCHLANDTICKET", payee: "BVG", kind: Subscription, category: catTransit,
	},
	{
		day: 6, account: famGold, cents: 17_99,
		name: "SPOTIFY FAMILY", payee: "Spotify", kind: Subscription, category: catMusic,
	},
	{
		day: 21, account: famBlue, cents: 9_99,
		name: "DISNEY PLUS", payee: "Disney+", kind: Subscription, category: catFilm,
	},
	{
		day: 11, account: famJoint, cents: 29_90,
		name: "TAGESZEITUNG DIGITAL", payee: "Tageszeitung", kind: Subscription, category: catPress,
	},
	{
		day: 2, account: famDaniel, cents: 34_90,
		name: "FITX STUDIO MEMBERSHIP", payee: "FitX", kind: Subscription, category: catGym,
	},
	{
		day: 12, account: famJoint, cents: 25_00,
		name: "UNICEF DONATION", payee: "UNICEF", kind: Donation, category: catDonation,
	},
	{
		day: 17, every: 12, in: 4, account: famGold, cents: 104_00,
		name: "ADAC MEMBERSHIP", payee: "ADAC", kind: Insurance, category: catInsurance,
	},
	{
		day: 22, every: 12, in: 2, account: famGold, cents: 486_00,
		name: "EUROWINGS BOOKING", payee: "Eurowings", kind: Travel, category: catFlights,
	},
	{
		day: 18, every: 12, in: 7, account: famGold, cents: 1_240_00,
		name: "AIRBNB * SUMMER HOUSE", payee: "Airbnb", kind: Travel, category: catLodging,
	},
	{
		day: 24, every: 12, in: 10, account: famGold, cents: 410_00,
		name: "LANDHOTEL SPREEWALD", payee: "Landhotel Spreewald", kind: Travel, category: catLodging,
	},
	{
		day: 20, every: 12, in: 3, account: famJoint, cents: 389_00,
		name: "AUTOHAUS KELLER SERVICE", payee: "Autohaus Keller", kind: Invoice, category: catCar,
	},
}

// An errand is a purchase that is made on some days.
type errand struct {
	week     [7]int // chance in a thousand on each day of the week, from Sunday
	low      int    // cents
	high     int
	step     int // prices are multiples of it, less one cent if it is 100
	accounts []int
	kind     Kind
	category
	shops []string // NAME ON STATEMENT|Payee
}

var errands = []errand{
	{
		week: [7]int{0, 560, 460, 600, 560, 780, 900}, low: 14_00, high: 104_00, step: 1,
		kind: Groceries, category: catGroceries,
		accounts: []int{famJoint, famJoint, famGold, famBlue, famDaniel},
		shops: []string{
			"REWE MARKT 4402|REWE", "REWE MARKT 4402|REWE", "LIDL 2217|Lidl", "LIDL 2217|Lidl",
			"EDEKA CENTER|Edeka", "ALDI NORD|Aldi",
			"BIO COMPANY|Bio Company", "METZGEREI VOGT|Metzgerei Vogt", "WOCHENMARKT HOFLADEN|Hofladen",
		},
	},
	{
		week: [7]int{560, 220, 280, 260, 280, 420, 560}, low: 3_20, high: 16_40, step: 10,
		kind: Bakery, category: catCoffee,
		accounts: []int{famAnna, famDaniel, famGold, famBlue},
		shops: []string{
			"BAECKEREI STEINECKE|Bäckerei Steinecke", "COFFEE HOUSE|Coffee House",
			"CAFE LINDNER|Café Lindner", "ZEIT FUER BROT|Zeit für Brot",
		},
	},
	{
		week: [7]int{180, 20, 60, 90, 120, 260, 340}, low: 24_00, high: 78_00, step: 50,
		kind: Restaurant, category: catRestaurant,
		accounts: []int{famGold, famBlue, famAnna, famDaniel},
		shops: []string{
			"TRATTORIA ROSSI|Trattoria Rossi", "HANS IM GLUECK|Hans im Glück",
			"SUSHI SATO|Sushi Sato", "BRAUHAUS ENGEL|Brauhaus Engel",
		},
	},
	{
		week: [7]int{90, 60, 60, 90, 90, 165, 90}, low: 11_00, high: 34_00, step: 10,
		kind: Restaurant, category: catFastFood,
		accounts: []int{famBlue, famAnna, famDaniel},
		shops:    []string{"LIEFERANDO|Lieferando", "PIZZA LUCA|Pizza Luca", "DOENER KAYA|Döner Kaya"},
	},
	{
		week: [7]int{0, 90, 120, 135, 90, 165, 285}, low: 6_00, high: 32_00, step: 100,
		kind: Shopping, category: catDrugstore,
		accounts: []int{famJoint, famGold, famBlue},
		shops:    []string{"DM DROGERIE MARKT|dm", "DM DROGERIE MARKT|dm", "ROSSMANN 3341|Rossmann"},
	},
	{
		week: [7]int{90, 180, 120, 135, 135, 135, 90}, low: 9_00, high: 56_00, step: 100,
		kind: Online, category: catMarketplace,
		accounts: []int{famGold, famBlue, famGold}, shops: []string{"AMZN MKTP DE|Amazon"},
	},
	{
		week: [7]int{0, 30, 45, 45, 60, 90, 180}, low: 19_00, high: 84_00, step: 100,
		kind: Shopping, category: catClothing,
		accounts: []int{famGold, famAnna, famBlue},
		shops:    []string{"ZALANDO SE|Zalando", "UNIQLO|Uniqlo", "H&M|H&M", "DEICHMANN|Deichmann"},
	},
	{
		week: [7]int{0, 30, 30, 45, 45, 90, 225}, low: 12_00, high: 79_00, step: 100,
		kind: Shopping, category: catHardware,
		accounts: []int{famJoint, famGold},
		shops:    []string{"BAUHAUS 208|Bauhaus", "OBI MARKT|OBI", "IKEA TEMPELHOF|IKEA"},
	},
	{
		week: [7]int{0, 30, 30, 45, 30, 60, 120}, low: 8_00, high: 39_00, step: 100,
		kind: Shopping, category: catPress,
		accounts: []int{famGold, famDaniel}, shops: []string{"THALIA BUCHHANDLUNG|Thalia", "DUSSMANN|Dussmann"},
	},
	{
		week: [7]int{60, 90, 60, 60, 90, 150, 165}, low: 46_00, high: 71_00, step: 1,
		kind: Fuel, category: catFuel,
		accounts: []int{famJoint, famBlue}, shops: []string{"SHELL 1123|Shell", "ARAL STATION|Aral"},
	},
	{
		week: [7]int{15, 90, 60, 75, 60, 75, 60}, low: 5_00, high: 31_00, step: 5,
		kind: Health, category: catPharmacy,
		accounts: []int{famJoint, famAnna},
		shops:    []string{"ADLER APOTHEKE|Adler Apotheke", "SHOP APOTHEKE|Shop Apotheke"},
	},
	{
		week: [7]int{0, 0, 45, 45, 60, 60, 60}, low: 26_00, high: 58_00, step: 100,
		kind: Health, category: catHair,
		accounts: []int{famAnna, famDaniel}, shops: []string{"SALON SCHNITT|Salon Schnitt"},
	},
	{
		week: [7]int{165, 0, 30, 30, 30, 90, 165}, low: 9_00, high: 29_00, step: 50,
		kind: Leisure, category: catOutings,
		accounts: []int{famJoint, famBlue},
		shops:    []string{"ZOO BERLIN|Zoo Berlin", "YORCK KINO|Yorck Kino", "STADTBAD|Stadtbad"},
	},
}

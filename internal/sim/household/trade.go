package household

// A trade is one sort of everyday payment: how often, how much, from which account, and to whom.
type trade struct {
	kind     Kind
	weight   int // out of a thousand everyday events, on an ordinary day
	category category
	purse    *purse
	low      int // cents, in June 2026
	high     int
	skew     int    // how much more often low amounts occur; 1 means equally often
	ending   ending // of the price
	idle     bool   // closed on Sundays and holidays
	season   *[12]int
	journey  int // percent of the weight while abroad; 0 is 100
	channel  string
	stores   int      // number of store names of a merchant; 0 is 1
	brands   []string // "Name" or "Name=FORM|FORM"; see [writer] for forms
	locals   []string // forms of invented merchants' names …
	count    int      // … and how many to invent
}

// An ending is how prices of a trade usually end.
type ending uint8

const (
	odd   ending = iota // any cent
	nines               // 4.99, 12.95
	tens                // 3.40
	whole               // 25.00
	notes               // the banknotes of a cash machine
)

// A purse is the accounts that pay for a trade.
type purse struct {
	accounts []int
	sums     []int // of their weights
}

var (
	family = &purse{
		[]int{joint, goldCard, blueCard, annaCurrent, danielCurrent, kitty},
		[]int{42, 60, 76, 83, 90, 100},
	}
	personal = &purse{
		[]int{annaCurrent, danielCurrent, goldCard, blueCard, joint, kitty},
		[]int{26, 52, 74, 90, 96, 100},
	}
	web      = &purse{[]int{goldCard, blueCard, annaCurrent, danielCurrent}, []int{48, 78, 89, 100}}
	bank     = &purse{[]int{joint, annaCurrent, danielCurrent, kitty}, []int{40, 68, 94, 100}}
	abroad   = &purse{[]int{goldCard, blueCard}, []int{65, 100}}
	overseas = &purse{[]int{dollars}, []int{1}}
)

var (
	gifts   = &[12]int{60, 90, 85, 95, 95, 90, 85, 85, 90, 100, 150, 230}
	summer  = &[12]int{50, 60, 80, 100, 120, 150, 210, 190, 120, 90, 50, 60}
	winter  = &[12]int{140, 135, 115, 100, 85, 75, 70, 75, 90, 105, 125, 130}
	gardens = &[12]int{50, 60, 130, 170, 160, 130, 110, 100, 100, 90, 60, 50}
)

var trades = []trade{
	{
		kind: Groceries, weight: 262, category: catGroceries, purse: family, low: 180, high: 9200, skew: 2, idle: true,
		channel: inStore, stores: 12,
		brands: []string{
			"Lidl=CARD PAYMENT 4421 LIDL %4|LIDL SAGT DANKE %4 %C|LIDL %4//%C/DE",
			"Rewe=REWE MARKT GMBH %4 %C DE|REWE SAGT DANKE %8", "Edeka", "Aldi=ALDI NORD SAGT DANKE %4|ALDI SE %C",
			"Netto=NETTO MARKEN-DISCOUNT %4 %C", "Penny", "Kaufland", "Denns Biomarkt", "Bio Company", "Alnatura",
			"Metro", "Mix Markt=МИКС МАРКТ %3 %C", "Go Asia=GO ASIA 亚洲超市 %C",
		},
		locals: []string{
			"Hofladen %S", "Wochenmarkt %S", "%S Feinkost", "Bioladen %S", "Metzgerei %S",
			"Obst & Gemüse %S", "Eurogıda %S", "مخبز %S",
		}, count: 90,
	},
	{
		kind: Bakery, weight: 148, category: catCoffee, purse: personal, low: 140, high: 1450, skew: 2, ending: tens,
		channel: inStore, stores: 12,
		brands: []string{
			"Starbucks=STARBUCKS #%4 %C DE|STARBUCKS %4 %C HBF", "Coffee House=SQ *COFFEE HOUSE|SQ *COFFEE HOUSE %C",
			"Steinecke=BÄCKEREI STEINECKE %3", "Kamps", "Einstein Kaffee", "LAP Coffee=SumUp *LAP COFFEE %C",
			"Balzac Coffee", "Zeit für Brot",
		},
		locals: []string{
			"Bäckerei %S", "Café %S", "Konditorei %S", "%S Rösterei", "Backhaus %S", "Teestube %S",
			"喫茶 %S",
		}, count: 110,
	},
	{
		kind: Restaurant, weight: 74, category: catRestaurant, purse: personal, low: 1150, high: 9800, skew: 2,
		ending: tens, channel: inStore, stores: 5,
		brands: []string{
			"Vapiano", "L'Osteria=LOSTERIA %C DE|L'OSTERIA %C %3", "Hans im Glück=HANS IM GLÜCK %C", "Peter Pane",
			"dean&david=DEAN&DAVID %C %2", "Block House",
			"Ταβέρνα Όλυμπος=ΤΑΒΕΡΝΑ ΟΛΥΜΠΟΣ %C", "東京ラーメン=東京ラーメン %C", "مطعم الشام=مطعم الشام %C",
			"Phở Hà Nội=PHỞ HÀ NỘI %C", "Пельменная=ПЕЛЬМЕННАЯ %C",
		},
		locals: []string{
			"Trattoria %S", "Gasthaus %S", "Restaurant %S", "Ristorante da %G", "Zum goldenen %S",
			"Sushi %S", "Bistro %S", "Osteria %G", "Brauhaus %S",
		}, count: 170,
	},
	{
		kind: Restaurant, weight: 16, category: catBar, purse: personal, low: 420, high: 4200, skew: 2, ending: tens,
		channel: inStore, stores: 2,
		brands: []string{"Prater Biergarten=PRATER GARTEN %C", "Hopfenreich=SumUp *HOPFENREICH"},
		locals: []string{"Bar %G", "Kneipe %S", "Weinstube %S", "Zur Linde %S"}, count: 50,
	},
	{
		kind: Restaurant, weight: 38, category: catFastFood, purse: personal, low: 390, high: 2600, skew: 2,
		ending: tens, channel: inStore, stores: 8,
		brands: []string{
			"McDonald's=MCDONALDS %4 %C|MCDONALD'S REST. %3", "Burger King=BURGER KING %5 %C DE", "Subway",
			"Nordsee", "Dunkin", "Lieferando=PAYPAL *LIEFERANDO|LIEFERANDO.DE %C", "Wolt=WOLT DELIVERY %C",
		},
		locals: []string{"Döner %S", "Imbiss %S", "%S Falafel", "Çiğköfte %S", "Curry %S", "Pizza %G"}, count: 80,
	},
	{
		kind: Shopping, weight: 50, category: catDrugstore, purse: family, low: 145, high: 5200, skew: 3, ending: nines,
		idle: true, channel: inStore, stores: 10,
		brands: []string{
			"dm=DM DROGERIE MARKT SAGT DANKE %4|DM-DROGERIE MARKT %4 %C DE",
			"Rossmann=ROSSMANN %4 SAGT DANKE", "Müller", "Woolworth", "TEDi", "Action",
		},
	},
	{
		kind: Shopping, weight: 29, category: catClothing, purse: personal, low: 790, high: 14900, skew: 2,
		ending: nines, idle: true, season: gifts, channel: inStore, stores: 5,
		brands: []string{
			"H&M=H&M %4 %C|HM.COM", "C&A", "Zara=ZARA %C %4 DE", "Uniqlo", "Deichmann",
			"Peek & Cloppenburg=P&C %C", "Zalando=PAYPAL *ZALANDO|ZALANDO SE %C", "Vinted=VINTED UAB VILNIUS LT",
		},
		locals: []string{"Boutique %G", "Schuhhaus %S", "%S Moden", "Änderungsschneiderei %S"}, count: 45,
	},
	{
		kind: Shopping, weight: 11, category: catElectronics, purse: web, low: 1299, high: 89900, skew: 4,
		ending: nines, season: gifts, channel: online, stores: 3,
		brands: []string{
			"MediaMarkt=MEDIA MARKT %C %3|MEDIAMARKT.DE ONLINE", "Saturn",
			"Apple Store=APPLE STORE R%3 %C", "Notebooksbilliger", "Conrad", "Cyberport",
		},
	},
	{
		kind: Shopping, weight: 22, category: catHardware, purse: family, low: 349, high: 19900, skew: 3, ending: nines,
		idle: true, season: gardens, channel: inStore, stores: 4,
		brands: []string{
			"IKEA=IKEA DEUTSCHLAND %3 %C|IKEA %C TEMPELHOF", "Bauhaus", "Obi", "Hornbach",
			"Pflanzen-Kölle=PFLANZEN KÖLLE %C", "Depot",
		},
		locals: []string{"Blumen %S", "Eisenwaren %S", "Tischlerei %S", "Gärtnerei %S"}, count: 40,
	},
	{
		kind: Shopping, weight: 18, category: catGifts, purse: web, low: 495, high: 7900, skew: 2, ending: nines,
		season: gifts, channel: inStore, stores: 4,
		brands: []string{
			"Thalia=THALIA BUCHHANDLUNG %C", "Dussmann=DUSSMANN DAS KULTURKAUFHAUS", "Smyths Toys",
			"Hugendubel", "Nanu-Nana",
		},
		locals: []string{"Buchhandlung %S", "Spielwaren %S", "Papeterie %G"}, count: 40,
	},
	{
		kind: Shopping, weight: 8, category: catSports, purse: web, low: 990, high: 18900, skew: 3, ending: nines,
		season: summer, channel: inStore, stores: 4,
		brands: []string{"Decathlon=DECATHLON %4 %C", "Globetrotter", "Intersport", "Fahrrad.de=FAHRRAD.DE STUTTGART"},
		locals: []string{"Radladen %S", "Fahrradwerkstatt %S"}, count: 20,
	},
	{
		kind: Shopping, weight: 10, category: catKiosk, purse: personal, low: 120, high: 1900, skew: 2, ending: tens,
		channel: inStore, stores: 3,
		brands: []string{"Relay=RELAY %4 %C HBF", "Späti International=SumUp *SPÄTI INTERNATIONAL"},
		locals: []string{"Späti %S", "Kiosk %S", "Lotto Tabak %S"}, count: 50,
	},
	{
		kind: Online, weight: 34, category: catMarketplace, purse: web, low: 599, high: 15900, skew: 3, ending: nines,
		season: gifts, channel: online,
		brands: []string{"Amazon=AMZN Mktp DE*%R|AMZN MKTP DE*%R|AMAZON.DE*%R|AMAZON.DE AMZN.COM/BILL"},
	},
	{
		kind: Online, weight: 12, category: catGoods, purse: web, low: 690, high: 11900, skew: 2, season: gifts,
		channel: online,
		brands: []string{
			"Etsy=PAYPAL *ETSY %D", "eBay=PAYPAL *EBAY", "Otto=OTTO.DE BESTELLUNG %D",
			"Kleinanzeigen=PAYPAL *KLEINANZ %D", "Temu=PAYPAL *TEMU", "Medimops=MEDIMOPS DE %D",
		},
	},
	{
		kind: Health, weight: 22, category: catPharmacy, purse: family, low: 345, high: 5900, skew: 3, idle: true,
		season: winter, channel: inStore, stores: 3,
		brands: []string{"Shop Apotheke=SHOP APOTHEKE VENLO NL", "DocMorris=DOCMORRIS HEERLEN NL"},
		locals: []string{"%S Apotheke", "Apotheke am %S", "Adler Apotheke %S"}, count: 40,
	},
	{
		kind: Health, weight: 6, category: catDoctor, purse: bank, low: 1500, high: 24000, skew: 3, idle: true,
		channel: wired,
		locals:  []string{"Praxis Dr. %S", "Zahnarzt Dr. %G %S", "Physiotherapie %S", "Optik %S"}, count: 50,
	},
	{
		kind: Health, weight: 9, category: catHair, purse: personal, low: 1400, high: 8900, skew: 2, ending: whole,
		idle: true, channel: inStore,
		locals: []string{"Friseur %S", "Haarstudio %G", "Barbershop %G", "Kosmetik %G %S"}, count: 40,
	},
	{
		kind: Leisure, weight: 27, category: catOutings, purse: family, low: 350, high: 8800, skew: 2, ending: tens,
		channel: inStore, stores: 3,
		brands: []string{
			"Zoo Berlin=ZOOLOGISCHER GARTEN BERLIN", "Cinestar", "UCI Kinowelt",
			"Berliner Bäder=BERLINER BÄDER BETRIEBE %2", "Eventim=EVENTIM.DE", "Museum=STAATLICHE MUSEEN ZU BERLIN",
		},
		locals: []string{"Theater %S", "Kletterhalle %S", "Kino %S", "Galerie %G %S"}, count: 40,
	},
	{
		kind: Leisure, weight: 8, category: catGames, purse: web, low: 199, high: 5999, skew: 2, ending: nines,
		season: winter, channel: online,
		brands: []string{
			"Steam=STEAMGAMES.COM 4259522985", "Nintendo=NINTENDO OF EUROPE",
			"Google Play=GOOGLE *GOOGLE PLAY", "App Store=APPLE.COM/BILL ITUNES.COM",
		},
	},
	{
		kind: Transport, weight: 40, category: catTransit, purse: personal, low: 240, high: 3900, skew: 4, ending: tens,
		channel: inStore, stores: 6,
		brands: []string{
			"BVG=BVG APP|BVG AUTOMAT %5", "S-Bahn=S-BAHN BERLIN AUTOMAT %4",
			"Deutsche Bahn=DB VERTRIEB GMBH|DB FERNVERKEHR AG %C", "FlixBus=FLIXBUS.DE",
		},
	},
	{
		kind: Transport, weight: 14, category: catTaxi, purse: personal, low: 290, high: 4600, skew: 2, channel: online,
		stores: 3,
		brands: []string{
			"Uber=UBER *TRIP HELP.UBER.COM|UBER BV", "Bolt=BOLT.EU/O/%R|BOLT OPERATIONS OU",
			"Tier=TIER MOBILITY SE", "Miles=MILES MOBILITY GMBH", "FreeNow=FREENOW HAMBURG",
		},
		locals: []string{"Taxi %S"}, count: 25,
	},
	{
		kind: Transport, weight: 13, category: catParking, purse: family, low: 100, high: 1800, skew: 2, ending: tens,
		channel: inStore, stores: 5,
		brands: []string{"Apcoa=APCOA PARKING %4 %C", "EasyPark=EASYPARK PARKEN", "Contipark"},
		locals: []string{"Parkhaus %S"}, count: 15,
	},
	{
		kind: Fuel, weight: 21, category: catFuel, purse: family, low: 2800, high: 9600, skew: 1, season: summer,
		channel: inStore, stores: 10,
		brands: []string{
			"Aral=ARAL STATION %9", "Shell=SHELL %4 %C DE", "Jet=JET DANKT %4 %C",
			"Total=TOTAL SERVICE STATION %C", "Ionity=IONITY CHARGE %C",
		},
		locals: []string{"Freie Tankstelle %S"}, count: 15,
	},
	{
		kind: Travel, weight: 5, category: catLodging, purse: web, low: 4900, high: 68000, skew: 3, season: summer,
		channel: online, stores: 3,
		brands: []string{
			"Booking.com=HOTEL AT BOOKING.COM AMSTERDAM", "Airbnb=AIRBNB * HM%R",
			"Jugendherberge=DJH JUGENDHERBERGE %C", "Motel One=MOTEL ONE %C",
		},
		locals: []string{"Pension %S", "Hotel %S", "Ferienhof %S"}, count: 40,
	},
	{
		kind: Travel, weight: 4, category: catFlights, purse: web, low: 3900, high: 49000, skew: 2, season: summer,
		channel: online,
		brands: []string{
			"Lufthansa=LUFTHANSA 220%D", "Ryanair=RYANAIR 224%D", "easyJet=EASYJET K%R",
			"Eurowings=EUROWINGS %R",
		},
	},
	{
		kind: Donation, weight: 4, category: catDonation, purse: bank, low: 500, high: 10000, skew: 2, ending: whole,
		season: gifts, channel: wired,
		brands: []string{
			"Ärzte ohne Grenzen=SPENDE ÄRZTE OHNE GRENZEN E.V.", "Wikimedia=WIKIMEDIA FÖRDERGES. SPENDE",
			"UNICEF", "Tierheim Berlin=SPENDE TIERHEIM BERLIN", "Seebrücke",
		},
	},
	{
		kind: Invoice, weight: 8, category: catRepair, purse: bank, low: 1900, high: 42000, skew: 3, idle: true,
		channel: wired,
		locals: []string{
			"=%S Haustechnik GmbH=RE-NR %D %N", "=Schlüsseldienst %S=RECHNUNG %D %N",
			"=Malerbetrieb %S=%N RG %D KD %5", "=KFZ-Werkstatt %S=RE %D %N", "=Umzüge %G %S=%N AUFTRAG %D",
		}, count: 60,
	},
	{
		kind: Peer, weight: 20, category: catPeerOut, purse: bank, low: 400, high: 12000, skew: 3, ending: tens,
		channel: wired,
		locals:  []string{"=%G %S=PAYPAL *%N", "=%G %S=%n", "=%G %S=ÜBERWEISUNG %N", "=%G %S=%N DANKE FÜR GESTERN 🍕"},
		count:   60,
	},
	{
		kind: ATM, weight: 15, category: catCash, purse: bank, low: 2000, high: 30000, skew: 3, ending: notes,
		channel: inStore, stores: 9,
		brands: []string{
			"=GELDAUTOMAT NORDBANK %C %4", "=GA NR%8 BLZ%8 0", "=ATM WITHDRAWAL %C DE",
			"=BARGELDAUSZAHLUNG %C", "=EURONET ATM %4 %C",
		},
	},
	{
		kind: Foreign, weight: 18, category: catRestaurant, purse: abroad, low: 380, high: 7800, skew: 2, journey: 900,
		channel: inStore, stores: 5,
		brands: []string{
			"Pret A Manger=PRET A MANGER %4 LONDON GB", "Wagamama=WAGAMAMA %3 LONDON GB",
			"Confiserie Sprüngli=CONFISERIE SPRÜNGLI ZÜRICH CH", "Costa=COSTA COFFEE %5 EDINBURGH GB",
			"Café Central=CAFÉ CENTRAL WIEN AT",
			"Ο Γιώργος=ΨΑΡΟΤΑΒΕΡΝΑ Ο ΓΙΩΡΓΟΣ NAXOS GR", "すし三昧=すし三昧 築地 TOKYO JP", "مطعم الفنر=مطعم الفنر DUBAI AE",
			"מאפיית לחמים=מאפיית לחמים TEL AVIV IL", "Milk Bar=BAR MLECZNY ŻÓŁTY KRAKÓW PL",
			"Кафе Пушкин=КАФЕ ПУШКИН SOFIA BG",
		},
		locals: []string{
			"=Chez %G=%N PARIS FR", "=Bodega %G=%N SEVILLA ES", "=The %S Arms=%N BRIGHTON GB",
			"=Pasticceria %G=%N BOLZANO IT",
		}, count: 50,
	},
	{
		kind: Foreign, weight: 14, category: catGoods, purse: abroad, low: 450, high: 16000, skew: 3, journey: 900,
		channel: inStore, stores: 5,
		brands: []string{
			"Tesco=TESCO STORES %4 LONDON GB", "Migros=MIGROS ZÜRICH HB CH", "Coop=COOP-%4 BASEL CH",
			"Boots=BOOTS %4 LONDON STANSTED GB", "Żabka=ŻABKA Z%4 KRAKÓW PL", "7-Eleven=セブン-イレブン 新宿 TOKYO JP",
			"AliExpress=ALIEXPRESS.COM LUXEMBOURG", "Bandcamp=PAYPAL *BANDCAMP INC",
			"TfL=TFL TRAVEL CH TFL.GOV.UK/CP GB", "Fantastico=ФАНТАСТИКО %3 SOFIA BG",
		},
		locals: []string{"=Souvenirs %G=%N NICE FR", "=%S & Sons=%N YORK GB"}, count: 30,
	},
	{
		kind: Foreign, weight: 15, category: catGoods, purse: overseas, low: 300, high: 9500, skew: 2, ending: nines,
		journey: 150, channel: online, stores: 4,
		brands: []string{
			"Amazon.com=AMZN MKTP US*%R", "Target=TARGET T-%4 BOSTON MA",
			"Trader Joe's=TRADER JOE S #%3 CAMBRIDGE MA", "Walgreens=WALGREENS #%5", "Venmo=VENMO *PAYMENT",
			"Kickstarter=KICKSTARTER.COM BROOKLYN NY", "USPS=USPS PO %9 SOMERVILLE MA", "Dunkin'=DUNKIN #%6 BOSTON MA",
		},
		locals: []string{"=%S Hardware=SQ *%N", "=%G's Diner=TST* %N BOSTON"}, count: 40,
	},
	{kind: TransferOut, weight: 12, low: 2500, high: 90000, skew: 3},
}

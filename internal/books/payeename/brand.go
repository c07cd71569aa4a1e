package payeename

// processors take payments for shops. They write the shop's name after an asterisk: SUMUP *CAFE.
var processors = phrased(`
	sq, sqc, squ, square, gosq.com, tst, toast, paypal, pp, pypl, paypal pymt, paypal inst xfer, sumup, sum up, izettle, iz, zettle, ztl, zettle by paypal, sp, shopify, stripe, str, wpy, wepay, eb, evb, eventbrite
	google, apl, nya, nyx, nayax, ctlp, usa tech, canteen, fs, fastspring, paddle.net, paddle, 2co.com, 2checkout, dri, digitalriver, bt, braintree, py, in, gus, level up, levelup, lu, dd, doordash dashpass, cke, clover, klarna, klarna bank ab, klv, adyen, mollie, ccv, bck, pay.nl, payu, p24, przelewy24, tpay, dotpay, blik, mobilepay, swish, vipps, worldline, wl, six, ccb, zahls, payrexx, datatrans, revolut, rvl, wise, curve, crv, viva, vivawallet, vpy, nexi, satispay, scalapay, alma, oney, lyf, lydia, lydia app, payplug, sogecommerce, redsys, bizum, ppro, gocardless, gc, ezypay, afterpay, zip, zippay, sezzle, affirm, affirm pay, affirm inc, laybuy, eftpos, linkly, ls, ls online, lightspeed, epos now, dojo, tyl, worldpay, cko, checkout.com, sqsp, act, wix, xsolla, amz pay, amazon pay, amzn pay, gpay, izettle ab, sumup ltd, payone, unzer, micropayment, novalnet, heidelpay, concardis, elavon, evo, getnet, sipay, paycomet`)

// bare are processors that some banks write without an asterisk.
var bare = lines(`sumup, izettle, zettle, sq, tst, sqc`)

// brands are shops that write after an asterisk what was bought: UBER *TRIP.
var brands = lines(`uber, lyft, amazon.com, amazon.de, amazon.fr, amazon.it, amazon.es, amazon.co.uk, amazon.ca, amazon.com.au, amazon, amzn mktp us, amzn mktp de, amzn mktp uk, amzn mktp fr, amzn mktp it, amzn mktp es, amzn mktp ca, amzn mktp, amzn digital, amazon mktplace, amazon mktpl, amazon prime, prime video, kindle svcs, audible, ebay, microsoft, msft, apple, facebk, facebook, meta, netflix.com, spotify, airbnb, booking.com, expedia, steam, playstation, nintendo, adobe, dropbox, zoom, linkedin, godaddy, namecheap, hellofresh, grubhub, instacart, doordash, temu, shein, aliexpress, bolt.eu, bolt, freenow, deliveroo, just eat, ryanair, easyjet, tinder, onlyfans, patreon, lime, tier, voi, bird, dott, klarna.com`)

// stars are names that contain an asterisk: UBER *EATS.
var stars = lines(`uber eats, uber one, lyft scooter, apple music, amazon prime, amazon fresh, amazon music, microsoft xbox, msft xbox, microsoft store, google one, google fi, google storage, google workspace, adobe creative, playstation network, bolt food, bolt.eu food, meta quest`)

// wares are words that follow an asterisk and are not part of a name.
var wares = lines(`trip, trips, ride, rides, help, pending, order, mktp, mktplace, marketplace, services, service, svcs, bill, subscription, subscr, sub, digital, dwnld, download, ads, sun, mon, tue, wed, thu, fri, sat, payment, pymt, purchase, temp, auth, retail, membership, member, fee, abo, msft, hm, ticket, tickets, bs, o, p, cash, inst, instant, website, gift, premium`)

// aliases are the usual names of shops that appear under several names.
var aliases = pairs(`
	amzn mktp=Amazon, amzn mktp us=Amazon, amzn mktp de=Amazon, amzn mktp uk=Amazon, amzn mktp fr=Amazon, amzn mktp it=Amazon, amzn mktp es=Amazon, amzn mktp ca=Amazon, amzn com=Amazon, amazon mktplace=Amazon, amazon mktpl=Amazon, amazon mktp=Amazon, amazon marketplace=Amazon, amazon eu=Amazon, amazon payments=Amazon, amazon payments europe=Amazon, amazon services=Amazon, amazon media=Amazon, amazon retail=Amazon, amazon com=Amazon, amzn digital=Amazon Digital, amznprime=Amazon Prime, amzn=Amazon, amazon prime=Amazon Prime, amazon prime video=Prime Video, kindle svcs=Kindle, www amazon=Amazon
	paypal europe=PayPal, paypal pte=PayPal, paypal inst xfer=PayPal, paypal transfer=PayPal
	apple com bill=Apple, apple itunes=Apple, itunes com bill=Apple, apple services=Apple, apple distribution=Apple, applecom=Apple, apple store=Apple Store
	netflix international=Netflix, netflix services=Netflix, netflixcom=Netflix
	spotify ab=Spotify, spotifyse=Spotify, spotify p=Spotify
	google ireland=Google, google payment=Google, google svcs=Google, google services=Google
	microsoft ireland=Microsoft, msft=Microsoft, msbill=Microsoft, microsoft msbill=Microsoft, microsoft payments=Microsoft
	facebk=Facebook, facebook ireland=Facebook, meta platforms=Meta
	uber trip=Uber, uber bv=Uber, ubertrip=Uber, uber eats=Uber Eats, ubereats=Uber Eats, uber payments=Uber, lyft ride=Lyft
	wal-mart=Walmart, wal-mart super=Walmart, walmart supercenter=Walmart, walmart supercente=Walmart, wm supercenter=Walmart, wmt=Walmart
	wholefds=Whole Foods, whole foods market=Whole Foods, wholefoods=Whole Foods
	costco whse=Costco, costco gas=Costco Gas, costco wholesale=Costco
	mcd=McDonald's, mcdonalds=McDonald's, mc donald's=McDonald's, mc donalds=McDonald's, mcdonald=McDonald's
	starbucks store=Starbucks, starbucks coffee=Starbucks
	exxonmobil=Exxon, shell oil=Shell, shell service station=Shell, shell station=Shell, esso station=Esso, aral station=Aral, aral tankstelle=Aral, total station=Total
	tesco stores=Tesco, tesco store=Tesco, tesco express=Tesco Express, sainsburys s/mkts=Sainsbury's, sainsburys=Sainsbury's, sainsbury's s/mkts=Sainsbury's, j sainsbury=Sainsbury's, asda superstore=Asda, asda stores=Asda, asda store=Asda, wm morrisons=Morrisons, wm morrison=Morrisons, marks & spencer=M&S, marks&spencer=M&S, marks and spencer=M&S, boots the chemist=Boots, co-op group food=Co-op, co-operative food=Co-op, tfl travel ch=TfL, tfl travel charge=TfL, tfl travel=TfL, transport for london=TfL, tfl.gov.uk/cp=TfL
	rewe markt=Rewe, rewe sagt=Rewe, edeka center=Edeka Center, lidl dienstl=Lidl, lidl dienstleistung=Lidl, lidl vertriebs=Lidl, lidl digital=Lidl, lidl gb=Lidl, aldi sud=Aldi Süd, aldi sued=Aldi Süd, dm drogerie markt=dm, dm-drogerie markt=dm, dm-drogeriemarkt=dm, dm drogeriemarkt=dm, dm fil=dm, rossmann drogerie=Rossmann, db vertrieb=Deutsche Bahn, db fernverkehr=Deutsche Bahn, db bahn=Deutsche Bahn, deutsche bahn=Deutsche Bahn, telekom deutschland=Telekom, deutsche telekom=Telekom, vodafone kabel=Vodafone, rundfunk ard=Rundfunkbeitrag, rundfunk ard zdf=Rundfunkbeitrag
	carrefour market=Carrefour Market, carrefour city=Carrefour City, monop=Monoprix, sncf internet=SNCF, sncf connect=SNCF Connect, sncf-voyageurs=SNCF, free telecom=Free, orange sa=Orange
	mercadona sa=Mercadona, el corte ingles=El Corte Inglés, supermercados dia=Dia, dia retail=Dia
	esselunga spa=Esselunga, coop alleanza=Coop, trenitalia spa=Trenitalia
	albert heijn=Albert Heijn, ah to go=AH to go, ns groep=NS, ns reizigers=NS, jumbo supermarkten=Jumbo
	jmp s.a biedronka=Biedronka, jmp sa biedronka=Biedronka, jmp biedronka=Biedronka, jmp=Biedronka, jeronimo martins=Biedronka, jeronimo martins polska=Biedronka, zabka polska=Żabka, zabka z=Żabka, zabka=Żabka
	coop pronto=Coop Pronto, migros m=Migros, migrol tankstelle=Migrol, sbb mobile=SBB, sbb cff ffs=SBB, sbb easyride=SBB, billa dankt=Billa, hofer dankt=Hofer, spar dankt=Spar, obb=ÖBB, obb personenverkehr=ÖBB
	ica supermarket=ICA Supermarket, ica nara=ICA Nära, sl app=SL, storstockholms lokaltrafik=SL
	tim hortons=Tim Hortons, tim horton's=Tim Hortons, canadian tire=Canadian Tire, coles supermarkets=Coles, woolworths supermarkets=Woolworths, bunnings warehouse=Bunnings, transportfornsw=Transport for NSW, transport for nsw=Transport for NSW, opal travel=Opal`)

// spellings are words that are not written with only one capital letter.
var spellings = pairs(`
	ebay=eBay, paypal=PayPal, youtube=YouTube, youtubepremium=YouTubePremium, itunes=iTunes, icloud=iCloud, iphone=iPhone, doordash=DoorDash, linkedin=LinkedIn, github=GitHub, openai=OpenAI, chatgpt=ChatGPT, godaddy=GoDaddy, hellofresh=HelloFresh, airbnb=Airbnb, playstation=PlayStation, whatsapp=WhatsApp, tiktok=TikTok, flixbus=FlixBus, blablacar=BlaBlaCar, easyjet=easyJet, sumup=SumUp, izettle=iZettle, mcdonald's=McDonald's, mcdonalds=McDonalds, mcfit=McFit, intermarche=Intermarché, onlyfans=OnlyFans, mobilepay=MobilePay, youfone=Youfone, freenow=FreeNow, wework=WeWork, petsmart=PetSmart, autozone=AutoZone, gamestop=GameStop, o'reilly=O'Reilly, ubereats=UberEats, tfl=TfL, dm=dm, bol.com=bol.com, booking.com=Booking.com, hotels.com=Hotels.com, web.de=WEB.DE, uniqlo=Uniqlo, asos=ASOS, ga=GA, gea=GEA, dab=DAB, abm=ABM, xxxlutz=XXXLutz
	ikea=IKEA, hema=HEMA, obi=OBI, ing=ING, aok=AOK, adac=ADAC, axa=AXA, edf=EDF, ems=EMS, eni=Eni, ica=ICA, kfc=KFC, bmw=BMW, tui=TUI, ups=UPS, usps=USPS, ubs=UBS, abb=ABB, bp=BP, ee=EE, o2=O2, a1=A1, ao=AO, att=ATT, at&t=AT&T, h&m=H&M, c&a=C&A, b&q=B&Q, m&s=M&S, p&c=P&C, a&p=A&P, q8=Q8, k&h=K&H, t-mobile=T-Mobile, e.on=E.ON, e-on=E-ON, enbw=EnBW, ewe=EWE, huk=HUK, huk-coburg=HUK-Coburg, dak=DAK, bvg=BVG, mvg=MVG, hvv=HVV, rmv=RMV, vvs=VVS, kvb=KVB, db=DB, sbb=SBB, obb=ÖBB, öbb=ÖBB, zkb=ZKB, css=CSS, sncf=SNCF, ratp=RATP, bnp=BNP, sfr=SFR, maif=MAIF, macif=MACIF, mgen=MGEN, caf=CAF, cpam=CPAM, urssaf=URSSAF, dgfip=DGFIP, emt=EMT, tmb=TMB, iva=IVA, aeat=AEAT, bbva=BBVA, atm=ATM, atac=ATAC, tim=TIM, inps=INPS, acea=Acea, a2a=A2A, ns=NS, kpn=KPN, anwb=ANWB, duo=DUO, abn=ABN, asr=ASR, cz=CZ, vgz=VGZ, pge=PGE, pzu=PZU, pko=PKO, pkp=PKP, zus=ZUS, ztm=ZTM, mpk=MPK, rtv=RTV, euro-net=Euro-Net, sl=SL, sj=SJ, csn=CSN, seb=SEB, klm=KLM, lot=LOT, sas=SAS, iff=IFF, hsbc=HSBC, rac=RAC, aa=AA, dvla=DVLA, hmrc=HMRC, tv=TV, bbc=BBC, nhs=NHS, rspca=RSPCA, uk=UK, us=US, usa=USA, nyc=NYC, nyt=NYT, nytimes=NYTimes, irs=IRS, hbo=HBO, cvs=CVS, aldi=Aldi, ttc=TTC, lcbo=LCBO, saq=SAQ, pc=PC, iga=IGA, kia=Kia, mta=MTA, bart=BART, dmv=DMV, ymca=YMCA, amc=AMC, rei=REI, aaa=AAA, geico=GEICO, usaa=USAA, agl=AGL, nrma=NRMA, abc=ABC, anz=ANZ, nab=NAB, jb=JB, hi-fi=Hi-Fi, ato=ATO, hcf=HCF, mri=MRI, cd=CD, dvd=DVD, it=IT, ii=II, iii=III, iv=IV, gls=GLS, dhl=DHL, dpd=DPD, nsw=NSW, ev=EV, ivb=IVB, wwf=WWF, ard=ARD, zdf=ZDF, gez=GEZ, ltur=ltur, lbs=LBS, dkb=DKB, vw=VW, oamtc=ÖAMTC, öamtc=ÖAMTC, orf=ORF, gis=GIS, ogk=ÖGK, uniqa=UNIQA, ewz=ewz, iwb=IWB, sva=SVA, suva=Suva, ktm=KTM, abba=ABBA, ss=SS, st=St, dr=Dr, mr=Mr, mrs=Mrs, jr=Jr, nr=Nr, str=Str`)

// particles are small words inside names.
var particles = lines(`de, du, des, la, le, les, et, der, die, das, und, am, im, an, in, of, the, and, for, at, on, to, van, von, vom, zu, zum, zur, den, del, della, delle, dei, di, da, do, dos, e, y, i, el, los, las, los, en, sur, sous, aux, au, bei, auf, och, og, w, z, na, pod, op, het, 't, a`)

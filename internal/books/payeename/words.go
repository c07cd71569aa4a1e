package payeename

import "strings"

// lines returns the words of a table as a set. Words are in lower case, without accents and without
// punctuation at their ends.
func lines(table string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(table) {
		for part := range strings.SplitSeq(line, ",") {
			if part = strings.TrimSpace(part); part != "" {
				set[part] = true
			}
		}
	}
	return set
}

// phrases is a set of phrases. longest has the largest number of words in a phrase, by the phrase's
// first word.
type phrases struct {
	set     map[string]bool
	longest map[string]int
}

func phrased(table string) phrases {
	p := phrases{lines(table), map[string]int{}}
	for phrase := range p.set {
		words := strings.Fields(phrase)
		p.longest[words[0]] = max(p.longest[words[0]], len(words))
	}
	return p
}

func pairs(table string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(table) {
		for part := range strings.SplitSeq(line, ",") {
			if from, to, ok := strings.Cut(strings.TrimSpace(part), "="); ok {
				out[from] = to
			}
		}
	}
	return out
}

// fields are the fields of structured wordings that contain the payee's name, and the texts that
// end them.
var fields = []struct {
	begin string
	ends  []string
}{
	{"naam: ", []string{" omschrijving:", " iban:", " kenmerk:", " machtiging:", " incassant:", " bic:"}},
	{"/name/", []string{"/"}},
	{"name+", []string{" "}},
	{"beguenstigter/zahlungspflichtiger: ", []string{" iban", " verwendungszweck"}},
	{"auftraggeber: ", []string{" iban", " verwendungszweck", " buchungstext"}},
	{"empfanger: ", []string{" iban", " verwendungszweck", " buchungstext"}},
	{"creditor: ", []string{" iban", " mandate", " ref"}},
	{"beneficiario: ", []string{" concepto", " iban"}},
	{"beneficiaire: ", []string{" motif", " iban"}},
	{"odbiorca: ", []string{" tytul", " rachunek"}},
	{"lokalizacja: ", []string{" miasto", " kraj", " data"}},
	{" chez ", []string{" le ", " du "}},
	{" presso ", []string{" il ", " data ", " carta "}},
}

// leads describe the kind of payment at the beginning of a wording.
//
//nolint:dupword // phrases that begin with the one before them
var leads = phrased(`
	card payment, card payment to, card purchase, card transaction, card, card number, contactless, contactless payment, contactless purchase
	purchase, purchase at, pos purchase, pos, pos debit, pos withdrawal, pos transaction, pos refund, debit card purchase, debit purchase
	debit card, debit card payment, credit card purchase, checkcard, check card, check card purchase, checkcrd purchase, visa purchase, visa debit purchase
	visa debit, visa, mastercard, mastercard purchase, maestro, amex, purchase authorized on, recurring payment authorized on, recurring payment
	recurring card purchase, recurring debit card, recurring, direct debit, direct debit payment, direct debit payment to, dd, d/d, standing order, so, s/o
	faster payment, faster payments receipt, faster payments, fpi, fpo, bill payment, bill pay, bill payment to, online payment, online payment to, bacs, bgc, chaps
	bank transfer, transfer to, transfer from, online transfer to, online transfer from, online transfer, transfer, e-transfer to, e-transfer from, e-transfer
	interac e-transfer to, interac e-transfer from, interac e-transfer, interac e-transfer sent, interac e-transfer received, send e-tfr, interac purchase, interac retail purchase, point of sale, point of sale purchase, idp purchase
	point of sale - interac retail purchase, contactless interac purchase, preauthorized debit, pre-authorized debit, pre-authorized payment, pad, misc payment, online bill payment, internet bill payment
	ach debit, ach credit, ach payment, ach withdrawal, ach, electronic withdrawal, electronic deposit, orig co name, web pmt, ext trnsfr, zelle payment to, zelle payment from, zelle to, zelle from, zelle transfer to, zelle transfer from, zelle
	venmo payment to, venmo cashout, cash app, eftpos purchase, eftpos, eftpos debit, eftpos credit, osko payment to, osko payment from, osko payment, osko, payid payment to, npp payment, direct credit, direct entry, bpay, bpay payment to, visa-
	payment to, payment from, payment received from, payment received, payment, paid to, refund, refund from, pos return, purchase return, return, merchandise return, credit voucher, reversal, reversal of, chargeback, apple pay, google pay, samsung pay, mobile payment
	pending, pending -, pending transaction, authorisation, authorization, reservation, non-sterling transaction, non-gbp transaction, int'l, foreign purchase, cr, dr, ddr, so to, deposit, giro, sepa direct debit, sepa credit transfer, sepa payment, sepa, sepa core direct debit, credit, debit

	kartenzahlung, kartenzahlung bei, kartenumsatz, karte, kartenkauf, kreditkartenzahlung, kreditkarte, debitkarte, debitkartenzahlung, debitkartenumsatz, visa debitkartenumsatz, visa-debitkartenumsatz, visa debitkartenumsatz vom, visa kartenumsatz
	girocard, girocard zahlung, ec, ec-kartenzahlung, ec-karte, ec-lastschrift, elv, elv lastschrift, kontaktlos, kontaktlose zahlung, bezahlung, bezahlung karte, bezahlung mit karte, zahlung, zahlung an, zahlung mit karte, apple pay zahlung, online-zahlung, onlinezahlung
	lastschrift, sepa-lastschrift, sepa lastschrift, basislastschrift, sepa-basislastschrift, folgelastschrift, erstlastschrift, einmallastschrift, sepa-elv-lastschrift, lastschrifteinzug, lastschrift von, lsv, lsv belastung, einzugsermachtigung, einzug
	gutschrift, gutschrift von, gehalt/rente, lohn/gehalt, dauerauftrag, dauerauftrag an, dauerauftragsgutschrift, uberweisung, ueberweisung, uberweisung an, ueberweisung an, uberweisung von, sepa-uberweisung, sepa-ueberweisung, sepa uberweisung, sepa-uberweisung an, uberweisungsgutschrift, echtzeituberweisung, echtzeit-uberweisung, onlineuberweisung, online-uberweisung, online-ueberweisung, terminuberweisung, euro-uberweisung, gutschr. uberweisung, gutschrift uberweisung, internet-banking
	kauf, einkauf, einkauf bei, kauf/dienstleistung, kauf/dienstleistung vom, kauf/online-shopping, kauf/online-shopping vom, kauf/online shopping vom, einkauf debitkarte, einkauf zkb visa debit card nr, einkauf twint, belastung twint, twint, twint kauf, twint zahlung, twint belastung, twint gutschrift, twint geld senden, kartennummer, belastung, belastung vom, vergutung, vergutung von, ebanking auftrag, e-banking auftrag, ebill, ebill-rechnung, ebill rechnung, qr-zahlung, auftrag, maestro-zahlung, maestro zahlung, debit direct, postcard
	rueckerstattung, ruckerstattung, erstattung, ruckzahlung, retoure, storno, gutschrift karte, pos at, pos ch, e-com, e-comm, ecom, ecommerce, zahlungsreferenz, vorgemerkt, umsatz vom

	carte, cb, carte du, cb du, paiement cb, paiement carte, paiement par carte, paiement par carte bancaire, achat cb, achat, achat carte, achat par carte, facture carte, facture carte du, facturette cb, paiement psc, paiement mobile, paiement sans contact, sans contact, paiement, paiement a, paiement chez
	prlv sepa, prlv, prelevement, prelevement sepa, prelevement de, prlv europeen, prlv europeen de, prlvt, prelevmnt, vir sepa, vir inst, vir, virement, virement de, virement a, virement sepa, virement sepa de, virement sepa recu, virement instantane, virement instantane de, virement instantane a, virement emis, virement emis vers, virement recu, virement recu de, virement permanent, virement en votre faveur, vir recu, vir emis, vir sepa recu, vir sepa recu /de, virement pour, vir de, vir permanent, vir perm
	remboursement, remboursement cb, avoir carte, avoir cb, avoir, annulation carte, retour marchandise, achat/service, achat/service du, achat/shopping en ligne du, achat/prestation de service du, echeance, telepaiement, tip, tip sepa

	compra, compra en, compra tarj, compra tarjeta, compra con tarjeta, compra con tarjeta en, compra tarjeta en, tarjeta, tarj, tarj. , pago, pago en, pago con tarjeta, pago con tarjeta en, pago tarjeta, pago movil en, pago movil, pago contactless, pago online, pago de, recibo, recibo de, adeudo, adeudo recibo, adeudo de, adeudo sepa, adeudo directo, adeudo a su cargo, cargo, cargo de, cargo recibo, domiciliacion
	bizum, bizum a, bizum de, bizum a favor de, bizum enviado a, bizum enviado, bizum recibido, bizum recibido de, transferencia, transferencia a, transferencia de, transferencia a favor de, transferencia recibida, transferencia recibida de, transferencia inmediata a favor de, transferencia inmediata, transferencia emitida a, transf, transf a, transf de, transf. a favor de, trf, traspaso, traspaso a, traspaso de, orden permanente, nomina, nomina de, devolucion, devolucion compra, devolucion compra en, devolucion compra tarj, devolucion tarjeta, abono, abono compra, anulacion compra, ingreso, ingreso de

	pagamento, pagamento pos, pagamento tramite pos, pagamento carta, pagamento con carta, pagamento su pos, pagamento presso, pagamento contactless, pagamento online, pagamento e-commerce, pagobancomat, pagobancomat pos, pos carta, acquisto, acquisto presso, acquisto pos, acquisto carta, operazione carta, operazione, spesa carta, utilizzo carta, carta, carta di debito, carta di credito, addebito, addebito sdd, addebito diretto, addebito diretto sdd, addebito sepa dd, addebito per, add. sdd, sdd, sepa dd, rid
	bonifico, bonifico a, bonifico da, bonifico sepa, bonifico a favore di, bonifico a vostro favore, bonifico a vostro favore da, bonifico in uscita, bonifico in entrata, bonifico istantaneo, bonifico istantaneo a favore di, bonifico istantaneo da, bonifico disposto a favore di, disposizione di bonifico, disposizione, vostra disposizione a favore di, giroconto, giroconto a, accredito, accredito da, accredito stipendio, emolumenti, stipendio, storno pagamento, storno acquisto, rimborso, rimborso da, ricarica

	bea, bea betaalpas, betaalpas, betaalautomaat, pinbetaling, pin, contactloos, contactloze betaling, betaling, betaling aan, google pay betaalpas, apple pay betaalpas, ideal, ideal betaling, ideal betaling aan, sepa ideal, sepa overboeking, sepa incasso, sepa incasso algemeen doorlopend, sepa incasso algemeen eenmalig, sepa periodieke overb, incasso, automatische incasso, overboeking, overboeking aan, overboeking van, overschrijving, overschrijving naar, overschrijving van, periodieke overboeking, doorlopende opdracht, europese domiciliering, domiciliering, betaling met bancontact, bancontact, betaling met debetkaart, tikkie, terugbetaling, retourpin, restitutie, bijschrijving, salaris, nr:

	platnosc, platnosc karta, platnosc karta debetowa, platnosc blik, platnosc web, platnosc web - kod mobilny, platnosc internetowa, blik, blik zakup, blik zakup e-commerce, blik p2p, zakup, zakup przy uzyciu karty, zakup przy uzyciu karty w kraju, zakup karta, zakup blik, transakcja, transakcja karta, transakcja karta platnicza, transakcja bezgotowkowa, operacja karta, dop mc, dop visa, nr karty, przelew, przelew do, przelew na rzecz, przelew od, przelew wychodzacy, przelew przychodzacy, przelew zewnetrzny, przelew zewnetrzny wychodzacy, przelew zewnetrzny przychodzacy, przelew srodkow, przelew natychmiastowy, przelew ekspresowy, polecenie zaplaty, zlecenie stale, stale zlecenie, obciazenie, uznanie, zwrot, zwrot od, zwrot platnosci karta, zwrot towaru, wynagrodzenie

	kortkop, kortkop i butik, kortkop/uttag, kortkop online, kort, kortbetalning, kortbetaling, korttransaktion, kontaktlos betalning, reservation kortkop, autogiro, bankgiro, bankgirobetalning, bg, bg-bet, bg-betalning, bg betalning, plusgiro, pg, pg betalning, e-faktura, efaktura, swish, swish till, swish fran, swish betalning, swish mottagen, swish skickad, swishbetalning, overforing, overforing till, overforing fran, betalning, betalning till, stamdato, insattning, insattning fran, lon, aterbetalning, retur, kop, internetbetalning, dankort, dankort-kob, visa/dankort, dankort-nota, betalingsservice, bs betaling, mobilepay, mobilepay betaling, varekjop, visa vare, avtalegiro, vipps, vipps betaling, overfoersel, overforsel, korttiosto, korttimaksu`)

// connectors are words that may follow one of leads.
var connectors = phrased(`
	to, from, at, on, by, with, for, in, of, an, bei, von, vom, am, fur, in, de, du, a, au, chez, par, en, a favor de, da, di, presso, il, bij, van, aan, naar
	do, od, dla, w, na rzecz, till, fran, til, fra, i, -, –, /, |, :, vers, pour, nr, no, n°, num, nr., kartennummer, card, karte, carte, tarj, tarjeta, carta, xx, x, re, ref`)

// cash describes money that people get from a machine or pay to their own card. It has no other
// payee.
var cash = phrased(`
	credit card payment, credit card, card payment thank you, atm withdrawal, atm cash withdrawal, atm, cash withdrawal, cash machine, cash machine withdrawal, cashpoint, atm fee, non-chase atm withdraw, cash advance, atm deposit, atm wdl, withdrawal atm, abm withdrawal, cash out
	bargeldauszahlung, bargeld, geldautomat, bargeldabhebung, ga, geldautomatenverfugung, auszahlung geldautomat, bargeldauszahlung geldautomat, auszahlung, bankomat, bancomat, bargeldbezug, bezug bancomat, bankomatbezug, behebung, behebung automat, behebung bankomat, sb-auszahlung, barauszahlung
	retrait dab, retrait, retrait gab, retrait carte, retrait especes, retrait au distributeur, retrait distributeur
	reintegro cajero, reintegro, retirada cajero, retirada de efectivo, disposicion en cajero, disp. cajero, retirada efectivo, efectivo cajero
	prelievo bancomat, prelievo, prelievo atm, prelievo contante, prelievo sportello
	gea geldautomaat, gea betaalpas, gea, geldmaat, geldautomaat, geldopname, opname geldautomaat, contante opname
	wyplata z bankomatu, wyplata w bankomacie, wyplata gotowki, wyplata bankomat, wyplata, wyplata blik
	uttag bankomat, bankomatuttag, kontantuttag, uttag, uttag automat, kontanthaevning, havekort, minibank, kontantuttak, automatnosto, nosto`)

// cuts are words that end a name.
var cuts = lines(`
	ref, reference, refnr, referenz, referenznummer, eref, svwz, kref, mref, cred, abwa, mandate, mandat, mandatsref, mandatsreferenz, mandato, mandaat, machtiging, incassant, iban, bic, swift, omschrijving, kenmerk, verwendungszweck, buchungstext, end-to-end, end-to-end-ref, endtoend, e2e
	txn, trx, trxid, transid, transactionid, folgenr, kartennr, kartennummer, kartnr, kartenr, kortnr, kortnummer, pasnr, volgnr, terminalid, tid, mid, cuenta, concepto, motif, libelle, causale, tytul, tytulem, rachunek, nadawca, ocr, datum, valuta, wertstellung, debitk, debitkarte, girocard, authcode, autorisation, id, rum, ics, crid, glaubiger-id, glaeubiger-id, exchange, rate, fx, kurs, eur, usd, gbp, chf, pln, sek, cad, aud, nok, dkk, comision, commission, fee, gebuhr, card`)

// labels are words that end a name if a number follows.
var labels = lines(`
	card, karte, carte, carta, tarjeta, tarj, kort, kaart, pas, karta, kartennummer, nr, no, num, numero, number, n°, nº, fil, filiale, filiala, store, shop, str, unit, ste, terminal, term, t-id, auto, kasse, kiosk, rg, re, rechnung, rechnungsnr, invoice, inv, facture, factura, fattura, fv, faktura, kunde, kundennr, kd-nr, kdnr, client, customer, cust, acct, account, contract, vertrag, contrato, contrat, date, data, fecha, le, on, am, vom, du, del, dal, il, op, dnia, den, um, uhr, at, cb, visa, mc, mastercard, maestro, order, bestellung, auftrag, commande, pedido, ordine, zamowienie, order-nr, policy, police, poliza, polizza, val, value, ca, tel, ph, phone, bld, pk, plz, w, xx, x, via, calle, avda, al, st, rd, ave, blvd, ul`)

// thanks are texts of shops after their names.
var thanks = phrased(`
	sagt danke, dankt, danke, sagt vielen dank, vielen dank, danke fur ihren einkauf, thank you, thanks, merci, gracias, value date, foreign currency, help center, customer service, your order, ihr einkauf bei, ihr einkauf, beleg, apple pay, google pay, samsung pay, contactless, kontaktlos, sans contact, contactloos, in gb, on line, valuta data, date valeur, fecha valor, recurring, ec-pos, eur +, et cie, europe sarl`)

// legal are legal forms that an address or a town follows.
var legal = phrased(`
	gmbh, mbh, ggmbh, gesmbh, ges.m.b.h, ag, kg, kgaa, ohg, ug, eg, e.g, e.v, ev, e.k, ek, gbr, partg, ag & co, inc, incorporated, llc, l.l.c, ltd, limited, plc, llp, corp, corporation, pty, pte, sarl, s.a.r.l, sàrl, sas, s.a.s, sasu, eurl, s.a, s.c.a, s.l, s.l.u, slu, s.a.u, sau, spa, s.p.a, srl, s.r.l, s.n.c, snc, sapa, b.v, bv, n.v, nv, vof, v.o.f, sp z o.o, sp z o o, sp.z o.o, sp z o o, sp z oo, spzoo, sp.zo.o, sp.z.o.o, sp. j, sp. k, sp.k, oy, oyj, aps, a/s, gmbh&co, d.o.o, s.r.o, kft, genossenschaft`)

// endings are legal forms and other words that are left out only at the end. Elsewhere they can be
// part of a name.
var endings = lines(`
	sa, sl, ab, as, se, co, company, cie, group, holding, int, intl, international, europe, deutschland, france, espana, italia, nederland, polska, sverige, osterreich, schweiz, suisse, gesellschaft, store, stores, online, onlineshop, online-shop, filiale, debit, dd, pmt, payment, payments, purchase, ach, web, ppd, billpay, bill, recurring, autopay, auto-pay, subscription, direct, marketplace, mktplace, mktpl, mktp, pos, ecom, e-com, internet`)

// states are codes of states in the United States, Canada and Australia.
var states = lines(`
	al, ak, az, ar, ca, co, ct, de, fl, ga, hi, id, il, in, ia, ks, ky, la, me, md, ma, mi, mn, ms, mo, mt, ne, nv, nh, nj, nm, ny, nc, nd, oh, ok, or, pa, ri, sc, sd, tn, tx, ut, vt, va, wa, wv, wi, wy, dc
	on, qc, bc, ab, mb, sk, ns, nb, nl, pe, nsw, vic, qld, tas, act, nt, sa`)

var countries = lines(`
	us, usa, gb, gbr, uk, de, deu, ger, fr, fra, es, esp, it, ita, nl, nld, pl, pol, ch, che, at, aut, se, swe, ca, can, au, aus, ie, irl, lu, lux, be, bel, dk, dnk, no, nor, fi, fin, pt, prt, cz, cze, ee, est, lt, ltu, cy, mt, mlt, hu, hun, ro, sk, si, gr, nz, jp`)

// doubtful are codes of places that are also words.
var doubtful = lines(`ab, sa, nv, nt, in, or, me, ok, hi, co, la, no, as, at, de, es, it, is, be, se, on, ma, pa, id, al, il, ne, est, pol, can, fin, act, us, si, mo, ch, sc`)

// towns are left out after a card payment, and before the code of a state or a country.
var towns = lines(`
	new york, brooklyn, bronx, queens, los angeles, chicago, houston, phoenix, philadelphia, san antonio, san diego, dallas, san jose, austin, jacksonville, fort worth, columbus, charlotte, san francisco, indianapolis, seattle, denver, washington, boston, el paso, nashville, detroit, oklahoma city, portland, las vegas, memphis, louisville, baltimore, milwaukee, albuquerque, tucson, fresno, sacramento, kansas city, mesa, atlanta, omaha, colorado springs, raleigh, miami, long beach, virginia beach, oakland, minneapolis, tampa, arlington, new orleans, cleveland, honolulu, anaheim, orlando, st louis, saint louis, pittsburgh, cincinnati, st paul, newark, jersey city, hoboken, berkeley, palo alto, mountain view, santa monica, santa clara, santa cruz, santa barbara, walnut creek, sunnyvale, cupertino, redmond, bellevue, tacoma, spokane, boise, salt lake city, richmond, rochester, buffalo, cambridge, somerville, ann arbor, madison, irvine, pasadena, burbank, glendale
	toronto, montreal, vancouver, calgary, ottawa, edmonton, mississauga, winnipeg, hamilton, quebec, brampton, surrey, laval, halifax, london, markham, vaughan, victoria, burnaby, regina, saskatoon, kitchener, windsor
	sydney, melbourne, brisbane, perth, adelaide, canberra, hobart, darwin, gold coast, newcastle, bondi, parramatta, richmond, fitzroy, surry hills, chatswood, geelong
	birmingham, manchester, leeds, glasgow, liverpool, bristol, sheffield, edinburgh, cardiff, leicester, nottingham, belfast, brighton, oxford, reading, york, bath, croydon, hackney, camden, islington, southampton, plymouth, aberdeen, dundee, norwich, exeter, milton keynes, slough, dublin, cork, galway, limerick
	berlin, hamburg, munchen, muenchen, munich, koln, koeln, cologne, frankfurt, frankfurt am main, stuttgart, dusseldorf, duesseldorf, leipzig, dortmund, essen, bremen, dresden, hannover, nurnberg, nuernberg, duisburg, bochum, wuppertal, bielefeld, bonn, munster, muenster, karlsruhe, mannheim, augsburg, wiesbaden, monchengladbach, braunschweig, kiel, chemnitz, aachen, halle, magdeburg, freiburg, krefeld, mainz, lubeck, luebeck, erfurt, rostock, kassel, potsdam, saarbrucken, heidelberg, regensburg, ulm, wurzburg, jena, ingolstadt, oldenburg, gottingen, luxembourg, luxemburg
	wien, vienna, graz, linz, salzburg, innsbruck, klagenfurt, villach, wels, sankt polten, st polten, dornbirn, bregenz
	zurich, zuerich, geneve, genf, genf/geneve, basel, lausanne, bern, winterthur, luzern, st gallen, lugano, biel, thun, zug, aarau, baden, chur, schaffhausen, dietikon
	paris, marseille, lyon, toulouse, nice, nantes, montpellier, strasbourg, bordeaux, lille, rennes, reims, le havre, saint etienne, toulon, grenoble, dijon, angers, nimes, villeurbanne, aix en provence, brest, le mans, amiens, tours, limoges, clermont ferrand, besancon, metz, perpignan, orleans, rouen, mulhouse, caen, nancy, boulogne, montreuil, versailles, courbevoie, issy, levallois
	madrid, barcelona, valencia, sevilla, zaragoza, malaga, murcia, palma, las palmas, bilbao, alicante, cordoba, valladolid, vigo, gijon, hospitalet, granada, vitoria, oviedo, santander, pamplona, almeria, san sebastian, burgos, salamanca, getafe, alcobendas
	roma, milano, napoli, torino, palermo, genova, bologna, firenze, bari, catania, venezia, verona, messina, padova, trieste, brescia, parma, prato, modena, reggio emilia, perugia, ravenna, livorno, cagliari, rimini, bergamo, bolzano, trento, monza, pisa, lucca, siena
	amsterdam, rotterdam, den haag, 's-gravenhage, utrecht, eindhoven, groningen, tilburg, almere, breda, nijmegen, apeldoorn, haarlem, arnhem, zaandam, amersfoort, den bosch, 's-hertogenbosch, maastricht, leiden, dordrecht, zoetermeer, zwolle, deventer, delft, hoofddorp, schiphol, antwerpen, gent, brussel, bruxelles, brugge, leuven
	warszawa, krakow, lodz, wroclaw, poznan, gdansk, szczecin, bydgoszcz, lublin, bialystok, katowice, gdynia, czestochowa, radom, sosnowiec, torun, kielce, rzeszow, gliwice, zabrze, olsztyn, sopot, opole
	stockholm, goteborg, gothenburg, malmo, uppsala, vasteras, orebro, linkoping, helsingborg, jonkoping, norrkoping, lund, umea, gavle, solna, sundbyberg, kista, kobenhavn, copenhagen, aarhus, odense, oslo, bergen, trondheim, stavanger, helsinki, espoo, tampere
	guadalajara, lisboa, porto, praha, budapest, tallinn, vilnius, riga, san bruno, menlo park, bentonville`)

// civic are words before a town that belong to it, such as public utilities, universities and
// clubs.
var civic = lines(`
	stadtwerke, stadt, stadtverwaltung, stadtkasse, gemeinde, hotel, taxi, taxis, university, finanzamt, amtsgericht, landratsamt, jobcenter, hydro, universitat, universite, universidad, universita, uni, bank, banque, banco, banca, fc, ac, as, sc, sv, ssc, museum, musee, museo, zoo, messe, flughafen, airport, aeroport, aeroporto, oper, opera, theater, theatre, teatro, verkehrsbetriebe, sparkasse, volksbank, stadtsparkasse, kreissparkasse, ville, mairie, comune, ayuntamiento, gemeente, city, region, land, port, parking, parkhaus, volkshochschule, vhs, tsv, philharmonie, metro, tram, bus, casino, club, cafe, bar, restaurant, ristorante, trattoria, brasserie, bistro, pizzeria, galeria, hospital, klinikum, hopital, ospedale, miasto, urzad, the, le, la, el, il, radio, urban, little`)

// joining are words that connect a town with the name before it.
var joining = lines(`of, de, di, du, da, von, van, zu, in, der, the, la, le, el, and, und, et, y, e, i, &, am, an, im, bei, sur, del, della, do, w, new, old, little, st, saint, san, fc, bank, stadtwerke, stadt, cafe, hotel, taxi, groupe, crown`)

// tops are the last parts of web addresses.
var tops = lines(`com, de, net, org, co.uk, uk, fr, es, it, nl, pl, ch, at, se, ca, au, eu, io, co, me, tv, us, ie, be, dk, no, fi, info, biz, shop, app, online, store, ai, cc, gg, lu, pt, cz`)

// domains are names that people say together with their last part.
var domains = lines(`booking.com, bol.com, hotels.com, monday.com, match.com, last.fm, fly.io, cars.com, about.me, x.com, web.de`)

// known are names with digits that look like codes.
var known = lines(`h2o, 3m, o2, a1, n26, s24, m&s, t2, g2a, b12, ing2, e.on, 1und1, 1&1, check24, autoscout24, immobilienscout24, immoscout24, scout24, home24, wohnwelt24, p&c, otto24, 24pay, 4finance, 9gag, 99ranch, 888poker, 500px, 23andme, 365online, 1password, 7-eleven, 7eleven, phones4u, toys4u, e5, k2, x5, office365, microsoft365, m365, j5create, motel6, super8, w12, u2, 3ireland, play24, p24, przelewy24, zus24, ikea365, blocket24, tv4, tv2, canal+, disney+, paramount+, apple tv+, f24, 2k, c6, 123rf, 1a, 2degrees, 101domain, auto1, formel1`)

// numbered are names that begin or end with a number.
var numbered = phrased(`100 montaditos, rema 1000, motel 6, super 8, forever 21, studio 54, pier 1, route 66, channel 4, channel 5, bar 44, pier 39, studio 6, hostel 1, level 3, rewe 24, five 5, gate 1, area 51, hotel 1, apollo 11, union 76, chevron 76, levels 27, warehouse 13, cafe 21, club 99, formule 1, formula 1, france 2, radio 3, tele 2, tele 5, pro 7, kanal 5, bvlgari 7`)

// cards are kinds of cards, as they appear before the last digits of a card number.
var cards = lines(`cb, visa, mc, card, carte, karte, ec, x, xx, mastercard, maestro, amex`)

// tiers are kinds of cards, as they appear after the name of their network.
var tiers = lines(`gold, silver, platinum, classic`)

// payments are the endings after which a wording that begins with a card names no payee.
var payments = lines(`pmt, payment, payments`)

// months are abbreviations in dates that are written without spaces.
var months = lines(`jan, feb, mar, apr, may, jun, jul, aug, sep, sept, oct, nov, dec, mai, okt, dez, maj, fev, avr, juin, juil, aou, ene, abr, ago, dic, gen, mag, giu, lug, set, ott`)

package household

import "time"

// A day is one day of the diary.
type day struct {
	date    time.Time
	month   int // since the year 0, so that prices depend on the calendar and not on Options
	closed  bool
	journey bool
	busy    int     // its share of everyday rows, as a running sum over the diary
	orders  []uint8 // standing orders that are due on it
}

func newDiary(start, end time.Time) []day {
	var diary []day
	busy := 0
	for date := start; !date.After(end); date = date.AddDate(0, 0, 1) {
		d := day{date: date, month: monthOf(date), closed: closed(date), journey: journey(date)}
		busy += busyness(date)
		d.busy = busy
		for i := range orders {
			if orders[i].due(date) {
				d.orders = append(d.orders, uint8(i))
			}
		}
		diary = append(diary, d)
	}
	return diary
}

// rows returns how many rows the day's standing orders make.
func (d *day) rows() int {
	n := 0
	for _, i := range d.orders {
		n += orders[i].rows()
	}
	return n
}

func monthOf(date time.Time) int {
	year, month, _ := date.Date()
	return year*12 + int(month) - 1
}

// busyness returns the weight of a day, which depends on its weekday and season.
func busyness(date time.Time) int {
	week := [7]int{70, 90, 95, 95, 105, 125, 140} // from Sunday
	season := [12]int{88, 90, 96, 98, 100, 100, 106, 104, 97, 99, 106, 126}
	percent := 100
	if closed(date) && date.Weekday() != time.Sunday {
		percent = 55
	}
	return week[date.Weekday()] * season[date.Month()-1] * percent / 100
}

// closed reports whether a date is a Sunday or a holiday with a fixed date, when German shops are
// closed.
func closed(date time.Time) bool {
	if date.Weekday() == time.Sunday {
		return true
	}
	_, month, dayOf := date.Date()
	switch int(month)*100 + dayOf {
	case 101, 308, 501, 1003, 1225, 1226:
		return true
	}
	return false
}

// journey reports whether the household is abroad: in a ski week, a summer and an autumn holiday.
func journey(date time.Time) bool {
	_, month, dayOf := date.Date()
	switch at := int(month)*100 + dayOf; {
	case 203 <= at && at <= 210, 718 <= at && at <= 805, 1011 <= at && at <= 1018:
		return true
	}
	return false
}

// workday moves a date on which banks are closed to an earlier day (by -1) or a later one (by +1).
// With by 0 it returns the date unchanged.
func workday(date time.Time, by int) time.Time {
	for by != 0 && (date.Weekday() == time.Saturday || closed(date)) {
		date = date.AddDate(0, 0, by)
	}
	return date
}

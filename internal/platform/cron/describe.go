package cron

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

const (
	everyMinute = 1<<60 - 1
	everyHour   = 1<<24 - 1
	everyDay    = 1<<32 - 2
	everyMonth  = 1<<13 - 2
	everyWeek   = 1<<7 - 1

	spelledOut = 6 // times of day that are listed one by one
)

// Describe says in English when the schedule is due: "every Monday at 07:00".
func (s Schedule) Describe() string {
	var out string
	days := s.describeDays()
	switch times, listed := s.describeTimes(); {
	case listed:
		out = days + " at " + times
	case days == "every day":
		out = times
	default:
		out = times + ", " + days
	}
	if s.own {
		out += " (" + s.zone.String() + ")"
	}
	return out
}

// describeTimes describes the times of day, and reports whether it lists them one by one.
func (s Schedule) describeTimes() (text string, listed bool) {
	hours, minutes := values(s.hours), values(s.minutes)
	if len(hours)*len(minutes) <= spelledOut {
		var all []string
		for _, h := range hours {
			for _, m := range minutes {
				all = append(all, fmt.Sprintf("%02d:%02d", h, m))
			}
		}
		return and(all), true
	}
	switch step := every(minutes, 60); {
	case s.minutes == everyMinute:
		text = "every minute"
	case step == 60 && s.hours == everyHour:
		return "every hour", false
	case step > 0 && step < 60:
		text = fmt.Sprintf("every %d minutes", step)
	case len(minutes) == 1 && minutes[0] == 1:
		text = "1 minute past the hour"
	case len(minutes) == 1 && minutes[0] > 0:
		text = fmt.Sprintf("%d minutes past the hour", minutes[0])
	case len(minutes) == 1:
		text = "on the hour"
	default:
		text = "at minutes " + and(ranges(minutes, strconv.Itoa))
	}
	if s.hours != everyHour {
		text += ", in the hours " + and(ranges(hours, func(h int) string { return fmt.Sprintf("%02d", h) }))
	}
	return text, false
}

// every returns the step if the values are evenly spaced from 0 on and divide the whole, else 0.
func every(values []int, whole int) int {
	step := whole / len(values)
	for i, v := range values {
		if v != i*step || step*len(values) != whole {
			return 0
		}
	}
	return step
}

func (s Schedule) describeDays() string {
	of := ""
	if s.months != everyMonth {
		of = and(ranges(values(s.months), func(m int) string { return time.Month(m).String() }))
	}
	week := values(s.weekdays)
	if len(week) > 1 && week[0] == 0 { // put Sunday last, because the week begins on Monday here
		week = append(week[1:], 7)
	}
	named := and(ranges(week, func(d int) string { return time.Weekday(d % 7).String() }))
	if !strings.Contains(named, " to ") {
		named = "every " + named
	}
	dated := "the " + and(ranges(values(s.days), ordinal))
	var out string
	switch {
	case s.either:
		out = "on " + dated + " and " + named
	case s.days == everyDay && s.weekdays == everyWeek:
		out = "every day"
	case s.days == everyDay:
		out = named
	case s.weekdays == everyWeek && of != "":
		return "on " + dated + " of " + of
	case s.weekdays == everyWeek:
		return "on " + dated + " of every month"
	default:
		out = named + " that is " + dated
	}
	if of != "" {
		out += " in " + of
	}
	return out
}

// values lists the members of a set.
func values(set uint64) []int {
	var out []int
	for ; set != 0; set &= set - 1 {
		out = append(out, bits.TrailingZeros64(set))
	}
	return out
}

// ranges prints values, three or more in a row as a range.
func ranges(values []int, text func(int) string) []string {
	var out []string
	for i := 0; i < len(values); {
		last := i
		for last+1 < len(values) && values[last+1] == values[last]+1 {
			last++
		}
		if last-i < 2 {
			last = i
			out = append(out, text(values[i]))
		} else {
			out = append(out, text(values[i])+" to "+text(values[last]))
		}
		i = last + 1
	}
	return out
}

// and joins words as in a sentence: "a, b and c".
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

func ordinal(n int) string {
	switch {
	case n%10 == 1 && n != 11:
		return strconv.Itoa(n) + "st"
	case n%10 == 2 && n != 12:
		return strconv.Itoa(n) + "nd"
	case n%10 == 3 && n != 13:
		return strconv.Itoa(n) + "rd"
	}
	return strconv.Itoa(n) + "th"
}

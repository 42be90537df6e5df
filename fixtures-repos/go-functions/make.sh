#!/bin/sh
# Dates: one commit changes four functions, and one statement breaks the days of a month.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/out.js
END
put javascript.sed <<'END'
# Makes JavaScript of the Go of this program, which uses little of the language.
/^package /d
/^import /d
s/^func ([A-Za-z]+)\(([^)]*)\).*\{$/function \1(\2) {/
/^function/s/ (int|string|bool)([,)])/\2/g
s/^(\t*)(for|if) (.*) \{$/\1\2 (\3) {/
s/\} else if (.*) \{$/} else if (\1) {/
s/([a-z]+) := /let \1 = /g
s/^(\t*)var ([a-z]+) (int|bool)$/\1let \2 = 0/
s/fmt\.Println/console.log/
END
put days.go <<'END'
package main

import "fmt"

// isLeap says whether a year has a day more.
func isLeap(year int) bool {
	return year%4 == 0 && (year%100 != 0 || year%400 == 0)
}

// daysOf gives the length of a month.
func daysOf(month, year int) int {
	if month == 2 {
		if isLeap(year) {
			return 29
		}
		return 28
	}
	if month == 4 || month == 6 || month == 9 || month == 11 {
		return 30
	}
	return 31
}

// dayOfYear gives the number of a day in its year, from 1.
func dayOfYear(day, month, year int) int {
	var days int
	for m := 1; m < month; m++ {
		days += daysOf(m, year)
	}
	return days + day
}

// between gives the days from one date to another one of the same year.
func between(day, month, otherDay, otherMonth, year int) int {
	return dayOfYear(otherDay, otherMonth, year) - dayOfYear(day, month, year)
}

func main() {
	fmt.Println(between(31, 1, 1, 3, 2000), between(30, 6, 1, 9, 2001))
}
END
put_test
commit ada 0 'Count the days between two dates'
news bob 'Announce the first version'
for topic in weekdays calendars; do news dee "Collect wishes about $topic"; done

before days.go '	return year%4 == 0' <<'END'
	if year < 0 {
		return isLeap(0 - year)
	}
END
swap days.go 'month == 4 || month == 6 || month == 9 || month == 11' 'month == 4 || month == 6 || month == 8 || month == 9 || month == 11'
replace days.go '	var days int' <<'END'
	if day < 1 {
		return 0
	}
	var days int
END
replace days.go '	return dayOfYear(otherDay, otherMonth, year) - dayOfYear(day, month, year)' <<'END'
	first := dayOfYear(day, month, year)
	last := dayOfYear(otherDay, otherMonth, year)
	if last < first {
		return first - last
	}
	return last - first
END
next cho 'Count the days in both directions'
news eli 'Greet the meeting in Oslo'
news bob 'Thank the contributors'
finish

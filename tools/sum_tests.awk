# Sums what a log of CTest says: the summary lines of doctest, and one for each test without test cases. Prints a line for
# each test that failed or ended without a summary, and last `sum PASSED FAILED SKIPPED`.
/^[0-9]+\/[0-9]+ Testing: / {
  name = $3
  cases = badCases = 0
  summary = ""
}
/^\[doctest\] test cases:/ {
  summary = $0
  line = $0
  gsub(/[^0-9]+/, " ", line)
  split(line, number, " ")  # all, passed, failed, skipped
  cases = number[2]
  badCases = number[3]
}
/^Left out: / && !($0 in leftOut) {
  leftOut[$0] = 1
  ++skipped
}
/^Test Passed\.$/ { passed += summary == "" ? 1 : cases }
/^Test (Failed|Timeout)\.$|^Test not run|^Unable to find executable/ {
  passed += cases
  failed += badCases > 0 ? badCases : 1
  print "FAILED: " name (summary == "" ? ": it ended without a summary" : "")
}
/^Test Skipped\.$/ { ++skipped }
END { print "sum", passed + 0, failed + 0, skipped + 0 }

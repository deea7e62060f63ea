// Keep the namespace's counters of current notes
MATCH (s:Namespace {name: $namespace})
SET s.notes = s.notes + $notes, s.terms = s.terms + $terms, s.erasures = s.erasures + $erasures

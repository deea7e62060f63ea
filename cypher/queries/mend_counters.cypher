// Set the namespace's counters to what there is
MATCH (s:Namespace {name: $namespace})
SET s.notes = $notes, s.terms = $terms, s.erasures = s.erasures + 1

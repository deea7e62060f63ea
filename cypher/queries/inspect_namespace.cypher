// The namespace's counters beside what there is
OPTIONAL MATCH (s:Namespace {name: $namespace})
CALL () {
  MATCH (n:Note {namespace: $namespace})
  WHERE n.id IS NOT NULL AND NOT n.archived
  RETURN count(n) AS notes, coalesce(sum(n.term_count), 0) AS terms
}
CALL () {
  MATCH (o:Source {namespace: $namespace})
  WHERE o.id IS NOT NULL AND NOT EXISTS { (o)<-[:FROM]-() }
  RETURN collect(o.id) AS empty_sources
}
RETURN coalesce(s.notes, 0) AS counted_notes, coalesce(s.terms, 0) AS counted_terms, notes, terms,
       empty_sources

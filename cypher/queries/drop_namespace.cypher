// Remove a namespace whole
CALL () {
  MATCH (n:Note {namespace: $namespace})
  WHERE n.id IS NOT NULL
  DETACH DELETE n
  RETURN count(*) AS notes
}
CALL () {
  MATCH (v:NoteVectors {namespace: $namespace})
  WHERE v.id IS NOT NULL
  DELETE v
  RETURN count(*) AS vectors
}
CALL () {
  MATCH (e:EvolutionEvent {namespace: $namespace})
  WHERE e.id IS NOT NULL
  DETACH DELETE e
  RETURN count(*) AS events
}
CALL () {
  MATCH (o:Source {namespace: $namespace})
  WHERE o.id IS NOT NULL
  DETACH DELETE o
  RETURN count(*) AS sources
}
CALL () {
  MATCH (s:Namespace {name: $namespace})
  DETACH DELETE s
  RETURN count(*) AS namespaces
}
RETURN notes

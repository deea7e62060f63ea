// Evolution events that are not tied to the note they name
MATCH (e:EvolutionEvent {namespace: $namespace})
WHERE e.id IS NOT NULL
  AND COLLECT { MATCH (e)-[:CHANGED]->(n:Note) RETURN n.id } <> [e.note_id]
RETURN e.id AS id
ORDER BY id

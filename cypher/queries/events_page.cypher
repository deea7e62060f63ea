// The evolution events of a page of notes, in order of note and revision
MATCH (n:Note {namespace: $namespace})
WHERE n.id > $after
  AND ($sources IS NULL OR n.source_id IN $sources)
  AND ($authors IS NULL OR n.author IN $authors)
WITH n ORDER BY n.id LIMIT $page
RETURN n.id AS id, COLLECT {
  MATCH (e:EvolutionEvent)-[:CHANGED]->(n)
  RETURN e {
    .id, .note_id, .kind, .revision, at: e.at.epochMillis * 1000 + e.at.microsecond % 1000,
    .proposer, .trigger_id, .similarity, .before, .after, .linked, .unlinked
  }
  ORDER BY e.revision
} AS events
ORDER BY id

// Evolution events these notes caused in others
UNWIND $ids AS id
MATCH (e:EvolutionEvent {namespace: $namespace, trigger_id: id})-[:CHANGED]->(n:Note)
WHERE ($sources IS NULL OR n.source_id IN $sources)
  AND ($authors IS NULL OR n.author IN $authors)
WITH DISTINCT e
RETURN e {
  .id, .note_id, .kind, .revision, at: e.at.epochMillis * 1000 + e.at.microsecond % 1000, .proposer,
  .trigger_id, .similarity, .before, .after, .linked, .unlinked
} AS event
ORDER BY event.note_id, event.revision

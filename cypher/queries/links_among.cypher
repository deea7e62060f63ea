// RELATED, FOLLOWS and SUPERSEDES links between these notes
MATCH (a:Note {namespace: $namespace}) WHERE a.id IN $ids
CALL (a) {
  MATCH (a)-[r:RELATED|SUPERSEDES]->(b:Note)
  WHERE b.id IN $ids
  RETURN r {
    from_id: a.id, to_id: b.id, kind: type(r), .weight, .cosine,
    .reason, .before, .after,
    created_at: r.created_at.epochMillis * 1000 + r.created_at.microsecond % 1000, .retrievals,
    last_retrieved_at:
      r.last_retrieved_at.epochMillis * 1000 + r.last_retrieved_at.microsecond % 1000
  } AS link
  UNION ALL
  // Hidden notes are stepped over, as if they were not there.
  MATCH (a) ((x)-[:FOLLOWS]->(h:Note) WHERE NOT h.id IN $ids AND NOT coalesce(
    NOT h.archived
    AND ($sources IS NULL OR h.source_id IN $sources)
    AND ($authors IS NULL OR h.author IN $authors), false))* (y)-[:FOLLOWS]->(b:Note)
  WHERE b.id IN $ids
  RETURN {from_id: a.id, to_id: b.id, kind: 'FOLLOWS'} AS link
}
RETURN link
ORDER BY link.kind, link.from_id, link.to_id

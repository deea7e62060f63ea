// The RELATED and SUPERSEDES links that start at a page of notes, in order of pair
MATCH (n:Note {namespace: $namespace})
WHERE n.id > $after
  AND ($sources IS NULL OR n.source_id IN $sources)
  AND ($authors IS NULL OR n.author IN $authors)
WITH n ORDER BY n.id LIMIT $page
RETURN n.id AS id, COLLECT {
  MATCH (n)-[r:RELATED|SUPERSEDES]->(m:Note)
  WHERE ($sources IS NULL OR m.source_id IN $sources)
    AND ($authors IS NULL OR m.author IN $authors)
  WITH m, r ORDER BY m.id, type(r)
  RETURN r {
    from_id: n.id, to_id: m.id, kind: type(r), .weight, .cosine,
    .reason, .before, .after,
    created_at: r.created_at.epochMillis * 1000 + r.created_at.microsecond % 1000, .retrievals,
    last_retrieved_at:
      r.last_retrieved_at.epochMillis * 1000 + r.last_retrieved_at.microsecond % 1000
  }
} AS links
ORDER BY id

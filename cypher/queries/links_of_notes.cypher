// RELATED and SUPERSEDES links with an end among these notes
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})-[r:RELATED|SUPERSEDES]-(m:Note)
WHERE ($sources IS NULL OR (n.source_id IN $sources AND m.source_id IN $sources))
  AND ($authors IS NULL OR (n.author IN $authors AND m.author IN $authors))
WITH DISTINCT r
RETURN r {
  from_id: startNode(r).id, to_id: endNode(r).id, kind: type(r), .weight, .cosine,
  .reason, .before, .after,
  created_at: r.created_at.epochMillis * 1000 + r.created_at.microsecond % 1000, .retrievals,
  last_retrieved_at: r.last_retrieved_at.epochMillis * 1000 + r.last_retrieved_at.microsecond % 1000
} AS link
ORDER BY link.from_id, link.to_id, link.kind

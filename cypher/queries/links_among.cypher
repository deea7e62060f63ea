// RELATED and FOLLOWS links between these notes
MATCH (a:Note {namespace: $namespace}) WHERE a.id IN $ids
MATCH (a)-[r:RELATED|FOLLOWS]->(b:Note)
WHERE b.id IN $ids
RETURN r {
  from_id: a.id, to_id: b.id, kind: type(r), .weight, .cosine,
  created_at: r.created_at.epochMillis * 1000 + r.created_at.microsecond % 1000, .retrievals,
  last_retrieved_at: r.last_retrieved_at.epochMillis * 1000 + r.last_retrieved_at.microsecond % 1000
} AS link
ORDER BY link.kind, link.from_id, link.to_id

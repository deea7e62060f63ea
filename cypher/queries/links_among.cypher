// RELATED and FOLLOWS links between these notes
MATCH (a:Note {namespace: $namespace}) WHERE a.id IN $ids
MATCH (a)-[r:RELATED|FOLLOWS]->(b:Note)
WHERE b.id IN $ids
RETURN r {
  from_id: a.id, to_id: b.id, kind: type(r), .weight, .cosine, .created_at, .retrievals,
  .last_retrieved_at
} AS link
ORDER BY link.kind, link.from_id, link.to_id

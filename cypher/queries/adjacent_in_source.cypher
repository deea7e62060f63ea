// The neighbours of notes in their source, by (position, id)
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
WHERE n.source_id IS NOT NULL AND n.source_position IS NOT NULL
CALL (n) {
  MATCH (p:Note {namespace: $namespace, source_id: n.source_id})
  WHERE p.source_position = n.source_position AND p.id < n.id
  RETURN p AS earlier ORDER BY p.id DESC LIMIT 1
  UNION
  MATCH (p:Note {namespace: $namespace, source_id: n.source_id})
  WHERE p.source_position < n.source_position AND p.id IS NOT NULL
  RETURN p AS earlier ORDER BY p.source_position DESC, p.id DESC LIMIT 1
}
WITH n, earlier ORDER BY earlier.source_position DESC, earlier.id DESC
WITH n, head(collect(earlier)) AS earlier
RETURN n.id AS later, earlier.id AS earlier
UNION
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
WHERE n.source_id IS NOT NULL AND n.source_position IS NOT NULL
CALL (n) {
  MATCH (s:Note {namespace: $namespace, source_id: n.source_id})
  WHERE s.source_position = n.source_position AND s.id > n.id
  RETURN s AS later ORDER BY s.id LIMIT 1
  UNION
  MATCH (s:Note {namespace: $namespace, source_id: n.source_id})
  WHERE s.source_position > n.source_position AND s.id IS NOT NULL
  RETURN s AS later ORDER BY s.source_position, s.id LIMIT 1
}
WITH n, later ORDER BY later.source_position, later.id
WITH n, head(collect(later)) AS later
RETURN later.id AS later, n.id AS earlier

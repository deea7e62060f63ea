// The notes at, before and after the positions of these notes in their sources
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
WHERE n.source_id IS NOT NULL AND n.source_position IS NOT NULL
WITH n.source_id AS source_id, n.source_position AS position, collect(n.id) AS ids
CALL (source_id, position) {
  MATCH (n:Note {namespace: $namespace, source_id: source_id, source_position: position})
  WHERE n.id IS NOT NULL
  RETURN collect(n.id) AS here
}
CALL (source_id, position) {
  MATCH (n:Note {namespace: $namespace, source_id: source_id})
  WHERE n.source_position < position AND n.id IS NOT NULL
  WITH n.source_position AS nearest ORDER BY nearest DESC LIMIT 1
  MATCH (n:Note {namespace: $namespace, source_id: source_id, source_position: nearest})
  WHERE n.id IS NOT NULL
  RETURN collect(n.id) AS before
}
CALL (source_id, position) {
  MATCH (n:Note {namespace: $namespace, source_id: source_id})
  WHERE n.source_position > position AND n.id IS NOT NULL
  WITH n.source_position AS nearest ORDER BY nearest LIMIT 1
  MATCH (n:Note {namespace: $namespace, source_id: source_id, source_position: nearest})
  WHERE n.id IS NOT NULL
  RETURN collect(n.id) AS after
}
RETURN ids, here, before, after

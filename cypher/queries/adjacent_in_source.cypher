// By source of these notes: what lies from their first to their last position, and just outside
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
WHERE n.source_id IS NOT NULL AND n.source_position IS NOT NULL
WITH n.source_id AS source_id, min(n.source_position) AS first, max(n.source_position) AS last,
     collect(n.id) AS ids
CALL (source_id, first, last) {
  MATCH (n:Note {namespace: $namespace, source_id: source_id})
  WHERE n.source_position >= first AND n.source_position <= last AND n.id IS NOT NULL
  RETURN collect([n.source_position, n.id]) AS within
}
CALL (source_id, first) {
  MATCH (n:Note {namespace: $namespace, source_id: source_id})
  WHERE n.source_position < first AND n.id IS NOT NULL
  WITH n.source_position AS nearest ORDER BY nearest DESC LIMIT 1
  MATCH (n:Note {namespace: $namespace, source_id: source_id, source_position: nearest})
  WHERE n.id IS NOT NULL
  RETURN collect([n.source_position, n.id]) AS before
}
CALL (source_id, last) {
  MATCH (n:Note {namespace: $namespace, source_id: source_id})
  WHERE n.source_position > last AND n.id IS NOT NULL
  WITH n.source_position AS nearest ORDER BY nearest LIMIT 1
  MATCH (n:Note {namespace: $namespace, source_id: source_id, source_position: nearest})
  WHERE n.id IS NOT NULL
  RETURN collect([n.source_position, n.id]) AS after
}
RETURN ids, before + within + after AS placed

// Notes one step along RELATED and FOLLOWS from these, not reached before
UNWIND $ids AS id
MATCH (a:Note {namespace: $namespace, id: id})
CALL (a) {
  MATCH (a)-[:RELATED]-(n:Note)
  RETURN n
  UNION
  // Hidden notes are stepped over, as if they were not there.
  MATCH (a) ((x)-[:FOLLOWS]->(h:Note) WHERE NOT coalesce(
    NOT h.archived
    AND ($sources IS NULL OR h.source_id IN $sources)
    AND ($authors IS NULL OR h.author IN $authors), false))* (y)-[:FOLLOWS]->(n:Note)
  WHERE NOT n.archived
    AND ($sources IS NULL OR n.source_id IN $sources)
    AND ($authors IS NULL OR n.author IN $authors)
  RETURN n
  UNION
  MATCH (a) ((x)<-[:FOLLOWS]-(h:Note) WHERE NOT coalesce(
    NOT h.archived
    AND ($sources IS NULL OR h.source_id IN $sources)
    AND ($authors IS NULL OR h.author IN $authors), false))* (y)<-[:FOLLOWS]-(n:Note)
  WHERE NOT n.archived
    AND ($sources IS NULL OR n.source_id IN $sources)
    AND ($authors IS NULL OR n.author IN $authors)
  RETURN n
}
WITH DISTINCT n
WHERE NOT n.archived AND NOT n.id IN $reached
  AND ($sources IS NULL OR n.source_id IN $sources)
  AND ($authors IS NULL OR n.author IN $authors)
RETURN n.id AS id
ORDER BY id
LIMIT $room

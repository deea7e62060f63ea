// Notes one step along RELATED and FOLLOWS from these, not reached before
UNWIND $ids AS id
MATCH (:Note {namespace: $namespace, id: id})-[:RELATED|FOLLOWS]-(n:Note)
WHERE NOT n.archived AND NOT n.id IN $reached
  AND ($sources IS NULL OR n.source_id IN $sources)
  AND ($authors IS NULL OR n.author IN $authors)
RETURN DISTINCT n.id AS id
ORDER BY id
LIMIT $room

// Ids of the notes of one source
MATCH (:Source {namespace: $namespace, id: $source_id})<-[:FROM]-(n:Note)
WHERE ($sources IS NULL OR n.source_id IN $sources)
  AND ($authors IS NULL OR n.author IN $authors)
RETURN n.id AS id
ORDER BY id

// Ids of the notes a read may count
MATCH (n:Note {namespace: $namespace})
WHERE n.id IS NOT NULL
  AND ($archived OR NOT n.archived)
  AND ($sources IS NULL OR n.source_id IN $sources)
  AND ($authors IS NULL OR n.author IN $authors)
  AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
  AND ($since IS NULL OR n.created_at >= $since)
  AND ($until IS NULL OR n.created_at < $until)
RETURN n.id AS id

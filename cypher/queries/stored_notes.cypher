// What a write compares and counts against
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
RETURN n.id AS id, n.revision AS revision, n.archived AS archived, n.term_count AS term_count,
       n.source_id AS source_id, n.source_position AS source_position

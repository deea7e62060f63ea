// Which ids exist in the namespace
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
RETURN DISTINCT n.id AS id

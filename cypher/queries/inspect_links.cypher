// Links that leave the namespace or stand the wrong way round
MATCH (n:Note {namespace: $namespace})-[r:RELATED|SUPERSEDES]->(m:Note)
WHERE n.id IS NOT NULL
  AND (m.namespace <> n.namespace OR r.namespace <> n.namespace
       OR n.id = m.id OR (type(r) = 'RELATED' AND n.id > m.id))
RETURN n.id AS from_id, m.id AS to_id
ORDER BY from_id, to_id

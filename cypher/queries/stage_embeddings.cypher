// Write new embeddings beside the ones in force
MATCH (g:GraphMem {name: 'graphmem'})
SET g.changes = g.changes
WITH g
WHERE g.reindex = $token
UNWIND $rows AS row
MATCH (n:Note {namespace: $namespace, id: row.id})
WHERE n.revision = row.revision
SET n += row.properties, n.staged = $token + '@' + toString(row.revision)
RETURN count(n) AS staged

// Write new embeddings beside the ones in force
MATCH (g:GraphMem {name: 'graphmem'})
SET g.changes = g.changes
WITH g
WHERE g.reindex = $token
UNWIND $rows AS row
MATCH (n:Note {namespace: $namespace, id: row.id})
WHERE n.revision = row.revision
MERGE (v:NoteVectors {namespace: $namespace, id: row.id})
SET v += row.properties, v.staged = $token + '@' + toString(row.revision)
RETURN count(v) AS staged

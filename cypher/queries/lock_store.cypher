// Hold every namespace, in one order
MATCH (g:GraphMem {name: 'graphmem'})
SET g.changes = g.changes + 1
WITH g
OPTIONAL MATCH (s:Namespace)
WITH g, s ORDER BY s.name
SET s.writes = s.writes
RETURN g.reindex AS token, s.name AS name

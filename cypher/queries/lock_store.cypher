// Hold every namespace, in one order
MATCH (g:GraphMem {name: 'graphmem'})
// As in lock_namespace: setting a constant takes a lock that is kept.
SET g.held = true
SET g.changes = g.changes + 1
REMOVE g.held
WITH g
OPTIONAL MATCH (s:Namespace)
WITH g, s ORDER BY s.name
SET s.held = true
REMOVE s.held
RETURN g.reindex AS token, s.name AS name

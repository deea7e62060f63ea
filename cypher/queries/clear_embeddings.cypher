// Remove the embeddings that are not in force
MATCH (g:GraphMem {name: 'graphmem'})
MATCH (n:Note)
WHERE n.namespace IS NOT NULL AND g.slot <> $slot
  AND (n[$slot] IS NOT NULL OR n.staged IS NOT NULL)
CALL (n) {
  SET n += $cleared
} IN TRANSACTIONS OF 2000 ROWS

// Remove the embeddings that are not in force
MATCH (g:GraphMem {name: 'graphmem'})
MATCH (v:NoteVectors)
WHERE v.namespace IS NOT NULL AND g.slot <> $slot
  AND (v[$slot] IS NOT NULL OR v.staged IS NOT NULL)
CALL (v) {
  SET v += $cleared
} IN TRANSACTIONS OF 2000 ROWS

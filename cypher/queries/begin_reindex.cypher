// Announce a change of the embedding model; an earlier unfinished one loses its right to end
MATCH (g:GraphMem {name: 'graphmem'})
SET g.reindex = $token
RETURN g.slot AS slot

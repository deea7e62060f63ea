// What a cached copy of a namespace is compared with
MATCH (g:GraphMem {name: 'graphmem'})
OPTIONAL MATCH (s:Namespace {name: $namespace})
RETURN s.epoch AS epoch, coalesce(s.writes, 0) AS writes, coalesce(s.erasures, 0) AS erasures,
       coalesce(s.notes, 0) AS notes, g.model_id AS model_id, g.dimension AS dimension,
       g.slot AS slot, g.changes AS changes

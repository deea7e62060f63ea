// Serialise the writers of one namespace, and read what a write starts from
MERGE (s:Namespace {name: $namespace})
ON CREATE SET s.epoch = randomUUID(), s.writes = 0, s.erasures = 0, s.notes = 0, s.terms = 0
// A lock taken for adding to a property is not simply kept: whoever waits for it and whoever
// adds to the same node once more end in a deadlock. Setting a constant takes one that is.
SET s.held = true
SET s.writes = s.writes + 1
REMOVE s.held
WITH s
MATCH (g:GraphMem {name: 'graphmem'})
// A new namespace also waits for a change of the model that is under way.
FOREACH (_ IN CASE WHEN s.writes = 1 THEN [1] ELSE [] END |
  SET g.held = true
  SET g.changes = g.changes + 1
  REMOVE g.held)
RETURN s.epoch AS epoch, s.writes AS writes, s.erasures AS erasures, s.notes AS notes,
       g.model_id AS model_id, g.dimension AS dimension, g.slot AS slot, g.changes AS changes

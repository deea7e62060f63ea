// Store evolution events with the note they changed and the note that caused them
UNWIND $rows AS row
MATCH (n:Note {namespace: $namespace, id: row.note_id})
MERGE (e:EvolutionEvent {namespace: $namespace, id: row.id})
SET e += row.properties, e.at = datetime(row.times.at)
MERGE (e)-[:CHANGED]->(n)
WITH e, row
OPTIONAL MATCH (e)-[old:TRIGGERED_BY]->(:Note)
DELETE old
WITH DISTINCT e, row
OPTIONAL MATCH (t:Note {namespace: $namespace, id: row.trigger_id})
FOREACH (_ IN CASE WHEN t IS NULL THEN [] ELSE [1] END | MERGE (e)-[:TRIGGERED_BY]->(t))
RETURN e.id AS id

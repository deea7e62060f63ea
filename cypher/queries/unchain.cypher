// Take notes out of the FOLLOWS chain of their source; returns the notes left loose
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})-[f:FOLLOWS]-(m:Note)
DELETE f
RETURN DISTINCT m.id AS id

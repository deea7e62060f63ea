// Point each note at the one before it in its source, and at no other
UNWIND $pairs AS pair
MATCH (later:Note {namespace: $namespace, id: pair.later})
MATCH (earlier:Note {namespace: $namespace, id: pair.earlier})
OPTIONAL MATCH (later)-[out:FOLLOWS]->(other:Note) WHERE other <> earlier
OPTIONAL MATCH (another:Note)-[in:FOLLOWS]->(earlier) WHERE another <> later
DELETE out, in
WITH DISTINCT later, earlier
MERGE (later)-[:FOLLOWS]->(earlier)

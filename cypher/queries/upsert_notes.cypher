// Store notes; counters of use are taken from the plan for new notes only
UNWIND $rows AS row
MERGE (n:Note {namespace: $namespace, id: row.id})
ON CREATE SET n += row.first
SET n += row.properties, n.written = $writes

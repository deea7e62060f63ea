// Remove RELATED links
UNWIND $pairs AS pair
MATCH ()-[r:RELATED {namespace: $namespace, pair: pair}]->()
DELETE r

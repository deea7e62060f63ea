// Remove SUPERSEDES links
UNWIND $pairs AS pair
MATCH ()-[r:SUPERSEDES {namespace: $namespace, pair: pair}]->()
DELETE r

// One source in order: the newest one with its chain of notes
MATCH (s:Source)<-[:FROM]-(newest:Note)
WITH s, max(newest.created_at) AS latest
ORDER BY latest DESC
LIMIT 1
MATCH (s)<-[f:FROM]-(n:Note)
OPTIONAL MATCH (n)-[c:FOLLOWS]->(before:Note)
RETURN s, f, n, c, before
ORDER BY n.source_position
LIMIT 100;

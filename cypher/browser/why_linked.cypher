// Why are two notes linked? The strongest pair; replace its WITH to ask about another
MATCH (a:Note)-[r:RELATED]->(b:Note)
WITH a, r, b
ORDER BY r.weight DESC
LIMIT 1
OPTIONAL MATCH (a)<-[:CHANGED|TRIGGERED_BY]-(e:EvolutionEvent)-[:CHANGED|TRIGGERED_BY]->(b)
RETURN a.title AS one, b.title AS other, r.cosine AS similarity_when_linked,
       r.weight AS strength_now, r.retrievals AS recalls_along_it, r.created_at AS linked_at,
       [word IN a.keywords WHERE word IN b.keywords] AS shared_keywords,
       [tag IN a.tags WHERE tag IN b.tags] AS shared_tags,
       a.source_id = b.source_id AS same_source,
       collect(DISTINCT e.kind + ' by ' + e.proposer) AS changes_of_one_by_the_other;

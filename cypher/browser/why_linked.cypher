// Why are two notes linked?
// Put the ids of two notes in place of the nulls; without them the strongest link is shown.
WITH 'default' AS namespace, null AS one, null AS other
MATCH (a:Note {namespace: namespace})-[r:RELATED]-(b:Note)
WHERE (one IS NULL OR a.id = one) AND (other IS NULL OR b.id = other)
WITH a, r, b
ORDER BY r.weight DESC, r.pair, a.id
LIMIT 1
OPTIONAL MATCH (a)<-[:CHANGED|TRIGGERED_BY]-(e:EvolutionEvent)-[:CHANGED|TRIGGERED_BY]->(b)
WITH a, r, b, collect(DISTINCT e)[..10] AS events
RETURN a.title AS one, b.title AS other, r.strength AS strength, r.weight AS weight,
       r.cosine AS similarity_when_linked, r.created_at AS linked_at,
       r.retrievals AS recalls_along_it,
       [word IN a.keywords WHERE word IN b.keywords] AS shared_keywords,
       [tag IN a.tags WHERE tag IN b.tags] AS shared_tags,
       a.source_id = b.source_id AS same_source,
       [e IN events | e.kind + ' by ' + e.proposer] AS changes_of_one_by_the_other,
       a, r, b, events;

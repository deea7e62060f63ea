// Recalled most
// A table of the notes recalls returned most often.
WITH 'default' AS namespace
MATCH (n:Note {namespace: namespace})
WHERE n.recall_count > 0
RETURN n.title AS note, n.author AS author, n.recall_count AS recalls,
       n.last_accessed_at AS last_recalled, n.importance_score AS importance, n.id AS id
ORDER BY recalls DESC, last_recalled DESC, id
LIMIT 30;

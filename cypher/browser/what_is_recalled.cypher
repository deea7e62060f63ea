// What is recalled most
MATCH (n:Note)
WHERE n.recall_count > 0
RETURN n.namespace AS namespace, n.title AS note, n.recall_count AS recalls,
       n.last_accessed_at AS last_recalled, n.importance_score AS importance
ORDER BY recalls DESC, last_recalled DESC
LIMIT 25;

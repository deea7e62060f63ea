// Version 2: notes have an importance and count their recalls
MATCH (n:Note)
WHERE n.namespace IS NOT NULL AND (n.importance_score IS NULL OR n.recall_count IS NULL)
CALL (n) {
  SET n.importance_score = coalesce(n.importance_score, 0.5),
      n.recall_count = coalesce(n.recall_count, 0)
} IN TRANSACTIONS OF 5000 ROWS

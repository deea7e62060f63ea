// Set the weight of RELATED links; the use counted on them stays
UNWIND $weights AS row
MATCH ()-[r:RELATED {namespace: $namespace, pair: row.pair}]->()
SET r.weight = row.weight,
    r.strength =
      CASE
        WHEN row.weight >= 0.85 THEN 'strong'
        WHEN row.weight >= 0.72 THEN 'medium'
        ELSE 'weak'
      END

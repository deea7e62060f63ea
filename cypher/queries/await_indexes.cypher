// Wait until new indexes answer
CALL db.awaitIndexes($seconds)
